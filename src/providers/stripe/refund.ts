import type { FactOf } from '../../facts/fact.ts'
import type { RefundMilestone } from '../../facts/refund.ts'
import { refundMilestone } from '../../facts/refund.ts'
import type { PaymentSubject } from '../../facts/subject.ts'
import { booleanIn, idIn, textIn, unixTimeIn } from '../field.ts'
import { Unreadable } from '../unreadable.ts'
import { moneyIn } from './amount.ts'
import { operationKey } from './operation-key.ts'
import { orderReference } from './order-reference.ts'
import type { Reading, StripeEvent, StripeSetup } from './stripe-event.ts'
import { paymentSubject } from './stripe-event.ts'

const MILESTONES: ReadonlyMap<string, RefundMilestone> = new Map([
  ['pending', 'pending'],
  ['requires_action', 'requires_action'],
  ['succeeded', 'succeeded'],
  ['failed', 'failed'],
  ['canceled', 'canceled'],
])

/** `refund.*` and `charge.refund.updated`: one refund with its own amount. Its status tells the milestone, not the event type. */
export function readRefund(event: StripeEvent): Reading {
  const { object, setup } = event
  const payment = idIn(object, 'payment_intent') ?? idIn(object, 'charge')
  if (payment === undefined) return { ignored: 'a refund of customer balance belongs to no payment' }
  const fact = refundFact(setup, object, paymentSubject(setup, payment))
  if (fact === null) throw new Unreadable('data.object.status is not a refund status that we know')
  return { facts: [fact] }
}

/** The fact of one refund object; null when its status is missing or unknown. @throws Unreadable without id or amount */
export function refundFact(
  setup: StripeSetup,
  object: unknown,
  subject: PaymentSubject,
): FactOf<'refund_milestone'> | null {
  const milestone = MILESTONES.get(textIn(object, 'status') ?? '')
  if (milestone === undefined) return null
  const refund = idIn(object, 'id')
  if (refund === undefined) throw new Unreadable('the refund has no id')
  const released = isRelease(object)
  return refundMilestone(subject, {
    refund,
    milestone,
    ...moneyIn(object, 'amount'),
    attempt: idIn(object, 'charge'),
    moved_at: milestone === 'succeeded' ? unixTimeIn(object, 'created') : undefined,
    origin: released ? 'provider_automatic' : undefined,
    order: orderReference(setup.orderReference, [object]).order,
    reason: milestone === 'failed' ? textIn(object, 'failure_reason') : textIn(object, 'reason'),
    releases_authorization: released ? true : undefined,
    operation: operationKey(object),
  })
}

/** Stripe shows an authorisation that lapsed as a refund, although no money was ever captured. */
function isRelease(refund: unknown): boolean {
  return (
    textIn(refund, 'reason') === 'expired_uncaptured_charge' ||
    booleanIn(refund, 'charge', 'captured') === false
  )
}
