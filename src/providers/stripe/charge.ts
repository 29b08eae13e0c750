import type { Fact } from '../../facts/fact.ts'
import type { PaymentMilestoneReached } from '../../facts/payment.ts'
import { paymentLink, paymentMilestone } from '../../facts/payment.ts'
import { refundTotal } from '../../facts/refund.ts'
import type { PaymentSubject } from '../../facts/subject.ts'
import type { JsonRecord } from '../field.ts'
import { booleanIn, fieldIn, idIn, listIn, textIn, unixTimeIn } from '../field.ts'
import type { StripeMoney } from './amount.ts'
import { moneyIn } from './amount.ts'
import { operationKey } from './operation-key.ts'
import type { OrderReference } from './order-reference.ts'
import { orderReference } from './order-reference.ts'
import { refundFact } from './refund.ts'
import type { Reading, StripeEvent } from './stripe-event.ts'
import { FOREIGN, ownId, paymentSubject } from './stripe-event.ts'

/** `charge.*` about the charge itself: one attempt of a payment. It alone tells method, reason and when money moved. */
export function readCharge(event: StripeEvent): Reading {
  const { object, setup } = event
  const charge = ownId(event)
  const subject = paymentSubject(setup, idIn(object, 'payment_intent') ?? charge)
  if (event.type === 'charge.refunded') return readRefunded(event, subject, charge)
  const reference = orderReference(setup.orderReference, [object])
  if (reference.foreign) return FOREIGN
  const content = milestoneOf(event.type, object, charge, reference)
  if (content === null) return { ignored: `${event.type} says nothing about money` }
  const invoice = content.milestone === 'succeeded' ? idIn(object, 'invoice') : undefined
  const facts: Fact[] = [paymentMilestone(subject, content)]
  if (invoice !== undefined) facts.push(paymentLink(paymentSubject(setup, invoice), subject.id))
  return { facts }
}

function milestoneOf(
  type: string,
  object: JsonRecord,
  attempt: string,
  { order }: OrderReference,
): PaymentMilestoneReached | null {
  const common = { attempt, order, method: methodOf(object), operation: operationKey(object) }
  switch (type) {
    case 'charge.pending':
      return { milestone: 'pending', ...moneyIn(object, 'amount'), ...common }
    case 'charge.succeeded':
      return booleanIn(object, 'captured') === false
        ? { milestone: 'authorized', ...moneyIn(object, 'amount'), ...common }
        : { milestone: 'succeeded', ...captured(object), ...common }
    case 'charge.captured':
      return { milestone: 'succeeded', ...(capturedInParts(object) ? {} : captured(object)), ...common }
    case 'charge.failed':
      return {
        milestone: 'failed',
        ...moneyIn(object, 'amount'),
        reason: textIn(object, 'failure_code'),
        ...common,
      }
    case 'charge.expired':
      return { milestone: 'expired', ...common }
    default:
      return null
  }
}

function captured(charge: JsonRecord): StripeMoney & { readonly moved_at: string | undefined } {
  const field = fieldIn(charge, 'amount_captured') === undefined ? 'amount' : 'amount_captured'
  return { ...moneyIn(charge, field), moved_at: unixTimeIn(charge, 'created') }
}

// Each part is told with a running total; the intent's `amount_received` tells the final one.
function capturedInParts(charge: JsonRecord): boolean {
  return textIn(charge, 'payment_method_details', 'card', 'multicapture', 'status') === 'available'
}

function methodOf(charge: JsonRecord): string | undefined {
  return textIn(charge, 'payment_method_details', 'type') ?? textIn(charge, 'source', 'object')
}

/**
 * `amount_refunded` is a running total and only a hint. What a partial capture or a lapsed authorisation released is
 * in it too, so it is told only for charges that were captured whole.
 */
function readRefunded(event: StripeEvent, subject: PaymentSubject, charge: string): Reading {
  const { object, setup } = event
  const known = listIn(object, 'refunds', 'data').flatMap(
    (refund) => refundFact(setup, refund, subject) ?? [],
  )
  const { amount_minor, currency } = moneyIn(object, 'amount')
  const whole =
    booleanIn(object, 'captured') !== false &&
    (fieldIn(object, 'amount_captured') === undefined || captured(object).amount_minor === amount_minor)
  if (!whole) return known.length > 0 ? { facts: known } : { ignored: 'no money that was captured went back' }
  const total_minor = moneyIn(object, 'amount_refunded').amount_minor
  return { facts: [...known, refundTotal(subject, { attempt: charge, total_minor, currency })] }
}
