import type { Fact } from '../../facts/fact.ts'
import type { PaymentMilestone } from '../../facts/payment.ts'
import { paymentLink, paymentMilestone } from '../../facts/payment.ts'
import { fieldIn, idIn, recordIn, textIn } from '../field.ts'
import { Unreadable } from '../unreadable.ts'
import type { StripeMoney } from './amount.ts'
import { currencyIn, minorFromStripe, moneyIn } from './amount.ts'
import { orderReference } from './order-reference.ts'
import type { Reading, StripeEvent } from './stripe-event.ts'
import { FOREIGN, ownId, paymentSubject } from './stripe-event.ts'

/**
 * `checkout.session.*`: what the buyer did, told of the payment intent where the session has one, else of its invoice,
 * else of itself. An invoice that stands in says only whose order it is; its money is the payment's own, unless
 * nothing was due.
 */
export function readCheckoutSession(event: StripeEvent): Reading {
  const { object, setup } = event
  if (textIn(object, 'mode') === 'setup') return { ignored: 'a session that only saves a payment method' }
  const { order, foreign } = orderReference(
    setup.orderReference,
    [object],
    fieldIn(object, 'client_reference_id'),
  )
  if (foreign) return FOREIGN
  const payment = idIn(object, 'payment_intent')
  const invoice = idIn(object, 'invoice')
  const told = milestoneOf(event)
  if (told === null) return { ignored: `${event.type} says nothing about money` }
  const standsIn = payment === undefined && told.milestone === 'succeeded' && told.money?.amount_minor !== 0n
  if (standsIn && invoice === undefined)
    throw new Unreadable('paid, but names neither payment_intent nor invoice')
  const subject = paymentSubject(setup, payment ?? invoice ?? ownId(event))
  const subscription = idIn(object, 'subscription')
  const facts: Fact[] = [
    paymentMilestone(subject, {
      milestone: standsIn ? 'created' : told.milestone,
      ...(standsIn ? {} : told.money),
      order,
      subscription,
    }),
  ]
  if (payment !== undefined && invoice !== undefined && told.milestone === 'succeeded') {
    facts.push(paymentLink(paymentSubject(setup, invoice), payment))
  }
  return { facts }
}

interface Told {
  readonly milestone: PaymentMilestone
  readonly money?: StripeMoney
}

function milestoneOf(event: StripeEvent): Told | null {
  switch (event.type) {
    case 'checkout.session.completed':
      return completed(event)
    case 'checkout.session.async_payment_succeeded':
      return { milestone: 'succeeded', money: total(event) }
    case 'checkout.session.async_payment_failed':
      return { milestone: 'failed' }
    case 'checkout.session.expired':
      return { milestone: 'expired' }
    default:
      return null
  }
}

function completed(event: StripeEvent): Told {
  switch (textIn(event.object, 'payment_status')) {
    case 'paid':
      return { milestone: 'succeeded', money: total(event) }
    case 'unpaid':
      return { milestone: 'pending' }
    case 'no_payment_required': {
      const money = total(event)
      // Something is due, but later: nothing was collected yet.
      return money.amount_minor === 0n ? { milestone: 'succeeded', money } : { milestone: 'pending' }
    }
    default:
      throw new Unreadable('data.object.payment_status is not one that we know')
  }
}

/** What the buyer pays, in our currency: before 2025-03-31 a converted session shows the buyer's and keeps ours apart. */
function total(event: StripeEvent): StripeMoney {
  const converted = recordIn(event.object, 'currency_conversion')
  if (converted === undefined) return moneyIn(event.object, 'amount_total')
  const currency = currencyIn(converted, 'source_currency')
  return {
    amount_minor: minorFromStripe(fieldIn(converted, 'amount_total'), currency, 'amount_total'),
    currency,
  }
}
