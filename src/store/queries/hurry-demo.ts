import type { Queryable, Statement } from '../database.ts'

const LOOKUPS: Statement = {
  name: 'hurry-demo-lookups',
  text: `
    update lookups set due_at = $2
    where due_at > $2 and ($3::boolean or last_outcome in ('', 'unavailable')) and bucket = $1`,
}

const UNCONFIRMED: Statement = {
  name: 'hurry-demo-unconfirmed',
  text: 'update unconfirmed set due_at = $2 where due_at > $2 and bucket = $1',
}

/**
 * Makes due what waits for its time, as if that had passed: a demo has no ten minutes in which a buyer may come back, and
 * no minutes between two tries. One that is in hand is asked twice then, of which only one answer counts.
 * @param all also what was answered already and is to be asked about again later
 */
export async function hurryDemo(db: Queryable, bucket: number, now: Date, all: boolean): Promise<void> {
  await db.query(LOOKUPS, [bucket, now, all])
  await db.query(UNCONFIRMED, [bucket, now])
}
