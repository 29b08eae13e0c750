import { deriveSubscription } from '../rules/derive-subscription.ts'
import { settledOrders } from '../rules/settled-orders.ts'
import type { SubscriptionState } from '../rules/subscription-state.ts'
import type { Queryable } from '../store/database.ts'
import { loadPayments } from '../store/queries/load-payments.ts'
import type { SubscriptionRow } from '../store/queries/subscription-row.ts'
import { type DerivedPayment, derivePayments } from './derive-payments.ts'
import { factsOf } from './facts-of.ts'

/** A subscription as its facts, and those of its payments, say it is. */
export interface DerivedSubscription {
  readonly row: SubscriptionRow
  readonly state: SubscriptionState
  /** Of the payments on the row, those whose facts name the subscription. */
  readonly payments: readonly DerivedPayment[]
  readonly order_refs: readonly string[]
}

/** Derives subscriptions from zero, by the id of the row. */
export async function deriveSubscriptions(
  db: Queryable,
  bucket: number,
  rows: readonly SubscriptionRow[],
): Promise<ReadonlyMap<bigint, DerivedSubscription>> {
  const subjects = rows.map((row) => [row.id, subjectOf(row)] as const)
  const facts = await factsOf(db, bucket, new Map(subjects))
  const payment_ids = [...new Set(rows.flatMap((row) => row.payment_ids))]
  const payments = await derivePayments(
    db,
    bucket,
    payment_ids.length > 0 ? await loadPayments(db, bucket, payment_ids) : [],
  )
  return new Map(
    rows.map((row) => {
      const state = deriveSubscription(facts.get(row.id)!)
      const naming = row.payment_ids.flatMap((id) => {
        const payment = payments.get(id)
        return payment?.state.subscriptions_named.includes(row.provider_subscription_id) ? [payment] : []
      })
      const named = naming.map((payment) => payment.state.orders_named)
      return [
        row.id,
        { row, state, payments: naming, order_refs: settledOrders(state.orders_now, named) },
      ] as const
    }),
  )
}

function subjectOf(row: SubscriptionRow) {
  return {
    kind: 'subscription',
    namespace: row.namespace,
    account: row.account,
    id: row.provider_subscription_id,
  } as const
}
