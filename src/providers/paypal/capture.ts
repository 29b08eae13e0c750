import type { FactOf } from '../../facts/fact.ts'
import type { PaymentMilestone } from '../../facts/payment.ts'
import { paymentMilestone } from '../../facts/payment.ts'
import { fieldIn, textIn } from '../field.ts'
import { Unreadable } from '../unreadable.ts'
import { moneyIn } from './amount.ts'
import { orderReference } from './order-reference.ts'
import {
  checkPayee,
  idOf,
  type PaypalSetup,
  paymentSubject,
  type Reading,
  requiredId,
  timeIn,
} from './paypal-object.ts'

/** A capture that was given back in part or in full was paid all the same: its refunds are told by themselves. */
const CAPTURE: ReadonlyMap<string, PaymentMilestone> = new Map([
  ['PENDING', 'pending'],
  ['COMPLETED', 'succeeded'],
  ['PARTIALLY_REFUNDED', 'succeeded'],
  ['REFUNDED', 'succeeded'],
  ['DECLINED', 'failed'],
  ['FAILED', 'failed'],
])

const AUTHORIZATION: ReadonlyMap<string, PaymentMilestone> = new Map([
  ['CREATED', 'authorized'],
  ['CAPTURED', 'authorized'],
  ['PARTIALLY_CAPTURED', 'authorized'],
  ['PENDING', 'pending'],
  ['DENIED', 'failed'],
  ['VOIDED', 'canceled'],
  ['EXPIRED', 'expired'],
])

/** `GET /v2/payments/captures/{id}`; its order, which also lists refunds, is asked about next. */
export function readCapture(setup: PaypalSetup, capture: unknown): Reading {
  const order = idOf(textIn(capture, 'supplementary_data', 'related_ids', 'order_id'))
  return {
    facts: [captureFact(setup, capture)],
    lookups: order === undefined ? [] : [{ object: 'order', id: order }],
  }
}

/** @param unit the purchase unit that holds it, where it was read as a part of an order */
export function captureFact(
  setup: PaypalSetup,
  capture: unknown,
  unit?: unknown,
): FactOf<'payment_milestone'> {
  checkPayee(setup, textIn(capture, 'payee', 'merchant_id') ?? textIn(unit, 'payee', 'merchant_id'))
  const milestone = CAPTURE.get(textIn(capture, 'status') ?? '')
  if (milestone === undefined) throw new Unreadable('status is not a capture status that we know')
  const reason = textIn(capture, 'status_details', 'reason')
  return paymentMilestone(paymentSubject(setup.account, requiredId(capture, 'id')), {
    milestone,
    ...moneyIn(capture, 'amount'),
    // The payer's act; a later clearing only changes `update_time`.
    moved_at: milestone === 'succeeded' ? timeIn(capture, 'create_time') : undefined,
    order: referenceOf(setup, capture, unit),
    reason: milestone === 'succeeded' ? undefined : reason,
  })
}

/** `GET /v2/payments/authorizations/{id}`: money that is held, told of the authorisation until a capture names it. */
export function readAuthorization(setup: PaypalSetup, authorization: unknown): Reading {
  return { facts: [authorizationFact(setup, authorization)] }
}

export function authorizationFact(
  setup: PaypalSetup,
  authorization: unknown,
  unit?: unknown,
): FactOf<'payment_milestone'> {
  checkPayee(setup, textIn(authorization, 'payee', 'merchant_id') ?? textIn(unit, 'payee', 'merchant_id'))
  const milestone = AUTHORIZATION.get(textIn(authorization, 'status') ?? '')
  if (milestone === undefined) throw new Unreadable('status is not an authorization status that we know')
  return paymentMilestone(paymentSubject(setup.account, requiredId(authorization, 'id')), {
    milestone,
    ...moneyIn(authorization, 'amount'),
    order: referenceOf(setup, authorization, unit),
    reason: milestone === 'authorized' ? undefined : textIn(authorization, 'status_details', 'reason'),
  })
}

function referenceOf(setup: PaypalSetup, object: unknown, unit: unknown): string | undefined {
  const named = (field: string) => fieldIn(object, field) ?? fieldIn(unit, field)
  return orderReference(setup.orderReference, named('invoice_id'), named('custom_id'))
}
