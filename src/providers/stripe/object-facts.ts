import type { Fact } from '../../facts/fact.ts'
import type { LookupRequest } from '../../facts/lookup.ts'
import { paymentMilestone } from '../../facts/payment.ts'
import type { JsonRecord } from '../field.ts'
import { booleanIn, fieldIn, idIn, listIn, recordIn, textIn, unixTimeIn } from '../field.ts'
import { Unreadable } from '../unreadable.ts'
import { readCharge } from './charge.ts'
import { readCheckoutSession } from './checkout-session.ts'
import { readDispute } from './dispute.ts'
import { readInvoice } from './invoice.ts'
import { orderReference } from './order-reference.ts'
import { readPaymentIntent } from './payment-intent.ts'
import { readRefund } from './refund.ts'
import type { Reading, StripeEvent, StripeSetup } from './stripe-event.ts'
import { paymentSubject } from './stripe-event.ts'
import { readSubscription } from './subscription.ts'

/**
 * What an object of the API says, by the same readers that read webhooks: the object's state takes the place of the
 * event's type. All throw Unreadable for a shape that we do not know.
 */

export function recordOf(answer: unknown): JsonRecord {
  const object = recordIn({ answer }, 'answer')
  if (object === undefined) throw new Unreadable('the answer is no object')
  return object
}

/** A payment intent, with the latest charge where it is expanded. */
export function intentFacts(setup: StripeSetup, intent: JsonRecord): readonly Fact[] {
  const charge = recordIn(intent, 'latest_charge')
  return [...statedBy(setup, intent), ...(charge === undefined ? [] : chargeFacts(setup, charge))]
}

const INTENT_EVENTS: Readonly<Record<string, string>> = {
  requires_action: 'payment_intent.requires_action',
  processing: 'payment_intent.processing',
  requires_capture: 'payment_intent.amount_capturable_updated',
  succeeded: 'payment_intent.succeeded',
  canceled: 'payment_intent.canceled',
}

function statedBy(setup: StripeSetup, intent: JsonRecord): readonly Fact[] {
  const status = textIn(intent, 'status') ?? ''
  if (status === 'requires_payment_method' && recordIn(intent, 'last_payment_error') !== undefined) {
    return told(readPaymentIntent(stating(setup, 'payment_intent.payment_failed', intent)))
  }
  if (status === 'requires_payment_method' || status === 'requires_confirmation')
    return created(setup, intent)
  const type = Object.hasOwn(INTENT_EVENTS, status) ? INTENT_EVENTS[status] : undefined
  if (type === undefined) throw new Unreadable('status is not a payment status that we know')
  return told(readPaymentIntent(stating(setup, type, intent)))
}

/** Without the amount: it may be another by now than the one that it was created with. */
function created(setup: StripeSetup, intent: JsonRecord): readonly Fact[] {
  const { order, foreign } = orderReference(setup.orderReference, [intent])
  const id = idIn(intent, 'id')
  if (id === undefined) throw new Unreadable('id is missing')
  return foreign ? [] : [paymentMilestone(paymentSubject(setup, id), { milestone: 'created', order })]
}

/** A charge, with what was given back of it. */
export function chargeFacts(setup: StripeSetup, charge: JsonRecord): readonly Fact[] {
  const facts = told(readCharge(stating(setup, chargeEvent(charge), charge)))
  const refunded = Number(fieldIn(charge, 'amount_refunded') ?? 0) > 0
  return refunded ? [...facts, ...told(readCharge(stating(setup, 'charge.refunded', charge)))] : facts
}

function chargeEvent(charge: JsonRecord): string {
  switch (textIn(charge, 'status')) {
    case 'succeeded':
      return booleanIn(charge, 'captured') === false ? 'charge.succeeded' : 'charge.captured'
    case 'pending':
      return 'charge.pending'
    case 'failed':
      return 'charge.failed'
    default:
      throw new Unreadable('status is not a charge status that we know')
  }
}

export function refundFacts(setup: StripeSetup, refund: JsonRecord): readonly Fact[] {
  return told(readRefund(stating(setup, 'refund.updated', refund)))
}

/**
 * The API does not say when a dispute reached its status. The last movement of its money stands for that: it is the
 * same however often one asks, and later whenever a decision was turned round.
 */
export function disputeFacts(setup: StripeSetup, dispute: JsonRecord): readonly Fact[] {
  const moved = listIn(dispute, 'balance_transactions').flatMap((entry) => unixTimeIn(entry, 'created') ?? [])
  const at = [...moved, unixTimeIn(dispute, 'created') ?? ''].sort().at(-1)
  return told(readDispute({ ...stating(setup, 'charge.dispute.updated', dispute), created: at || undefined }))
}

/** @param now_ms when it was read: a subscription goes back and forth, and the API says what it is now */
export function subscriptionFacts(
  setup: StripeSetup,
  subscription: JsonRecord,
  now_ms: number,
): readonly Fact[] {
  const read_at = new Date(Math.floor(now_ms / 1000) * 1000).toISOString()
  const event = stating(setup, 'customer.subscription.updated', subscription)
  return told(readSubscription({ ...event, created: read_at }))
}

export function invoiceFacts(setup: StripeSetup, invoice: JsonRecord): readonly Fact[] {
  const type = textIn(invoice, 'status') === 'paid' ? 'invoice.paid' : 'invoice.payment_failed'
  return told(readInvoice(stating(setup, type, invoice)))
}

/** An open session says nothing yet; one that is complete says what its buyer did. */
export function sessionFacts(setup: StripeSetup, session: JsonRecord): readonly Fact[] {
  const status = textIn(session, 'status')
  if (status === 'open') return []
  const type = status === 'expired' ? 'checkout.session.expired' : 'checkout.session.completed'
  return told(readCheckoutSession(stating(setup, type, session)))
}

/** What a session was paid with: that tells its money. */
export function behindSession(session: JsonRecord): readonly LookupRequest[] {
  const [payment, invoice] = [idIn(session, 'payment_intent'), idIn(session, 'invoice')]
  return [
    ...(payment === undefined ? [] : [{ object: 'payment_intent', id: payment }]),
    ...(invoice === undefined ? [] : [{ object: 'invoice', id: invoice }]),
  ]
}

function told(reading: Reading): readonly Fact[] {
  return 'facts' in reading ? reading.facts : []
}

function stating(setup: StripeSetup, type: string, object: JsonRecord): StripeEvent {
  return { id: undefined, type, created: undefined, object, setup }
}
