import type { Fact } from '../../facts/fact.ts'
import { paymentMilestone } from '../../facts/payment.ts'
import type { SubscriptionStatus } from '../../facts/subscription.ts'
import { subscriptionStatus } from '../../facts/subscription.ts'
import { listIn, textIn } from '../field.ts'
import { Unreadable } from '../unreadable.ts'
import { orderReference } from './order-reference.ts'
import type { PaddleEvent, Reading } from './paddle-event.ts'
import { FOREIGN, ownId, paymentSubject, subscriptionSubject, timeIn, toldAt } from './paddle-event.ts'

const STATUSES: ReadonlyMap<string, SubscriptionStatus> = new Map([
  ['active', 'active'],
  ['trialing', 'trialing'],
  ['past_due', 'past_due'],
  ['paused', 'paused'],
  ['canceled', 'canceled'],
])

/**
 * `subscription.*`: a subscription goes back and forth, so each statement stands under its own time and event. A
 * renewal has no event of its own: it is a transaction, and a later period end here.
 */
export function readSubscription(event: PaddleEvent): Reading {
  const { data, setup } = event
  const status = STATUSES.get(textIn(data, 'status') ?? '')
  if (status === undefined) throw new Unreadable('data.status is not a subscription status that we know')
  const { order, foreign } = orderReference(setup.orderReference, data)
  if (foreign) return FOREIGN
  const id = ownId(event)
  const [item] = listIn(data, 'items')
  const ends = textIn(data, 'scheduled_change', 'action') === 'cancel'
  const told = subscriptionStatus(subscriptionSubject(setup, id), {
    status,
    at: toldAt(event),
    event: event.id,
    period_end: timeIn(data, 'current_billing_period', 'ends_at'),
    cancel_at: ends ? timeIn(data, 'scheduled_change', 'effective_at') : undefined,
    order,
    price: textIn(item, 'price', 'id'),
    product: textIn(item, 'price', 'product_id') ?? textIn(item, 'product', 'id'),
  })
  return { facts: [told, ...firstPayment(event, id, order)] }
}

/** Only `subscription.created` names the transaction that began it, which early events show without its subscription. */
function firstPayment(event: PaddleEvent, subscription: string, order: string | undefined): readonly Fact[] {
  const payment = textIn(event.data, 'transaction_id')
  if (payment === undefined) return []
  return [
    paymentMilestone(paymentSubject(event.setup, payment), { milestone: 'created', order, subscription }),
  ]
}
