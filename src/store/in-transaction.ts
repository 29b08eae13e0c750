import type { Database, Transaction } from './database.ts'

/** Does work in one transaction and commits it; when the work or the commit throws, it is rolled back and the error goes on. */
export async function inTransaction<T>(
  database: Pick<Database, 'begin'>,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  const tx = await database.begin()
  try {
    const result = await work(tx)
    await tx.commit()
    return result
  } finally {
    await tx.rollback()
  }
}
