import type { SubscriptionStatus } from '../../facts/subscription.ts'
import { subscriptionStatus } from '../../facts/subscription.ts'
import type { JsonRecord } from '../field.ts'
import { booleanIn, idIn, listIn, textIn, unixTimeIn } from '../field.ts'
import { Unreadable } from '../unreadable.ts'
import { orderReference } from './order-reference.ts'
import type { Reading, StripeEvent } from './stripe-event.ts'
import { eventTime, ownId, subscriptionSubject } from './stripe-event.ts'

const STATUSES: ReadonlyMap<string, SubscriptionStatus> = new Map([
  ['incomplete', 'incomplete'],
  ['incomplete_expired', 'expired'],
  ['trialing', 'trialing'],
  ['active', 'active'],
  ['past_due', 'past_due'],
  ['unpaid', 'unpaid'],
  ['paused', 'paused'],
  ['canceled', 'canceled'],
])

/** `customer.subscription.*`: a subscription goes back and forth, so each statement stands under its own time and event. */
export function readSubscription(event: StripeEvent): Reading {
  const { object, setup } = event
  const deleted = event.type === 'customer.subscription.deleted'
  const status = deleted ? 'canceled' : STATUSES.get(textIn(object, 'status') ?? '')
  if (status === undefined)
    throw new Unreadable('data.object.status is not a subscription status that we know')
  const period_end = periodEnd(object)
  const ends = booleanIn(object, 'cancel_at_period_end') === true ? period_end : undefined
  return {
    facts: [
      subscriptionStatus(subscriptionSubject(setup, ownId(event)), {
        status,
        at: eventTime(event),
        event: event.id,
        period_end,
        cancel_at: unixTimeIn(object, 'cancel_at') ?? ends,
        order: orderReference(setup.orderReference, [object]).order,
        price: idIn(items(object)[0], 'price'),
        product: idIn(items(object)[0], 'price', 'product'),
      }),
    ],
  }
}

function items(subscription: JsonRecord): readonly unknown[] {
  return listIn(subscription, 'items', 'data')
}

/** Since 2025-03-31 each item has its own period; the latest end counts. Before, the subscription had one. */
function periodEnd(subscription: JsonRecord): string | undefined {
  const ends = items(subscription).flatMap((item) => unixTimeIn(item, 'current_period_end') ?? [])
  return ends.sort().at(-1) ?? unixTimeIn(subscription, 'current_period_end')
}
