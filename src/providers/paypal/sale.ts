import type { PaymentMilestone } from '../../facts/payment.ts'
import { paymentMilestone } from '../../facts/payment.ts'
import { fieldIn, textIn } from '../field.ts'
import { Unreadable } from '../unreadable.ts'
import { totalIn } from './amount.ts'
import { orderReference } from './order-reference.ts'
import { idOf, type PaypalSetup, paymentSubject, type Reading, requiredId, timeIn } from './paypal-object.ts'

const STATES: ReadonlyMap<string, PaymentMilestone> = new Map([
  ['pending', 'pending'],
  ['completed', 'succeeded'],
  ['partially_refunded', 'succeeded'],
  ['refunded', 'succeeded'],
  ['denied', 'failed'],
])

/**
 * `GET /v1/payments/sale/{id}`. A charge of a subscription names the subscription and no order: it carries the
 * subscription's reference each time, and would pay for the first order again and again.
 */
export function readSale(setup: PaypalSetup, sale: unknown): Reading {
  const milestone = STATES.get(textIn(sale, 'state')?.toLowerCase() ?? '')
  if (milestone === undefined) throw new Unreadable('state is not a sale state that we know')
  const subscription = idOf(textIn(sale, 'billing_agreement_id'))
  const order = orderReference(setup.orderReference, fieldIn(sale, 'invoice_number'), fieldIn(sale, 'custom'))
  const fact = paymentMilestone(paymentSubject(setup.account, requiredId(sale, 'id')), {
    milestone,
    ...totalIn(sale, 'amount'),
    moved_at: milestone === 'succeeded' ? timeIn(sale, 'create_time') : undefined,
    order: subscription === undefined ? order : undefined,
    subscription,
    reason: milestone === 'succeeded' ? undefined : textIn(sale, 'reason_code'),
  })
  return {
    facts: [fact],
    lookups: subscription === undefined ? [] : [{ object: 'subscription', id: subscription }],
  }
}
