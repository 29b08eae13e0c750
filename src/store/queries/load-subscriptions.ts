import type { Queryable, Statement } from '../database.ts'
import { SUBSCRIPTION_COLUMNS, type SubscriptionRow } from './subscription-row.ts'

const LOAD: Statement = {
  name: 'load-subscriptions',
  text: `
    select s.* from unnest($2::bigint[]) as k(id),
      lateral (select ${SUBSCRIPTION_COLUMNS} from subscriptions where id = k.id and bucket = $1 offset 0) s`,
}

/** Rows of subscriptions without a lock: those of an order whose own row is locked, so none of them can change it meanwhile. */
export function loadSubscriptions(
  db: Queryable,
  bucket: number,
  ids: readonly bigint[],
): Promise<SubscriptionRow[]> {
  return db.query<SubscriptionRow>(LOAD, [bucket, ids])
}
