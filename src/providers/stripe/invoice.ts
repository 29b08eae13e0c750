import type { Fact } from '../../facts/fact.ts'
import { paymentLink, paymentMilestone } from '../../facts/payment.ts'
import type { JsonRecord } from '../field.ts'
import { booleanIn, fieldIn, idIn, listIn, recordIn, textIn, unixTimeIn } from '../field.ts'
import { Unreadable } from '../unreadable.ts'
import type { StripeMoney } from './amount.ts'
import { moneyIn } from './amount.ts'
import { orderReference } from './order-reference.ts'
import type { Reading, StripeEvent } from './stripe-event.ts'
import { FOREIGN, ownId, paymentSubject } from './stripe-event.ts'

/** An invoice of a later period does not pay the order that began the subscription. */
const LATER_PERIODS = new Set(['subscription_cycle', 'subscription_update', 'subscription_threshold'])

/**
 * `invoice.paid`, `invoice.payment_succeeded`, `invoice.payment_failed`. An invoice stands in for its payment and says
 * whose order and subscription it is. It is money of its own only when nothing was collected through Stripe: zero, or
 * paid out of band.
 */
export function readInvoice(event: StripeEvent): Reading {
  const { object, setup } = event
  const { order, foreign } = orderReference(setup.orderReference, [
    object,
    ...subscriptionOf(object).metadata,
  ])
  if (foreign) return FOREIGN
  const invoice = paymentSubject(setup, ownId(event))
  const { subscription } = subscriptionOf(object)
  const paid = event.type !== 'invoice.payment_failed'
  const own = paid ? ownMoney(object) : null
  if (own !== null) {
    const moved_at = unixTimeIn(object, 'status_transitions', 'paid_at')
    return {
      facts: [paymentMilestone(invoice, { milestone: 'succeeded', ...own, moved_at, order, subscription })],
    }
  }
  const facts: Fact[] = [paymentMilestone(invoice, { milestone: 'created', order, subscription })]
  const payment = paymentOf(object)
  if (paid && payment !== undefined) facts.push(paymentLink(invoice, payment))
  return { facts }
}

/** `invoice_payment.paid`: the one event that names both the invoice and its payment. */
export function readInvoicePayment(event: StripeEvent): Reading {
  const { object, setup } = event
  const invoice = idIn(object, 'invoice')
  const payment = idIn(object, 'payment', 'payment_intent') ?? idIn(object, 'payment', 'charge')
  if (invoice === undefined) throw new Unreadable('data.object.invoice is missing')
  if (payment === undefined) return { ignored: 'the invoice was not paid through a payment intent or charge' }
  // Of several partial payments only the default one can be the invoice.
  if (booleanIn(object, 'is_default') === false)
    return { ignored: 'a further partial payment of the invoice' }
  return { facts: [paymentLink(paymentSubject(setup, invoice), payment)] }
}

/** What was settled outside Stripe, or zero; null when a payment at Stripe holds the money. */
function ownMoney(invoice: JsonRecord): StripeMoney | null {
  const paid = moneyIn(invoice, 'amount_paid')
  if (paid.amount_minor === 0n || booleanIn(invoice, 'paid_out_of_band') === true) return paid
  const offStripe = fieldIn(invoice, 'amount_paid_off_stripe')
  if (offStripe === undefined || offStripe === null) return null
  return moneyIn(invoice, 'amount_paid_off_stripe').amount_minor === paid.amount_minor ? paid : null
}

/** Up to 2025-02 on the invoice itself, since 2025-03-31 in its payments where those are shown. */
function paymentOf(invoice: JsonRecord): string | undefined {
  const direct = idIn(invoice, 'payment_intent') ?? idIn(invoice, 'charge')
  if (direct !== undefined) return direct
  const payments = listIn(invoice, 'payments', 'data')
  const settled = payments.find(
    (entry) => textIn(entry, 'status') === 'paid' && booleanIn(entry, 'is_default') !== false,
  )
  return idIn(settled, 'payment', 'payment_intent') ?? idIn(settled, 'payment', 'charge')
}

/** The subscription in each shape it had, and where metadata of the subscription names an order that this invoice pays. */
function subscriptionOf(invoice: JsonRecord): {
  subscription: string | undefined
  metadata: readonly unknown[]
} {
  const details =
    recordIn(invoice, 'parent', 'subscription_details') ?? recordIn(invoice, 'subscription_details')
  const later = LATER_PERIODS.has(textIn(invoice, 'billing_reason') ?? '')
  return {
    subscription: idIn(invoice, 'subscription') ?? idIn(details, 'subscription'),
    metadata: later ? [] : [details],
  }
}
