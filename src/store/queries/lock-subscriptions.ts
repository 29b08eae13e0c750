import type { SubscriptionState } from '../../rules/subscription-state.ts'
import type { Queryable, Statement } from '../database.ts'
import { arrayLiteral } from './payment-arrays.ts'
import { SUBSCRIPTION_COLUMNS, type SubscriptionKey, type SubscriptionRow } from './subscription-row.ts'

const INSERT: Statement = {
  name: 'insert-subscriptions',
  text: `
    insert into subscriptions (bucket, facts_rev, created_at, updated_at, tenant, namespace, account, provider_subscription_id, status)
    select $1, 0, $2, $2, s.tenant, s.namespace, s.account, s.provider_subscription_id, 'unknown'
    from unnest($3::text[], $4::text[], $5::text[], $6::text[]) as s(tenant, namespace, account, provider_subscription_id)
    on conflict (provider_subscription_id, namespace, account, tenant, bucket) do nothing`,
}

const LOCK: Statement = {
  name: 'lock-subscriptions',
  text: `
    select s.* from unnest($2::text[], $3::text[], $4::text[], $5::text[]) as k(tenant, namespace, account, provider_subscription_id),
      lateral (
        select ${SUBSCRIPTION_COLUMNS} from subscriptions
        where provider_subscription_id = k.provider_subscription_id and namespace = k.namespace and account = k.account
          and tenant = k.tenant and bucket = $1
        for no key update offset 0
      ) s`,
}

const UPDATE: Statement = {
  name: 'update-subscriptions',
  text: `
    update subscriptions s set
      facts_rev = s.facts_rev + 1, updated_at = $2, status = u.status, period_end = u.period_end, cancel_at = u.cancel_at,
      open_exceptions = u.open_exceptions, since = u.since, ended_from = u.ended_from, price = u.price,
      payment_ids = u.payment_ids::bigint[], order_refs = u.order_refs::text[]
    from unnest($3::bigint[], $4::bigint[], $5::text[], $6::timestamptz[], $7::timestamptz[], $8::int[],
      $9::timestamptz[], $10::text[], $11::text[], $12::text[], $13::text[])
      as u(id, facts_rev, status, period_end, cancel_at, open_exceptions, since, ended_from, price, payment_ids, order_refs)
    where s.id = u.id and s.bucket = $1 and s.facts_rev = u.facts_rev
    returning s.id`,
}

/** Inserts the rows that are missing and then, in a later statement, locks and reads them all. */
export async function lockSubscriptions(
  db: Queryable,
  bucket: number,
  as_of: Date,
  keys: readonly SubscriptionKey[],
): Promise<SubscriptionRow[]> {
  const columns = [
    keys.map((key) => key.tenant),
    keys.map((key) => key.namespace),
    keys.map((key) => key.account),
    keys.map((key) => key.provider_subscription_id),
  ]
  const [, rows] = await Promise.all([
    db.query(INSERT, [bucket, as_of, ...columns]),
    db.query<SubscriptionRow>(LOCK, [bucket, ...columns]),
  ])
  return rows
}

/** Writes derived states and raises each row's revision. Gives how many rows were still at the revision that was read. */
export async function updateSubscriptions(
  db: Queryable,
  bucket: number,
  as_of: Date,
  subscriptions: readonly {
    readonly id: bigint
    readonly facts_rev: bigint
    readonly open_exceptions: number
    readonly state: SubscriptionState
    readonly payment_ids: readonly bigint[]
    readonly order_refs: readonly string[]
  }[],
): Promise<number> {
  const rows = await db.query(UPDATE, [
    bucket,
    as_of,
    subscriptions.map((subscription) => subscription.id),
    subscriptions.map((subscription) => subscription.facts_rev),
    subscriptions.map((subscription) => subscription.state.status),
    subscriptions.map((subscription) => subscription.state.period_end),
    subscriptions.map((subscription) => subscription.state.cancel_at),
    subscriptions.map((subscription) => subscription.open_exceptions),
    subscriptions.map((subscription) => subscription.state.since),
    subscriptions.map((subscription) => subscription.state.ended_from),
    subscriptions.map((subscription) => subscription.state.price),
    subscriptions.map((subscription) => arrayLiteral(subscription.payment_ids)),
    subscriptions.map((subscription) => arrayLiteral(subscription.order_refs)),
  ])
  return rows.length
}
