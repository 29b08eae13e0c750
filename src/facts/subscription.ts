import type { FactOf } from './fact.ts'
import type { SubscriptionSubject } from './subject.ts'

export type SubscriptionStatus =
  | 'incomplete'
  | 'trialing'
  | 'active'
  | 'past_due'
  | 'unpaid'
  | 'paused'
  | 'canceled'
  | 'expired'

/**
 * "Subscription sub_1 was active at that time, paid until then." A subscription goes back and forth, so the
 * provider's time stands in the key and a return to a former status is a new fact.
 */
export interface SubscriptionStatusReached {
  readonly status: SubscriptionStatus
  /** The provider's time of this statement, ISO 8601 UTC. */
  readonly at: string
  readonly period_end?: string | undefined
  readonly cancel_at?: string | undefined
  readonly order?: string | undefined
  readonly price?: string | undefined
  readonly product?: string | undefined
}

export function subscriptionStatus(
  subject: SubscriptionSubject,
  content: SubscriptionStatusReached,
): FactOf<'subscription_status'> {
  return { subject, key: `status/${content.at}/${content.status}`, kind: 'subscription_status', content }
}
