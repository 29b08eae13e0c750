import type { Queryable, Statement } from '../database.ts'

/** When payments of one account became known. */
export interface KnownPayments {
  readonly tenant: string
  readonly namespace: string
  readonly account: string
  readonly first_at: Date
  readonly last_at: Date
}

// By primary key from its end, so that it costs the same however many payments there are.
const LIST: Statement = {
  name: 'list-recent-payments',
  text: `
    select tenant, namespace, account, min(created_at) as first_at, max(created_at) as last_at
    from (
      select tenant, namespace, account, created_at from payments where bucket = $1 order by id desc limit $2
    ) recent
    group by tenant, namespace, account`,
}

/** When the newest payments became known, by account. */
export function listRecentPayments(db: Queryable, bucket: number, limit: number): Promise<KnownPayments[]> {
  return db.query<KnownPayments>(LIST, [bucket, limit])
}
