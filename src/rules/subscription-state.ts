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
  readonly product: string | null
  readonly price: string | null
  readonly conflicted: boolean
  readonly exceptions: readonly ExceptionDue[]
}
