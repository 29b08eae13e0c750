import type { FactOf } from '../../facts/fact.ts'
import type { SubscriptionStatus } from '../../facts/subscription.ts'
import { subscriptionStatus } from '../../facts/subscription.ts'
import { booleanIn, textIn, utcTime } from '../field.ts'
import { Unreadable } from '../unreadable.ts'
import type { DodoEvent, DodoSetup, Reading } from './dodo-event.ts'
import { eventTime, FOREIGN, orderIn, requiredId, subscriptionSubject } from './dodo-event.ts'

const STATUSES: ReadonlyMap<string, SubscriptionStatus> = new Map([
  ['pending', 'incomplete'],
  ['active', 'active'],
  ['on_hold', 'unpaid'],
  ['past_due', 'past_due'],
  ['paused', 'paused'],
  ['cancelled', 'canceled'],
  // The mandate was never made, so it never began.
  ['failed', 'expired'],
  ['expired', 'expired'],
])

/** The status that an event says was reached at its own time; other events only show the object. */
const REACHED: ReadonlyMap<string, string> = new Map([
  ['subscription.active', 'active'],
  ['subscription.renewed', 'active'],
  ['subscription.unpaused', 'active'],
  ['subscription.past_due', 'past_due'],
  ['subscription.on_hold', 'on_hold'],
  ['subscription.paused', 'paused'],
  ['subscription.cancelled', 'cancelled'],
  ['subscription.failed', 'failed'],
  ['subscription.expired', 'expired'],
])

/**
 * `subscription.*`. The fact says what was so at the event's time, so the type tells the status; the object, rendered
 * when the message is sent, may be further.
 */
export function readSubscription(event: DodoEvent): Reading {
  const { object, setup } = event
  if (orderIn(setup, object).foreign) return FOREIGN
  const status = REACHED.get(event.type) ?? textIn(object, 'status') ?? ''
  return { facts: [subscriptionFact(setup, object, status, eventTime(event))] }
}

/** @throws Unreadable without an id or with an unknown status */
export function subscriptionFact(
  setup: DodoSetup,
  subscription: unknown,
  status: string,
  at: string,
): FactOf<'subscription_status'> {
  const reached = STATUSES.get(status)
  if (reached === undefined) throw new Unreadable('data.status is not a subscription status that we know')
  const period_end = utcTime(textIn(subscription, 'next_billing_date')) ?? undefined
  return subscriptionStatus(subscriptionSubject(setup, requiredId(subscription, 'subscription_id')), {
    status: reached,
    at,
    period_end,
    cancel_at: booleanIn(subscription, 'cancel_at_next_billing_date') === true ? period_end : undefined,
    order: orderIn(setup, subscription).order,
    product: textIn(subscription, 'product_id'),
  })
}
