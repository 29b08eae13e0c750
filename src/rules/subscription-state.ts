import type { ExceptionDue } from '../facts/exception.ts'
import type { SubscriptionStatus } from '../facts/subscription.ts'

/** Everything that the facts about one recurring agreement say. */
export interface SubscriptionState {
  /** `unknown` while no fact is known; `conflicted` when two statuses are told for the newest instant. */
  readonly status: SubscriptionStatus | 'unknown' | 'conflicted'
  /** The provider's time of the statement that decides; null while none is known. */
  readonly at: string | null
  /** Paid until then; the last known one where newer statements do not tell it. */
  readonly period_end: string | null
  /** Ends at that time unless changed; null where the newest statement tells none. */
  readonly cancel_at: string | null
  /** The one order that the facts name; null when none does or when they name several. */
  readonly order: string | null
  /** Every order that any fact names, sorted. */
  readonly orders_named: readonly string[]
  /** The orders that the newest statement to name any names: a plan change may move it on to another order. */
  readonly orders_now: readonly string[]
  /** Since when it has had its status without a break, by the provider's time; null while none is known. */
  readonly since: string | null
  /** What it was before its end; null while it has not ended, or where only its end was told. */
  readonly ended_from: SubscriptionStatus | null
  readonly product: string | null
  readonly price: string | null
  readonly conflicted: boolean
  readonly exceptions: readonly ExceptionDue[]
}

/** The part of a subscription that its order needs; its row is enough to make one. */
export interface SubscriptionSummary {
  /** The provider's id of the subscription, for messages. */
  readonly id: string
  readonly account: string
  readonly status: SubscriptionState['status']
  readonly period_end: string | null
  readonly cancel_at: string | null
  readonly since: string | null
  readonly ended_from: SubscriptionStatus | null
  /** The provider's id of the price that it has now; null where none is told. */
  readonly price: string | null
  /** Every order that it settles; more than one is a contradiction. */
  readonly orders: readonly string[]
}
