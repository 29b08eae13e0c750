import type { Fact } from '../../facts/fact.ts'
import type { PaymentMilestone } from '../../facts/payment.ts'
import { paymentMilestone } from '../../facts/payment.ts'
import { subscriptionStatus } from '../../facts/subscription.ts'
import type { JsonRecord } from '../field.ts'
import { textIn, utcTime } from '../field.ts'
import { Unreadable } from '../unreadable.ts'
import type { Reading, YolfiEvent, YolfiSetup } from './yolfi-event.ts'
import { askedFor, FOREIGN, orderIn, paymentSubject, subscriptionSubject } from './yolfi-event.ts'

/** The type tells the state: which values `data.status` has is unconfirmed. */
const REACHED: ReadonlyMap<string, PaymentMilestone> = new Map([
  ['invoice.created', 'created'],
  ['payment.confirmed', 'succeeded'],
  // Of that attempt alone; money that comes after it is money all the same.
  ['invoice.overdue', 'expired'],
])

/** `payment.confirmed`, `invoice.created`, `invoice.overdue`: one attempt to pay, known by its invoice. */
export function readPayment(event: YolfiEvent): Reading {
  const { data, setup } = event
  const milestone = REACHED.get(event.type)
  if (milestone === undefined) throw new Unreadable('type is not one that we know of payments')
  const { order, foreign } = orderIn(setup, data)
  if (foreign) return FOREIGN
  const invoice = textIn(data, 'invoiceId')
  if (invoice === undefined) throw new Unreadable('data.invoiceId is missing')
  const money = milestone === 'expired' ? null : askedFor(setup, data)
  const succeeded = milestone === 'succeeded'
  const subscription = textIn(data, 'subscriptionId')
  const fact = paymentMilestone(paymentSubject(setup, invoice), {
    milestone,
    ...money,
    moved_at: succeeded ? event.created : undefined,
    order,
    subscription,
  })
  const facts: Fact[] = [fact]
  if (succeeded && subscription !== undefined) facts.push(subscriptionFact(event, subscription, 'active'))
  // A trial message has no payment behind it that could be asked about.
  const untold = succeeded && money === null && !event.is_trial
  return untold ? { facts, lookups: [{ object: 'payment', id: invoice }] } : { facts }
}

const ENDED: ReadonlyMap<string, 'past_due' | 'canceled'> = new Map([
  ['subscription.overdue', 'past_due'],
  ['subscription.cancelled', 'canceled'],
])

/** `subscription.*`: no money. What was paid for lasts until `subscriptionExpiresAt`. */
export function readSubscription(event: YolfiEvent): Reading {
  const status = ENDED.get(event.type)
  if (status === undefined) throw new Unreadable('type is not one that we know of subscriptions')
  const subscription = textIn(event.data, 'subscriptionId')
  if (subscription === undefined) throw new Unreadable('data.subscriptionId is missing')
  if (orderIn(event.setup, event.data).foreign) return FOREIGN
  return { facts: [subscriptionFact(event, subscription, status)] }
}

function subscriptionFact(event: YolfiEvent, id: string, status: 'active' | 'past_due' | 'canceled'): Fact {
  const { data, setup } = event
  return subscriptionStatus(subscriptionSubject(setup, id), {
    status,
    at: event.created,
    event: event.id,
    period_end: utcTime(textIn(data, 'subscriptionExpiresAt')) ?? undefined,
    order: orderIn(setup, data).order,
    product: textIn(data, 'paylinkId'),
  })
}

/** Values of a payment's status in the API, as far as any were seen; all unconfirmed. */
const STATES: ReadonlyMap<string, PaymentMilestone> = new Map([
  ['CREATED', 'created'],
  ['PENDING', 'pending'],
  ['CONFIRMED', 'succeeded'],
  ['OVERDUE', 'expired'],
  ['EXPIRED', 'expired'],
])

/**
 * The facts of a payment that the API shows. It tells no time at which the money moved that would agree with the
 * message's, so none is stated.
 * @throws Unreadable without an id or with a status that was never seen
 */
export function paymentFacts(setup: YolfiSetup, payment: JsonRecord): readonly Fact[] {
  const milestone = STATES.get(textIn(payment, 'status') ?? '')
  if (milestone === undefined) throw new Unreadable('status is not a payment status that we know')
  const { order, foreign } = orderIn(setup, payment)
  if (foreign) return []
  const content = {
    milestone,
    ...(milestone === 'created' || milestone === 'succeeded' ? askedFor(setup, payment) : {}),
    order,
    subscription: textIn(payment, 'subscriptionId'),
  }
  return [paymentMilestone(paymentSubject(setup, paymentId(payment)), content)]
}

/** @throws Unreadable when there is none */
export function paymentId(payment: unknown): string {
  const id = textIn(payment, 'invoiceId') ?? textIn(payment, 'id')
  if (id === undefined) throw new Unreadable('invoiceId and id are missing')
  return id
}
