import type { Decision } from '../facts/decision.ts'
import type { EntitlementState, EntitlementTarget } from '../facts/entitlement.ts'
import type { ExceptionDue } from '../facts/exception.ts'
import type { OrderItem, Recurring } from '../facts/order.ts'
import type { Policy } from './policy.ts'

/** What the facts about the order itself say (its terms, whether the merchant closed it, people's decisions). */
export interface OrderBook {
  /** Null for a placeholder (something refers to the order and no one has registered it yet), and when they conflict. */
  readonly terms: {
    readonly amount_minor: bigint
    readonly currency: string
    readonly items: readonly OrderItem[]
    readonly expires_at: string | null
    readonly account: string | null
    /** Left out where nothing recurs; a stored book of another release has none. */
    readonly recurring?: Recurring
    /** Left out where nobody is named. */
    readonly holder?: string
    readonly policy: Policy
  } | null
  readonly closed: {
    readonly how: 'canceled' | 'expired'
    readonly by: string
    readonly at: string
    /** A person closed it, first or later. Left out where none did. */
    readonly by_person?: true
  } | null
  readonly decisions: readonly Decision[]
  /** What each price gives that a subscription of the order has named and the catalogue knew. Left out where there are none. */
  readonly prices?: Readonly<Record<string, readonly OrderItem[]>>
  /** True when two different terms are known for one reference. */
  readonly conflicted: boolean
}

export type OrderStatus =
  | 'awaiting_terms'
  | 'awaiting_payment'
  | 'underpaid'
  | 'paid'
  | 'overpaid'
  | 'partially_refunded'
  | 'refunded'
  | 'charged_back'
  | 'canceled'
  | 'expired'
  | 'on_hold'

/** Money of one payment that a policy gives back by itself. */
export interface RefundDue {
  /** What makes it due, with the payment that it is taken from. */
  readonly cause: string
  readonly namespace: string
  readonly account: string
  readonly payment: string
  readonly amount_minor: bigint
  readonly currency: string
  /** How much of the payment will have gone back, or be on its way, once this is done: so that whoever sends it can see that it was. */
  readonly refunded_after_minor: bigint
  /** How long it has to stand before it is sent. */
  readonly delay_ms: number
}

export interface OrderState {
  readonly status: OrderStatus
  /** What the terms ask for and in which currency; 0 and null while there are none. */
  readonly due_minor: bigint
  readonly currency: string | null
  /** Captured money of every payment that counts for this order. */
  readonly paid_minor: bigint
  /** Of that, what is left after refunds, lost disputes and reversals; may be negative. */
  readonly net_minor: bigint
  /** Of what is left and not disputed, the part beyond what was due. */
  readonly surplus_minor: bigint
  /** One per item of the terms; empty while there are no terms. */
  readonly entitlements: readonly EntitlementTarget[]
  /**
   * What becomes of rights that stand and that no entitlement names, while nobody knows what is to be given; nothing
   * that is over comes back by it. Left out where it is known: they are revoked.
   */
  readonly rest?: EntitlementState | 'held'
  readonly exceptions: readonly ExceptionDue[]
  /** What is to be given back without asking anyone, by policy; left out where nothing is. */
  readonly refunds_due?: readonly RefundDue[]
  /** When time alone would change this state, ISO 8601 UTC; null for never. */
  readonly next_wakeup: string | null
}
