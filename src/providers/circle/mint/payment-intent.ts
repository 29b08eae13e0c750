import type { Fact } from '../../../facts/fact.ts'
import { paymentLink, paymentMilestone } from '../../../facts/payment.ts'
import { refundTotal } from '../../../facts/refund.ts'
import type { PaymentSubject } from '../../../facts/subject.ts'
import { cleanText, listIn, textIn, utcTime } from '../../field.ts'
import { Unreadable } from '../../unreadable.ts'
import type { Reading } from '../reading.ts'
import { paymentSubject, required } from '../reading.ts'
import { moneyIn } from './money.ts'
import type { MintSetup } from './payment.ts'
import { orderOf } from './payment.ts'

interface Step {
  readonly status: string
  readonly time_ms: number
}

const STATUSES = new Set(['created', 'active', 'pending', 'complete', 'expired', 'failed', 'refunded'])

/**
 * The object `paymentIntent`: an offer to pay, not money. The money is in its payments, each told by itself, so that an
 * intent never states a success. It stands in for its payment while it has exactly one.
 */
export function readPaymentIntent(setup: MintSetup, object: unknown): Reading {
  const id = required(object, 'id')
  if (textIn(object, 'type') === 'continuous') {
    return { ignored: 'an intent without an end: each of its payments is told by itself' }
  }
  const { status } = latestStep(object)
  const subject = paymentSubject(setup, id)
  const payments = idsIn(object, 'paymentIds')
  const stated = [...linkOf(subject, payments), ...refundsOf(setup, object, subject)]
  if (payments.length > 0) {
    const lookups = [...payments, ...idsIn(object, 'refundIds')].map((payment) => ({
      object: 'payment',
      id: payment,
    }))
    return { facts: stated, lookups }
  }
  if (status === 'complete' || status === 'refunded')
    throw new Unreadable(`paymentIds is missing although ${status}`)
  return { facts: [unpaid(setup, object, subject, status)] }
}

function linkOf(subject: PaymentSubject, payments: readonly string[]): readonly Fact[] {
  const [payment] = payments
  return payments.length === 1 && payment !== undefined ? [paymentLink(subject, payment)] : []
}

/** A running total, which only feeds a check. */
function refundsOf(setup: MintSetup, object: unknown, subject: PaymentSubject): readonly Fact[] {
  const total = moneyIn(setup.tokens, object, 'amountRefunded')
  if (total === undefined || total.amount_minor === 0n) return []
  return [refundTotal(subject, { total_minor: total.amount_minor, currency: total.currency })]
}

/** An intent that nobody has paid. */
function unpaid(setup: MintSetup, object: unknown, subject: PaymentSubject, status: string): Fact {
  const order = orderOf(setup, object, undefined)
  switch (status) {
    case 'created':
      return paymentMilestone(subject, {
        milestone: 'created',
        ...moneyIn(setup.tokens, object, 'amount'),
        order,
      })
    case 'expired':
      return paymentMilestone(subject, { milestone: 'expired', order })
    case 'failed':
      return paymentMilestone(subject, { milestone: 'failed', order })
    default:
      return paymentMilestone(subject, { milestone: 'pending', order })
  }
}

/** The newest by its time: the list is newest first in Circle's examples, which nothing promises. */
function latestStep(object: unknown): Step {
  const steps = listIn(object, 'timeline').map((entry) => {
    const status = textIn(entry, 'status') ?? ''
    const time = utcTime(textIn(entry, 'time'))
    if (!STATUSES.has(status) || time === null)
      throw new Unreadable('timeline has a status or time that we do not know')
    return { status, time_ms: Date.parse(time) }
  })
  const [first, ...rest] = steps
  if (first === undefined) throw new Unreadable('timeline is missing')
  return rest.reduce((newest, step) => (step.time_ms > newest.time_ms ? step : newest), first)
}

function idsIn(object: unknown, field: string): readonly string[] {
  return listIn(object, field).map((value) => {
    const id = cleanText(value)
    if (id === undefined) throw new Unreadable(`${field} holds something that is no id`)
    return id
  })
}
