import type { Fact } from '../../src/facts/fact.ts'
import type { OrderTerms } from '../../src/facts/order.ts'
import type { OrderStatus } from '../../src/rules/order-state.ts'
import type { PaymentStatus } from '../../src/rules/payment-state.ts'
import type { SubscriptionState } from '../../src/rules/subscription-state.ts'

/**
 * What providers and the merchant tell in the course of one made-up but legal story, and how it must end.
 *
 * The messages may come in any order, any number of times, cut into any batches: the end is the same. Orders are
 * registered by the merchant, at any time too; `registration` of `outcome.ts` turns one into its facts.
 */
export interface History {
  readonly orders: readonly RegisteredOrder[]
  /** In the order in which things happened; ids are unique. */
  readonly messages: readonly Message[]
  /** The present time of the end, later than every time in the messages. */
  readonly as_of: string
  readonly expected: Outcome
  /** What holders have at the end, as `item quantity state`, sorted; without what they never had. */
  readonly rights: readonly string[]
}

export interface RegisteredOrder {
  readonly reference: string
  readonly terms: OrderTerms
}

/** One message of a provider (or of the merchant, for a closing): arrives whole or not at all. */
export interface Message {
  readonly id: string
  /** When the provider says it happened. Whole seconds, so several messages may share one. */
  readonly at: string
  readonly facts: readonly Fact[]
}

/** The end of a history, as far as it may not depend on the order of arrival. */
export interface Outcome {
  /** By provider payment id; stand-ins are left out, their money is their payment's. */
  readonly payments: Readonly<Record<string, PaymentOutcome>>
  /** By reference, registered or not. */
  readonly orders: Readonly<Record<string, OrderOutcome>>
  /** By provider subscription id. */
  readonly subscriptions: Readonly<Record<string, SubscriptionOutcome>>
}

export interface Figures {
  readonly captured_minor: bigint
  readonly refunded_minor: bigint
  readonly refund_pending_minor: bigint
  readonly disputed_minor: bigint
  readonly lost_minor: bigint
  readonly reversed_minor: bigint
}

export interface PaymentOutcome extends Figures {
  readonly status: PaymentStatus
}

export interface OrderOutcome {
  readonly status: OrderStatus
  readonly paid_minor: bigint
  readonly net_minor: bigint
  readonly surplus_minor: bigint
  /** What every item gives at the end; `none` where the order is not registered. */
  readonly access: 'none' | 'granted' | 'suspended' | 'revoked' | 'expired' | 'held'
  /** How many credits are granted; 0 where the order sells none. */
  readonly credits: number
}

export interface SubscriptionOutcome {
  readonly status: SubscriptionState['status']
  readonly period_end: string | null
}

export const NO_MONEY: Figures = {
  captured_minor: 0n,
  refunded_minor: 0n,
  refund_pending_minor: 0n,
  disputed_minor: 0n,
  lost_minor: 0n,
  reversed_minor: 0n,
}
