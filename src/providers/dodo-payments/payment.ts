import type { Fact } from '../../facts/fact.ts'
import type { PaymentMilestone } from '../../facts/payment.ts'
import { paymentMilestone } from '../../facts/payment.ts'
import type { JsonRecord } from '../field.ts'
import { booleanIn, fieldIn, listIn, textIn, utcTime } from '../field.ts'
import { Unreadable } from '../unreadable.ts'
import { disputeFact } from './dispute.ts'
import type { DodoEvent, DodoSetup, Reading } from './dodo-event.ts'
import { CHARGE_KEY, codeIn, FOREIGN, orderIn, paymentSubject, requiredId } from './dodo-event.ts'
import { refundFact } from './refund.ts'
import { statedMoney } from './stated-money.ts'

const MILESTONES: ReadonlyMap<string, PaymentMilestone> = new Map([
  ['succeeded', 'succeeded'],
  ['failed', 'failed'],
  ['cancelled', 'canceled'],
  ['processing', 'pending'],
  ['requires_customer_action', 'requires_action'],
  ['requires_merchant_action', 'pending'],
  ['requires_payment_method', 'created'],
  ['requires_confirmation', 'created'],
  ['requires_capture', 'authorized'],
  ['partially_captured', 'succeeded'],
  ['partially_captured_and_capturable', 'succeeded'],
])

/**
 * `payment.*`. The state is the object's: a late `payment.processing` may carry a payment that has succeeded. A
 * `payment.succeeded` whose object says otherwise is asked about.
 */
export function readPayment(event: DodoEvent): Reading {
  const reading = paymentFacts(event.setup, event.object)
  const doubted = event.type === 'payment.succeeded' && textIn(event.object, 'status') !== 'succeeded'
  if (!('facts' in reading) || !doubted) return reading
  return { ...reading, lookups: [{ object: 'payment', id: requiredId(event.object, 'payment_id') }] }
}

/**
 * What a payment object says, from a message, a look-up or a list: its own milestone and what is nested in it. Every
 * field that is stated stays the same however often the object is rendered anew.
 */
export function paymentFacts(setup: DodoSetup, payment: JsonRecord): Reading {
  const { foreign, order } = orderIn(setup, payment)
  if (foreign) return FOREIGN
  const status = textIn(payment, 'status') ?? ''
  const milestone = MILESTONES.get(status)
  if (milestone === undefined) throw new Unreadable('data.status is not a payment status that we know')
  const changes_method = booleanIn(payment, 'is_update_payment_method') === true
  if (changes_method && fieldIn(payment, 'total_amount') === 0)
    return { ignored: 'a change of the payment method pays for nothing' }
  const subject = paymentSubject(setup, requiredId(payment, 'payment_id'))
  const succeeded = milestone === 'succeeded'
  return {
    facts: [
      paymentMilestone(subject, {
        milestone,
        // What was captured in part is told by no field.
        ...(status === 'succeeded' ? statedMoney(setup.orderTotals, payment) : {}),
        moved_at: succeeded ? (utcTime(textIn(payment, 'created_at')) ?? undefined) : undefined,
        order: !changes_method && paysItsOrder(payment) ? order : undefined,
        method: succeeded ? textIn(payment, 'payment_method') : undefined,
        reason: milestone === 'failed' ? codeIn(payment, 'error_code') : undefined,
        subscription: subscriptionOf(payment),
        operation: textIn(payment, 'metadata', CHARGE_KEY),
      }),
      ...nestedFacts(setup, payment),
    ],
  }
}

/**
 * A renewal carries the subscription's metadata and so its first order's reference. Only the payment that came through a
 * checkout session, or that we charged ourselves, pays the order that it names.
 */
function paysItsOrder(payment: JsonRecord): boolean {
  return (
    subscriptionsOf(payment).length === 0 ||
    textIn(payment, 'checkout_session_id') !== undefined ||
    fieldIn(payment, 'metadata', CHARGE_KEY) !== undefined
  )
}

/** One payment may pay for several subscriptions at once; then none of them is the one. */
function subscriptionOf(payment: JsonRecord): string | undefined {
  const subscriptions = subscriptionsOf(payment)
  return subscriptions.length === 1 ? subscriptions[0] : undefined
}

function subscriptionsOf(payment: JsonRecord): readonly string[] {
  const listed = listIn(payment, 'subscription_ids').filter((id) => typeof id === 'string')
  return [...new Set([textIn(payment, 'subscription_id') ?? [], listed].flat())]
}

function nestedFacts(setup: DodoSetup, payment: JsonRecord): readonly Fact[] {
  const own = (nested: unknown) => textIn(nested, 'payment_id') === textIn(payment, 'payment_id')
  return [
    ...listIn(payment, 'refunds')
      .filter(own)
      .map((refund) => refundFact(setup, refund, payment)),
    ...listIn(payment, 'disputes')
      .filter(own)
      .flatMap((dispute) => {
        const at = utcTime(textIn(dispute, 'created_at'))
        return at === null ? [] : disputeFact(setup, dispute, at)
      }),
  ]
}
