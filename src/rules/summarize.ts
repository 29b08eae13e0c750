import type { PaymentState, PaymentSummary } from './payment-state.ts'

/** The part of a payment's state that its order needs. */
export function summarize(id: string, account: string, state: PaymentState): PaymentSummary {
  return {
    id,
    account,
    status: state.status,
    currency: state.currency,
    captured_minor: state.captured_minor,
    refunded_minor: state.refunded_minor,
    refund_pending_minor: state.refund_pending_minor,
    disputed_minor: state.disputed_minor,
    lost_minor: state.lost_minor,
    reversed_minor: state.reversed_minor,
    moved_at: state.moved_at,
  }
}
