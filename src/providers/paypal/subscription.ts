import type { SubscriptionStatus } from '../../facts/subscription.ts'
import { subscriptionStatus } from '../../facts/subscription.ts'
import { fieldIn, textIn } from '../field.ts'
import { Unreadable } from '../unreadable.ts'
import { orderReference } from './order-reference.ts'
import { type PaypalSetup, type Reading, requiredId, subscriptionSubject, timeIn } from './paypal-object.ts'

const STATUSES: ReadonlyMap<string, SubscriptionStatus> = new Map([
  ['APPROVAL_PENDING', 'incomplete'],
  ['APPROVED', 'incomplete'],
  ['ACTIVE', 'active'],
  ['SUSPENDED', 'paused'],
  ['CANCELLED', 'canceled'],
  ['EXPIRED', 'expired'],
])

/**
 * `GET /v1/billing/subscriptions/{id}`. PayPal keeps the status ACTIVE while charges fail, so a failed charge makes it
 * past due at the time of the failure, and a charge that succeeds later makes it active at the time of that.
 */
export function readSubscription(setup: PaypalSetup, subscription: unknown): Reading {
  const told = STATUSES.get(textIn(subscription, 'status') ?? '')
  if (told === undefined) throw new Unreadable('status is not a subscription status that we know')
  const failing = failedPayments(subscription) > 0
  const status = failing && told === 'active' ? 'past_due' : failing && told === 'paused' ? 'unpaid' : told
  const at = latest([
    timeIn(subscription, 'create_time'),
    timeIn(subscription, 'update_time'),
    timeIn(subscription, 'status_update_time'),
    timeIn(subscription, 'billing_info', failing ? 'last_failed_payment' : 'last_payment', 'time'),
  ])
  if (at === undefined) throw new Unreadable('none of its times is given')
  const subject = subscriptionSubject(setup.account, requiredId(subscription, 'id'))
  return {
    facts: [
      subscriptionStatus(subject, {
        status,
        at,
        // While charges fail, the next attempt is no end of a period that was paid for.
        period_end:
          status === 'active' ? timeIn(subscription, 'billing_info', 'next_billing_time') : undefined,
        order: orderReference(setup.orderReference, undefined, fieldIn(subscription, 'custom_id')),
        price: textIn(subscription, 'plan_id'),
      }),
    ],
  }
}

function failedPayments(subscription: unknown): number {
  const count = fieldIn(subscription, 'billing_info', 'failed_payments_count')
  if (count === undefined || count === null) return 0
  if (typeof count !== 'number') throw new Unreadable('billing_info.failed_payments_count is not a number')
  return count
}

function latest(times: readonly (string | undefined)[]): string | undefined {
  return times
    .filter((time) => time !== undefined)
    .sort()
    .at(-1)
}
