import type { Fact } from '../../facts/fact.ts'
import { paymentMilestone } from '../../facts/payment.ts'
import type { RefundMilestone } from '../../facts/refund.ts'
import { refundMilestone, refundTotal } from '../../facts/refund.ts'
import { recordIn, textIn } from '../field.ts'
import { Unreadable } from '../unreadable.ts'
import { moneyIn, type PaypalMoney, totalIn } from './amount.ts'
import {
  checkPayee,
  linkedId,
  type PaypalSetup,
  paymentSubject,
  type Reading,
  requiredId,
  timeIn,
} from './paypal-object.ts'

const STATUSES: ReadonlyMap<string, RefundMilestone> = new Map([
  ['COMPLETED', 'succeeded'],
  ['PENDING', 'pending'],
  ['FAILED', 'failed'],
  ['CANCELLED', 'canceled'],
])

/** `GET /v2/payments/refunds/{id}`; its capture is asked about next, should that not be known yet. */
export function readRefund(setup: PaypalSetup, refund: unknown): Reading {
  return {
    facts: refundFacts(setup, refund),
    lookups: [{ object: 'capture', id: captureOf(refund) }],
  }
}

/**
 * One refund with its own amount, and PayPal's running total, which only feeds a check. A refund can be given a
 * reference of its own, so it names no order.
 */
export function refundFacts(setup: PaypalSetup, refund: unknown): readonly Fact[] {
  checkPayee(setup, textIn(refund, 'payer', 'merchant_id'))
  const subject = paymentSubject(setup.account, captureOf(refund))
  const facts: Fact[] = [
    refundMilestone(subject, {
      refund: requiredId(refund, 'id'),
      milestone: milestoneOf(textIn(refund, 'status')),
      ...moneyIn(refund, 'amount'),
      ...movedAt(refund, textIn(refund, 'status')),
    }),
  ]
  if (recordIn(refund, 'seller_payable_breakdown', 'total_refunded_amount') !== undefined) {
    const total = moneyIn(refund, 'seller_payable_breakdown', 'total_refunded_amount')
    facts.push(refundTotal(subject, { total_minor: total.amount_minor, currency: total.currency }))
  }
  return facts
}

/** The capture that a refund gives back: only its link `up` names it. @throws Unreadable when it has none */
export function captureOf(refund: unknown): string {
  const capture = linkedId(refund, 'up', 'captures')
  if (capture === undefined) throw new Unreadable('no link leads up to a capture')
  return capture
}

/** What PayPal took back without a dispute; told like a refund by the API, but nobody asked us for it. */
export function reversalFact(setup: PaypalSetup, payment: string, money: PaypalMoney): Fact {
  return paymentMilestone(paymentSubject(setup.account, payment), { milestone: 'reversed', ...money })
}

/** `GET /v1/payments/refund/{id}`: the refund of a sale. */
export function readSaleRefund(setup: PaypalSetup, refund: unknown): Reading {
  const sale = saleOf(refund)
  const status = textIn(refund, 'state')?.toUpperCase()
  const fact = refundMilestone(paymentSubject(setup.account, sale), {
    refund: requiredId(refund, 'id'),
    milestone: milestoneOf(status),
    ...totalIn(refund, 'amount'),
    ...movedAt(refund, status),
  })
  return { facts: [fact], lookups: [{ object: 'sale', id: sale }] }
}

export function saleOf(refund: unknown): string {
  return requiredId(refund, 'sale_id')
}

function milestoneOf(status: string | undefined): RefundMilestone {
  const milestone = STATUSES.get(status ?? '')
  if (milestone === undefined) throw new Unreadable('status is not a refund status that we know')
  return milestone
}

function movedAt(refund: unknown, status: string | undefined) {
  return status === 'COMPLETED' ? { moved_at: timeIn(refund, 'create_time') } : {}
}
