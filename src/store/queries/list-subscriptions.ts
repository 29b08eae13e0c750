import type { Queryable, Statement } from '../database.ts'
import { SUBSCRIPTION_COLUMNS, type SubscriptionRow } from './subscription-row.ts'

const LIST: Statement = {
  name: 'list-subscriptions',
  text: `select ${SUBSCRIPTION_COLUMNS} from subscriptions where id > $2 and bucket = $1 order by id limit $3`,
}

/** A page of subscriptions in id order, those after `after`. */
export function listSubscriptions(
  db: Queryable,
  bucket: number,
  after: bigint,
  limit: number,
): Promise<SubscriptionRow[]> {
  return db.query<SubscriptionRow>(LIST, [bucket, after, limit])
}
