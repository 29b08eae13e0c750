import type { SubscriptionStatus } from '../../facts/subscription.ts'
import type { SubscriptionState, SubscriptionSummary } from '../../rules/subscription-state.ts'

export interface SubscriptionKey {
  readonly tenant: string
  readonly namespace: string
  readonly account: string
  readonly provider_subscription_id: string
}

/** One row of `subscriptions` as settling reads it. */
export interface SubscriptionRow extends SubscriptionKey {
  readonly id: bigint
  readonly facts_rev: bigint
  readonly open_exceptions: number
  readonly status: SubscriptionState['status']
  readonly period_end: Date | null
  readonly cancel_at: Date | null
  readonly since: Date | null
  readonly ended_from: SubscriptionStatus | null
  /** The provider's id of the price that it has now. */
  readonly price: string | null
  /** The payments that name it. */
  readonly payment_ids: readonly bigint[]
  /** The orders that it settles. */
  readonly order_refs: readonly string[]
}

/** Columns in the order in which `SubscriptionRow` names them, for select lists. */
export const SUBSCRIPTION_COLUMNS = `id, facts_rev, open_exceptions, tenant, namespace, account, provider_subscription_id,
  status, period_end, cancel_at, since, ended_from, price, payment_ids, order_refs`

/** A string that is equal exactly for subscriptions under one lock. */
export function subscriptionLock(key: SubscriptionKey): string {
  return `${key.tenant}\n${key.namespace}\n${key.account}\n${key.provider_subscription_id}`
}

/** What its orders need of a subscription, from its row. */
export function summarizeSubscriptionRow(row: SubscriptionRow): SubscriptionSummary {
  return {
    id: row.provider_subscription_id,
    account: row.account,
    status: row.status,
    period_end: row.period_end?.toISOString() ?? null,
    cancel_at: row.cancel_at?.toISOString() ?? null,
    since: row.since?.toISOString() ?? null,
    ended_from: row.ended_from,
    price: row.price,
    orders: row.order_refs,
  }
}
