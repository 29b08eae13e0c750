import type { Queryable, Statement } from '../database.ts'

const ADD: Statement = {
  name: 'add-watch-round',
  text: `
    insert into watch_rounds (bucket, watch, due_at) values ($1, $2, $3)
    on conflict (watch, bucket) do nothing`,
}

const TAKE: Statement = {
  name: 'take-watch-round',
  text: `
    update watch_rounds set due_at = $4
    where bucket = $1 and watch in (
      select watch from watch_rounds where bucket = $1 and watch = $2 and due_at <= $3 for update skip locked
    )
    returning watch`,
}

/**
 * Takes the turn of a watch until the transaction ends: true for one process at a time, and for none before the next
 * turn is due. A crash rolls back, so the turn is free again.
 */
export async function takeWatchRound(
  db: Queryable,
  bucket: number,
  watch: string,
  now: Date,
  next_due_at: Date,
): Promise<boolean> {
  await db.query(ADD, [bucket, watch, now])
  return (await db.query(TAKE, [bucket, watch, now, next_due_at])).length > 0
}
