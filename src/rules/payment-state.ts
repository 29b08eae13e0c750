import type { DisputeStage, DisputeStatus } from '../facts/dispute.ts'
import type { ExceptionDue } from '../facts/exception.ts'
import type { RefundOrigin } from '../facts/refund.ts'
import type { Aftermath } from './aftermath.ts'

/** Stored status of a payment. `partially_refunded`, `disputed` and the like are derived for display, never stored. */
export type PaymentStatus =
  /** A row exists because something refers to it; nothing is known of its own money yet. */
  | 'unknown'
  | 'created'
  | 'requires_action'
  | 'pending'
  | 'authorized'
  | 'succeeded'
  | 'failed'
  | 'canceled'
  | 'expired'
  | 'reversed'
  /** Facts of one key, or of one rank, disagree. Nothing irreversible happens until a person or a look-up decides. */
  | 'conflicted'
  /** A stand-in object whose money is another payment's. */
  | 'linked'

export type RefundStatus =
  | 'requested'
  | 'pending'
  | 'requires_action'
  | 'succeeded'
  | 'failed'
  | 'canceled'
  | 'reversed'
  | 'unknown'
  | 'conflicted'

export interface RefundState {
  readonly refund: string
  readonly status: RefundStatus
  /** Null while no fact has told the amount. */
  readonly amount_minor: bigint | null
  readonly currency: string | null
  readonly origin: RefundOrigin | null
  readonly moved_at: string | null
  /** The attempt that is given back; null where no fact names one. */
  readonly attempt: string | null
  /** No money had been captured, so none goes back: never counted. */
  readonly releases_authorization: boolean
  /** It was reported done at some time, whatever came after. */
  readonly ever_succeeded: boolean
}

export interface DisputeState {
  readonly dispute: string
  readonly stage: DisputeStage
  /** `unknown` while only its money movements are known. */
  readonly status: DisputeStatus | 'unknown' | 'conflicted'
  readonly amount_minor: bigint | null
  readonly currency: string | null
  readonly withdrawn_minor: bigint
  readonly reinstated_minor: bigint
  readonly respond_by: string | null
}

/**
 * Everything that the facts about one payment (and the stand-ins linked to it) say. Its amounts are what the order
 * step adds up; they are zero where nothing is known.
 */
export interface PaymentState {
  readonly status: PaymentStatus
  /** The one order that the facts name; null when none does or when they name several (then an exception says so). */
  readonly order: string | null
  /** Every order that any fact names, sorted; more than one is a conflict. */
  readonly orders_named: readonly string[]
  /** Every subscription that any fact names, sorted; more than one is a conflict. */
  readonly subscriptions_named: readonly string[]
  readonly currency: string | null
  readonly authorized_minor: bigint
  /** Money collected, before refunds and disputes. */
  readonly captured_minor: bigint
  /** Sum of distinct refunds that succeeded. */
  readonly refunded_minor: bigint
  /** Sum of refunds asked for and not yet decided. */
  readonly refund_pending_minor: bigint
  /** Money withheld by chargebacks that are not decided. */
  readonly disputed_minor: bigint
  /** Money lost by chargebacks that are decided against us. */
  readonly lost_minor: bigint
  /** Money taken back without a dispute. */
  readonly reversed_minor: bigint
  /** What policies ask about beyond these sums; null where there is nothing of the kind. */
  readonly aftermath: Aftermath | null
  /** When the money first moved to us, by the provider's clock; null while it has not. */
  readonly moved_at: string | null
  /** Payment id that this stand-in belongs to; null for a payment of its own. */
  readonly linked_to: string | null
  readonly refunds: readonly RefundState[]
  readonly disputes: readonly DisputeState[]
  /** Exceptions that are the payment's own, whatever order it belongs to. */
  readonly exceptions: readonly ExceptionDue[]
}

/** The part of a payment that the order step needs; the row of a sibling payment is enough to make one. */
export interface PaymentSummary {
  /** Provider payment id, for messages and as the cause of exceptions. */
  readonly id: string
  readonly account: string
  readonly namespace: string
  readonly status: PaymentStatus
  readonly currency: string | null
  readonly captured_minor: bigint
  readonly refunded_minor: bigint
  readonly refund_pending_minor: bigint
  readonly disputed_minor: bigint
  readonly lost_minor: bigint
  readonly reversed_minor: bigint
  readonly aftermath: Aftermath | null
  readonly moved_at: string | null
}
