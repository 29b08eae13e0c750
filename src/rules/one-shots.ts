import type { EffectDue, OneShotEffectDue } from '../facts/effect.ts'
import type { ExceptionDue } from '../facts/exception.ts'
import type { OrderState, RefundDue } from './order-state.ts'
import type { PaymentSummary } from './payment-state.ts'
import { amountText, raise, sortExceptions } from './raise.ts'

/** One one-shot row of an order as it stands in the outbox. */
export interface OneShotBefore {
  readonly topic: string
  readonly cause: string
  readonly state: 'due' | 'done' | 'dead' | 'withdrawn' | 'superseded' | 'discarded'
  readonly attempts: number
  readonly payload: Readonly<Record<string, unknown>>
}

/** A one-shot to be taken back, which only one that was never attempted can be. */
export interface OneShotName {
  readonly topic: OneShotEffectDue['topic']
  readonly cause: string
}

export interface OneShotPlan {
  readonly effects: readonly EffectDue[]
  readonly withdrawn: readonly OneShotName[]
}

/** No worker ever had it, so it can still be taken back. */
export function isUntried({ state, attempts }: Pick<OneShotBefore, 'state' | 'attempts'>): boolean {
  return state === 'due' && attempts === 0
}

/** It went, or may have: a worker had it. Whatever came of that, nobody can say that nothing was done. */
function mayHaveGone({ attempts }: OneShotBefore): boolean {
  return attempts > 0
}

/** Those in the outbox that should have been taken back: nobody tried them, and the order does not call for them. */
export function staleOneShots(
  reference: string,
  sent: readonly OneShotBefore[],
  target: OrderState,
): readonly OneShotName[] {
  const fulfilled = target.entitlements.every(({ state }) => state === 'granted' || state === 'held')
  const receipts = fulfilled ? [] : sent.filter((row) => row.topic === 'receipt.due' && isUntried(row))
  return [
    ...receipts.map(({ cause }): OneShotName => ({ topic: 'receipt.due', cause })),
    ...planRefunds(reference, sent, target).withdrawn,
  ]
}

/**
 * The automatic refunds that are due against those in the outbox. One whose amount changed before anyone tried it is taken
 * back and written anew, and has to stand as long again; one that was tried is never changed.
 */
export function planRefunds(
  reference: string,
  before: readonly OneShotBefore[],
  { refunds_due = [] }: OrderState,
): OneShotPlan {
  const rows = new Map(before.filter(({ topic }) => topic === 'refund.due').map((row) => [row.cause, row]))
  const effects: EffectDue[] = []
  const withdrawn: OneShotName[] = []
  for (const due of refunds_due) {
    const row = rows.get(due.cause)
    rows.delete(due.cause)
    if (row === undefined || row.state === 'withdrawn') effects.push(refund(reference, due))
    else if (isUntried(row) && row.payload.refunded_after_minor !== `${due.refunded_after_minor}`) {
      withdrawn.push({ topic: 'refund.due', cause: due.cause })
      effects.push(refund(reference, due))
    }
  }
  for (const row of rows.values())
    if (isUntried(row)) withdrawn.push({ topic: 'refund.due', cause: row.cause })
  return { effects, withdrawn }
}

function refund(reference: string, due: RefundDue): EffectDue {
  const { cause, namespace, account, payment, currency, delay_ms } = due
  const payload = {
    order: reference,
    namespace,
    account,
    payment,
    amount_minor: `${due.amount_minor}`,
    currency,
    refunded_after_minor: `${due.refunded_after_minor}`,
  }
  return { type: 'one_shot', topic: 'refund.due', item: '-', cause, lane: 'money', payload, delay_ms }
}

/** The order's state, with an exception for each one-shot that went out and is justified by nothing. */
export function withUnjustified(
  reference: string,
  sent: readonly OneShotBefore[],
  target: OrderState,
  payments: readonly PaymentSummary[],
): OrderState {
  const raised = sent.length > 0 ? unjustified(reference, sent, target, payments) : []
  return raised.length === 0
    ? target
    : { ...target, exceptions: sortExceptions([...target.exceptions, ...raised]) }
}

/**
 * What went out, or may have, and nothing that is known now justifies. A receipt stays justified by a price that was once
 * paid in full, whatever went back later; a refund by being due, or by having happened.
 */
function unjustified(
  reference: string,
  sent: readonly OneShotBefore[],
  target: OrderState,
  payments: readonly PaymentSummary[],
): ExceptionDue[] {
  return sent.filter(mayHaveGone).flatMap((row) => {
    if (row.topic === 'receipt.due') return receiptJustified(target) ? [] : [unjustifiedReceipt(reference)]
    if (row.topic !== 'refund.due' || refundJustified(row, target, payments)) return []
    return [unjustifiedRefund(reference, row)]
  })
}

/** Held rights say nothing: what the facts mean is being asked already. */
function receiptJustified({ entitlements }: OrderState): boolean {
  return (
    entitlements.length === 0 ||
    entitlements.some(({ state }) => state === 'held') ||
    !entitlements.some(({ state }) => state === 'none')
  )
}

function refundJustified(
  { cause, payload }: OneShotBefore,
  { refunds_due = [], entitlements }: OrderState,
  payments: readonly PaymentSummary[],
): boolean {
  if (entitlements.some(({ state }) => state === 'held')) return true
  if (refunds_due.some((due) => due.cause === cause)) return true
  const payment = payments.find(
    ({ id, account, namespace }) =>
      id === payload.payment && account === payload.account && namespace === payload.namespace,
  )
  if (payment === undefined) return false
  return payment.refunded_minor + payment.refund_pending_minor >= BigInt(String(payload.refunded_after_minor))
}

function unjustifiedReceipt(reference: string): ExceptionDue {
  const message = `A receipt for order ${reference} went out, or may have, and what is known now says that the order was never paid. Tell the buyer, and find out which message was wrong.`
  return raise('irreversible_effect_unjustified', 'receipt.due/order', 'warning', message)
}

function unjustifiedRefund(reference: string, { cause, payload }: OneShotBefore): ExceptionDue {
  const amount = amountText(BigInt(String(payload.amount_minor)), String(payload.currency))
  const message = `A refund of ${amount} of payment ${payload.payment} was started for order ${reference}, or may have been, and it is not due any more. Look the payment up at the provider: if the money has gone, ask the buyer for it again or write it off.`
  return raise('irreversible_effect_unjustified', `refund.due/${cause}`, 'urgent', message)
}
