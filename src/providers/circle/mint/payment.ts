import type { Fact } from '../../../facts/fact.ts'
import type { PaymentMilestone, PaymentMilestoneReached } from '../../../facts/payment.ts'
import { paymentMilestone } from '../../../facts/payment.ts'
import type { RefundMilestone } from '../../../facts/refund.ts'
import { refundMilestone } from '../../../facts/refund.ts'
import type { PaymentSubject } from '../../../facts/subject.ts'
import type { Token } from '../../../money/currency.ts'
import { listIn, recordIn, textIn, utcTime } from '../../field.ts'
import { Unreadable } from '../../unreadable.ts'
import type { Owner, Reading } from '../reading.ts'
import { ownAnswer, paymentSubject, required } from '../reading.ts'
import { moneyIn, requiredMoney } from './money.ts'

/** What of a payment or payment intent can tell whose order it is, for `orderOf`. */
export interface MintReference {
  /** Id of the payment; undefined where an intent is told of before anybody paid. */
  readonly payment: string | undefined
  /** Id of the payment intent, which you get when you create it. */
  readonly paymentIntent: string | undefined
  readonly merchantWalletId: string | undefined
}

export interface MintSetup extends Owner {
  readonly tokens: readonly Token[]
  readonly orderOf: ((reference: MintReference) => string | undefined) | undefined
}

const MILESTONES = new Map<string, PaymentMilestone>([
  ['pending', 'pending'],
  ['action_required', 'requires_action'],
  // Approved, and not settled yet.
  ['confirmed', 'pending'],
  ['paid', 'succeeded'],
  ['failed', 'failed'],
  ['reversed', 'reversed'],
])

const REFUND_MILESTONES = new Map<string, RefundMilestone>([
  ['pending', 'pending'],
  ['confirmed', 'pending'],
  ['paid', 'succeeded'],
  ['failed', 'failed'],
])

/** The object `payment`: a payment, a refund or a cancellation, by its `type`. */
export function readPayment(setup: MintSetup, object: unknown): Reading {
  switch (textIn(object, 'type')) {
    case 'payment':
      return { facts: paymentFacts(setup, object) }
    case 'refund':
      return { facts: [refundFact(setup, object, givenBack(setup, object), true)] }
    case 'cancel':
      return { facts: [cancelFact(setup, object, givenBack(setup, object), originalStatus(object))] }
    default:
      throw new Unreadable('payment.type is neither payment, refund nor cancel')
  }
}

function paymentFacts(setup: MintSetup, object: unknown): readonly Fact[] {
  const id = required(object, 'id')
  const subject = paymentSubject(setup, id)
  const status = textIn(object, 'status') ?? ''
  const refunds = listIn(object, 'refunds').filter((refund) => isWhole(refund))
  const cancel = recordIn(object, 'cancel')
  return [
    paymentMilestone(subject, milestoneOf(setup, object, status, id)),
    ...refunds.map((refund) => refundFact(setup, refund, subject, false)),
    ...(isWhole(cancel) ? [cancelFact(setup, cancel, subject, status)] : []),
  ]
}

function milestoneOf(setup: MintSetup, object: unknown, status: string, id: string): PaymentMilestoneReached {
  const reason = textIn(object, 'errorCode')
  const told = MILESTONES.get(status)
  if (told === undefined) throw new Unreadable('payment.status is not a payment status that we know')
  // A bank debit that was sent back after it had been paid; below `paid` a plain failure would not count.
  const milestone = told === 'failed' && reason === 'payment_returned' ? 'reversed' : told
  const order = orderOf(setup, object, id)
  const method =
    textIn(object, 'source', 'type') ?? (textIn(object, 'paymentIntentId') ? 'crypto' : undefined)
  const common = { milestone, order, method }
  if (milestone !== 'succeeded') return { ...common, reason: milestone === 'failed' ? reason : undefined }
  return { ...common, ...paidMoney(setup, object), moved_at: timeIn(object) }
}

/** What the payer paid, before Circle's fees; of a card payment what was captured of it. */
function paidMoney(setup: MintSetup, object: unknown) {
  return moneyIn(setup.tokens, object, 'captureAmount') ?? requiredMoney(setup.tokens, object, 'amount')
}

export function orderOf(setup: MintSetup, object: unknown, payment: string | undefined): string | undefined {
  const paymentIntent = payment === undefined ? textIn(object, 'id') : textIn(object, 'paymentIntentId')
  const merchantWalletId = textIn(object, 'merchantWalletId')
  return ownAnswer('orderOf', setup.orderOf?.({ payment, paymentIntent, merchantWalletId }))
}

/** A refund names its payment, or (on a chain) only the intent, which then stands in for it. */
function givenBack(setup: MintSetup, object: unknown): PaymentSubject {
  const id = textIn(object, 'originalPayment', 'id') ?? textIn(object, 'paymentIntentId')
  if (id === undefined) throw new Unreadable('payment names neither originalPayment nor paymentIntentId')
  return paymentSubject(setup, id)
}

function refundFact(setup: MintSetup, object: unknown, subject: PaymentSubject, own: boolean): Fact {
  const milestone = REFUND_MILESTONES.get(textIn(object, 'status') ?? '')
  if (milestone === undefined) throw new Unreadable('status is not a refund status that we know')
  const money = moneyIn(setup.tokens, object, 'amount')
  if (money === undefined && milestone === 'succeeded') throw new Unreadable('amount.amount is missing')
  return refundMilestone(subject, {
    refund: required(object, 'id'),
    milestone,
    ...money,
    moved_at: milestone === 'succeeded' ? timeIn(object) : undefined,
    reason: own && milestone === 'failed' ? textIn(object, 'errorCode') : undefined,
  })
}

/** A cancellation of what was not paid yet ends the payment; of what was paid, it gives the money back. */
function cancelFact(setup: MintSetup, object: unknown, subject: PaymentSubject, original: string): Fact {
  if (original === 'paid') return refundFact(setup, object, subject, false)
  const status = textIn(object, 'status') ?? ''
  if (!REFUND_MILESTONES.has(status)) throw new Unreadable('status is not a cancellation status that we know')
  if (status !== 'paid') return paymentMilestone(subject, { milestone: 'pending' })
  return paymentMilestone(subject, { milestone: 'canceled' })
}

function originalStatus(object: unknown): string {
  return textIn(object, 'originalPayment', 'status') ?? ''
}

/** Inside a payment some objects are cut short; those tell nothing. */
function isWhole(object: unknown): boolean {
  return textIn(object, 'id') !== undefined && textIn(object, 'status') !== undefined
}

/** `createDate` never changes; `updateDate` does, with every refund. */
function timeIn(object: unknown): string | undefined {
  return utcTime(textIn(object, 'createDate')) ?? undefined
}
