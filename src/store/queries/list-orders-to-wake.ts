import type { Queryable, Statement } from '../database.ts'

const LIST: Statement = {
  name: 'list-orders-to-wake',
  text: `
    select tenant, reference from orders
    where next_wakeup_at <= $2 and bucket = $1 order by next_wakeup_at limit $3`,
}

/** Orders whose state time alone has changed (their expiry has passed), longest due first. */
export function listOrdersToWake(
  db: Queryable,
  bucket: number,
  now: Date,
  limit: number,
): Promise<{ tenant: string; reference: string }[]> {
  return db.query(LIST, [bucket, now, limit])
}
