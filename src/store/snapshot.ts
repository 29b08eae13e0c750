import type { Database, Queryable } from './database.ts'

/**
 * Runs reads that all see one state of the database: a REPEATABLE READ transaction that may not write, and that may take
 * as long as it needs.
 */
export async function readSnapshot<T>(database: Database, read: (db: Queryable) => Promise<T>): Promise<T> {
  const transaction = await database.begin()
  try {
    const patient = database.driver === 'postgres' ? '; set local statement_timeout = 0' : ''
    await transaction.script(`set transaction isolation level repeatable read, read only${patient}`)
    const result = await read(transaction)
    await transaction.commit()
    return result
  } finally {
    await transaction.rollback()
  }
}
