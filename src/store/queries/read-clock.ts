import type { Queryable, Statement } from '../database.ts'

const READ: Statement = { name: 'read-clock', text: 'select now() as now' }

/** The database's clock: when this transaction began. */
export async function readClock(db: Queryable): Promise<Date> {
  const [row] = await db.query<{ now: Date }>(READ)
  return row!.now
}
