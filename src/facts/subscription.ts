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
  /** Event that told it, where the provider's clock has only whole seconds: two statements of one second stay two facts. */
  readonly event?: string | undefined
}

export function subscriptionStatus(
  subject: SubscriptionSubject,
  content: SubscriptionStatusReached,
): FactOf<'subscription_status'> {
  const told = content.event === undefined ? '' : `/${content.event}`
  return {
    subject,
    key: `status/${content.at}/${content.status}${told}`,
    kind: 'subscription_status',
    content,
  }
}
