import type { Fact } from '../../facts/fact.ts'
import type { PaymentMilestone, PaymentMilestoneReached } from '../../facts/payment.ts'
import { paymentMilestone } from '../../facts/payment.ts'
import type { PaymentSubject } from '../../facts/subject.ts'
import type { JsonRecord } from '../field.ts'
import { listIn, textIn } from '../field.ts'
import { Unreadable } from '../unreadable.ts'
import { transactionMoney } from './amount.ts'
import { orderReference } from './order-reference.ts'
import type { PaddleEvent, Reading } from './paddle-event.ts'
import { FOREIGN, ownId, paymentSubject, timeIn } from './paddle-event.ts'

/** The transaction's own status decides, whatever the event is called; `transaction.updated` has no meaning of its own. */
const MILESTONES: ReadonlyMap<string, PaymentMilestone> = new Map([
  ['draft', 'created'],
  ['ready', 'created'],
  ['billed', 'pending'],
  // Captured, but Paddle is still working on it: `completed` follows and is what grants.
  ['paid', 'pending'],
  ['completed', 'succeeded'],
  ['canceled', 'canceled'],
  // Dunning: the attempts that failed are told one by one, and another may still succeed.
  ['past_due', 'pending'],
])

const ATTEMPT_MILESTONES: ReadonlyMap<string, PaymentMilestone> = new Map([
  ['created', 'created'],
  ['authorized', 'authorized'],
  ['authorized_flagged', 'authorized'],
  ['action_required', 'requires_action'],
  ['pending_no_action_required', 'pending'],
  ['captured', 'succeeded'],
  ['canceled', 'canceled'],
  ['error', 'failed'],
  ['dropped', 'failed'],
])

/** `transaction.*`: the payment itself, and each attempt to pay it under its `payment_attempt_id`. */
export function readTransaction(event: PaddleEvent): Reading {
  if (event.type === 'transaction.revised') {
    return { ignored: 'the buyer corrected their details; what is given back comes as an adjustment' }
  }
  const { data, setup } = event
  const reference = orderReference(setup.orderReference, data)
  if (reference.foreign) return FOREIGN
  if (changesMethodOnly(data)) return { ignored: 'a change of the payment method moves no money' }
  return { facts: transactionFacts(event, ordered(data) ? reference.order : undefined) }
}

function transactionFacts(event: PaddleEvent, order: string | undefined): readonly Fact[] {
  const { data, setup } = event
  const milestone = MILESTONES.get(textIn(data, 'status') ?? '')
  if (milestone === undefined) throw new Unreadable('data.status is not a transaction status that we know')
  const subject = paymentSubject(setup, ownId(event))
  const attempts = listIn(data, 'payments').flatMap(
    (attempt) => attemptFact(subject, milestone, attempt) ?? [],
  )
  const told: PaymentMilestoneReached = { milestone, order, subscription: textIn(data, 'subscription_id') }
  const whole = milestone === 'succeeded' ? { ...told, ...collected(event) } : told
  const facts: Fact[] = [paymentMilestone(subject, whole), ...attempts]
  if (event.type === 'transaction.payment_failed' && attempts.length === 0) {
    facts.push(paymentMilestone(subject, { milestone: 'failed', order }))
  }
  return facts
}

/**
 * What moved, and when. With captured attempts each of them tells its own time, so that an event that does not list
 * them yet never contradicts one that does.
 */
function collected({ data, setup }: PaddleEvent): Partial<PaymentMilestoneReached> {
  const captured = listIn(data, 'payments').some((attempt) => textIn(attempt, 'status') === 'captured')
  return {
    ...transactionMoney(data, setup.amounts),
    moved_at: captured ? undefined : timeIn(data, 'billed_at'),
  }
}

/**
 * One attempt, without an amount: the transaction tells it once. Null for an attempt of a status that says nothing or
 * that we do not know, since the money is told by the transaction's status alone.
 */
function attemptFact(subject: PaymentSubject, whole: PaymentMilestone, attempt: unknown): Fact | null {
  const id = textIn(attempt, 'payment_attempt_id')
  const reached = ATTEMPT_MILESTONES.get(textIn(attempt, 'status') ?? '')
  if (id === undefined || reached === undefined) return null
  // The money is not ours before the transaction says so.
  const milestone = reached === 'succeeded' && whole !== 'succeeded' ? 'pending' : reached
  return paymentMilestone(subject, {
    milestone,
    attempt: id,
    moved_at: milestone === 'succeeded' ? timeIn(attempt, 'captured_at') : undefined,
    method: textIn(attempt, 'method_details', 'type'),
    reason: milestone === 'failed' ? failureOf(attempt) : undefined,
  })
}

function failureOf(attempt: unknown): string | undefined {
  return textIn(attempt, 'error_code') ?? (textIn(attempt, 'status') === 'dropped' ? 'dropped' : undefined)
}

/** Completes with zero to store another card; the subscription's custom data would make it look like a purchase. */
function changesMethodOnly(transaction: JsonRecord): boolean {
  if (textIn(transaction, 'origin') !== 'subscription_payment_method_change') return false
  const total = textIn(transaction, 'details', 'totals', 'grand_total')
  return total === undefined || total === '0'
}

/**
 * Renewals, charges and updates of a subscription carry its custom data: they are money of later periods and do not
 * pay the order that began it.
 */
function ordered(transaction: JsonRecord): boolean {
  return !/^subscription_/.test(textIn(transaction, 'origin') ?? '')
}

/** When the buyer's money moved: the first capture, else (wire, nothing to pay) when it was billed. */
export function movedAt(transaction: unknown): string | undefined {
  const captures = listIn(transaction, 'payments')
    .filter((attempt) => textIn(attempt, 'status') === 'captured')
    .flatMap((attempt) => timeIn(attempt, 'captured_at') ?? [])
  return captures.sort()[0] ?? timeIn(transaction, 'billed_at')
}
