import type { PaymentMilestoneReached } from '../../facts/payment.ts'
import { paymentLink, paymentMilestone } from '../../facts/payment.ts'
import type { JsonRecord } from '../field.ts'
import { idIn, listIn, textIn } from '../field.ts'
import { moneyIn } from './amount.ts'
import { operationKey } from './operation-key.ts'
import type { OrderReference } from './order-reference.ts'
import { orderReference } from './order-reference.ts'
import type { Reading, StripeEvent } from './stripe-event.ts'
import { FOREIGN, ownId, paymentSubject } from './stripe-event.ts'

/**
 * `payment_intent.*`: the payment itself. Where a charge is known the fact is the charge's, so that intent and charge
 * tell one and the same fact.
 *
 * An amount stands only where no second event can give another one: intents may be changed and authorised again
 * before they succeed, so `created` and `succeeded` alone carry amounts; the rest is left to the charge.
 */
export function readPaymentIntent(event: StripeEvent): Reading {
  const { object, setup } = event
  const reference = orderReference(setup.orderReference, [object])
  if (reference.foreign) return FOREIGN
  const content = milestoneOf(event.type, object, reference)
  if (content === null) return { ignored: `${event.type} says nothing about money` }
  const subject = paymentSubject(setup, ownId(event))
  const invoice = content.milestone === 'succeeded' ? idIn(object, 'invoice') : undefined
  const facts = [paymentMilestone(subject, { ...content, operation: operationKey(object) })]
  if (invoice === undefined) return { facts }
  return { facts: [...facts, paymentLink(paymentSubject(setup, invoice), subject.id)] }
}

function milestoneOf(
  type: string,
  object: JsonRecord,
  { order }: OrderReference,
): PaymentMilestoneReached | null {
  const attempt = chargeOf(object)
  switch (type) {
    case 'payment_intent.created':
      return { milestone: 'created', ...moneyIn(object, 'amount'), order }
    case 'payment_intent.requires_action':
      return { milestone: 'requires_action', order }
    case 'payment_intent.partially_funded':
      return { milestone: 'pending', order }
    case 'payment_intent.processing':
      return { milestone: 'pending', attempt, order }
    case 'payment_intent.amount_capturable_updated':
      return { milestone: 'authorized', attempt, order }
    case 'payment_intent.succeeded':
      return { milestone: 'succeeded', attempt, ...moneyIn(object, 'amount_received'), order }
    case 'payment_intent.payment_failed':
      return { milestone: 'failed', attempt: idIn(object, 'last_payment_error', 'charge') ?? attempt, order }
    case 'payment_intent.canceled':
      return { milestone: 'canceled', reason: textIn(object, 'cancellation_reason'), order }
    default:
      return null
  }
}

/** The latest charge; versions before 2022-11-15 list the charges instead, newest first. */
function chargeOf(intent: JsonRecord): string | undefined {
  return idIn(intent, 'latest_charge') ?? idIn(listIn(intent, 'charges', 'data')[0], 'id')
}
