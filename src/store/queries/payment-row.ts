import type { PaymentSubject } from '../../facts/subject.ts'
import type { PaymentState, PaymentStatus } from '../../rules/payment-state.ts'

/** One row of `payments` as settling reads it. */
export interface PaymentRow {
  readonly id: bigint
  readonly facts_rev: bigint
  readonly linked_to: bigint | null
  readonly moved_at: Date | null
  readonly open_exceptions: number
  readonly has_stand_ins: boolean
  readonly has_returns: boolean
  readonly tenant: string
  readonly namespace: string
  readonly account: string
  readonly provider_payment_id: string
  readonly status: PaymentStatus
  readonly currency: string | null
  readonly authorized_minor: string
  readonly captured_minor: string
  readonly refunded_minor: string
  readonly refund_pending_minor: string
  readonly disputed_minor: string
  readonly lost_minor: string
  readonly reversed_minor: string
  /** As stored; `decodeAftermath` reads it. */
  readonly aftermath: object | null
  readonly order_refs: readonly string[]
  readonly subscription_refs: readonly string[]
}

export interface PaymentKey {
  readonly tenant: string
  readonly namespace: string
  readonly account: string
  readonly provider_payment_id: string
}

/** A string that is equal exactly for payments under one lock. */
export function paymentLock(key: PaymentKey): string {
  return `${key.tenant}\n${key.namespace}\n${key.account}\n${key.provider_payment_id}`
}

/** What facts about this row's payment are about. */
export function subjectOf(row: PaymentRow): PaymentSubject {
  return { kind: 'payment', namespace: row.namespace, account: row.account, id: row.provider_payment_id }
}

/** Columns in the order in which `PaymentRow` names them, for select lists. */
export const PAYMENT_COLUMNS = `id, facts_rev, linked_to, moved_at, open_exceptions, has_stand_ins, has_returns, tenant,
  namespace, account, provider_payment_id, status, currency, authorized_minor, captured_minor, refunded_minor,
  refund_pending_minor, disputed_minor, lost_minor, reversed_minor, aftermath, order_refs, subscription_refs`

/** What is written of a derived state, whether the row is inserted or updated. */
export interface PaymentWrite {
  readonly state: PaymentState
  /** Its aftermath as it is stored: JSON text. */
  readonly aftermath: string | null
  readonly linked_to: bigint | null
  readonly has_stand_ins: boolean
  readonly open_exceptions: number
}
