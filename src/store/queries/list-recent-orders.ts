import type { Queryable, Statement } from '../database.ts'

export interface RecentOrder {
  readonly tenant: string
  readonly reference: string
  readonly status: string
  readonly currency: string | null
  readonly amount_minor: string | null
  readonly paid_minor: string
  readonly net_minor: string
  readonly payments: number
  readonly open_exceptions: number
  readonly updated_at: Date
}

const LIST: Statement = {
  name: 'list-recent-orders',
  text: `
    select tenant, reference, status, currency, amount_minor, paid_minor, net_minor, cardinality(payment_ids) as payments,
      open_exceptions, updated_at
    from orders where bucket = $1 and ($2::text is null or status = $2) order by id desc limit $3`,
}

/** Orders, newest first. */
export function listRecentOrders(
  db: Queryable,
  bucket: number,
  filter: { readonly status?: string | undefined; readonly limit: number },
): Promise<RecentOrder[]> {
  return db.query<RecentOrder>(LIST, [bucket, filter.status ?? null, filter.limit])
}
