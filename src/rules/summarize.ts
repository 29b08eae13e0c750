import type { PaymentSubject } from '../facts/subject.ts'
import type { PaymentState, PaymentSummary } from './payment-state.ts'
import type { SubscriptionState, SubscriptionSummary } from './subscription-state.ts'

/** The part of a payment's state that its order needs. */
export function summarize({ id, account, namespace }: PaymentSubject, state: PaymentState): PaymentSummary {
  return {
    id,
    account,
    namespace,
    status: state.status,
    currency: state.currency,
    captured_minor: state.captured_minor,
    refunded_minor: state.refunded_minor,
    refund_pending_minor: state.refund_pending_minor,
    disputed_minor: state.disputed_minor,
    lost_minor: state.lost_minor,
    reversed_minor: state.reversed_minor,
    aftermath: state.aftermath,
    moved_at: state.moved_at,
  }
}

/**
 * The part of a subscription's state that its orders need.
 * @param orders those that it settles (`settledOrders`)
 */
export function summarizeSubscription(
  id: string,
  account: string,
  state: SubscriptionState,
  orders: readonly string[],
): SubscriptionSummary {
  const { status, period_end, cancel_at, since, ended_from, price } = state
  return { id, account, status, period_end, cancel_at, since, ended_from, price, orders }
}
