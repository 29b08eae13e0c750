import type { Fact } from '../../facts/fact.ts'
import type { PaymentMilestone } from '../../facts/payment.ts'
import { paymentLink, paymentMilestone } from '../../facts/payment.ts'
import { booleanIn, listIn, textIn } from '../field.ts'
import { Unreadable } from '../unreadable.ts'
import { authorizationFact, captureFact } from './capture.ts'
import { orderReference } from './order-reference.ts'
import { type PaypalSetup, paymentSubject, type Reading, requiredId } from './paypal-object.ts'
import { refundFacts } from './refund.ts'

/** A completed order may hold a capture that is still pending: whether money came, its captures tell alone. */
const STATUSES: ReadonlyMap<string, PaymentMilestone> = new Map([
  ['CREATED', 'created'],
  ['SAVED', 'created'],
  ['PAYER_ACTION_REQUIRED', 'requires_action'],
  ['APPROVED', 'pending'],
  ['COMPLETED', 'pending'],
  ['VOIDED', 'canceled'],
])

/**
 * `GET /v2/checkout/orders/{id}`: every capture, refund and authorisation in it. The order itself stands in for its
 * payment, and is linked to it only where there is no doubt which one that is.
 */
export function readOrder(setup: PaypalSetup, order: unknown): Reading {
  const milestone = STATUSES.get(textIn(order, 'status') ?? '')
  if (milestone === undefined) throw new Unreadable('status is not an order status that we know')
  const units = listIn(order, 'purchase_units')
  const parts = (name: string) =>
    units.flatMap((unit) => listIn(unit, 'payments', name).map((part) => ({ part, unit })))
  const captures = parts('captures')
  const authorizations = parts('authorizations')
  const stand_in = paymentSubject(setup.account, requiredId(order, 'id'))
  const facts: Fact[] = [
    paymentMilestone(stand_in, { milestone, order: soleReference(setup, units) }),
    ...captures.map(({ part, unit }) => captureFact(setup, part, unit)),
    ...authorizations.map(({ part, unit }) => authorizationFact(setup, part, unit)),
    ...parts('refunds').flatMap(({ part }) => refundFacts(setup, part)),
  ]
  const [capture] = captures
  if (capture === undefined || captures.length > 1) return { facts }
  if (textIn(order, 'status') !== 'COMPLETED' || booleanIn(capture.part, 'final_capture') === false)
    return { facts }
  const payment = requiredId(capture.part, 'id')
  facts.push(paymentLink(stand_in, payment))
  const [authorization] = authorizations
  if (authorization !== undefined && authorizations.length === 1)
    facts.push(paymentLink(paymentSubject(setup.account, requiredId(authorization.part, 'id')), payment))
  return { facts }
}

/** Purchase units may belong to different orders of ours; then the order as a whole names none. */
function soleReference(setup: PaypalSetup, units: readonly unknown[]): string | undefined {
  const references = units.map((unit) =>
    orderReference(setup.orderReference, textIn(unit, 'invoice_id'), textIn(unit, 'custom_id')),
  )
  return new Set(references).size === 1 ? references[0] : undefined
}
