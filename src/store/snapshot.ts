import type { Database, Queryable } from './database.ts'

/** Runs reads that all see one state of the database: a REPEATABLE READ transaction that may not write. */
export async function readSnapshot<T>(database: Database, read: (db: Queryable) => Promise<T>): Promise<T> {
  const transaction = await database.begin()
  try {
    await transaction.script('set transaction isolation level repeatable read, read only')
    const result = await read(transaction)
    await transaction.commit()
    return result
  } finally {
    await transaction.rollback()
  }
}
