import type { Queryable, Statement } from '../database.ts'

/** Every derived column of a subscription. */
export interface WholeSubscriptionRow {
  readonly id: bigint
  readonly tenant: string
  readonly namespace: string
  readonly account: string
  readonly provider_subscription_id: string
  readonly status: string
  readonly period_end: Date | null
  readonly cancel_at: Date | null
  readonly open_exceptions: number
}

const COLUMNS =
  'id, tenant, namespace, account, provider_subscription_id, status, period_end, cancel_at, open_exceptions'

const LIST: Statement = {
  name: 'list-subscriptions',
  text: `select ${COLUMNS} from subscriptions where id > $2 and bucket = $1 order by id limit $3`,
}

const BY_ID: Statement = {
  name: 'load-whole-subscriptions',
  text: `select ${COLUMNS} from subscriptions where id = any($2::bigint[]) and bucket = $1 order by id`,
}

/** A page of subscriptions in id order, those after `after`. */
export function listSubscriptions(
  db: Queryable,
  bucket: number,
  after: bigint,
  limit: number,
): Promise<WholeSubscriptionRow[]> {
  return db.query<WholeSubscriptionRow>(LIST, [bucket, after, limit])
}

export function loadWholeSubscriptions(
  db: Queryable,
  bucket: number,
  ids: readonly bigint[],
): Promise<WholeSubscriptionRow[]> {
  return db.query<WholeSubscriptionRow>(BY_ID, [bucket, ids])
}
