import type { FactOf } from '../../facts/fact.ts'
import type { RefundMilestone } from '../../facts/refund.ts'
import { refundMilestone } from '../../facts/refund.ts'
import { fieldIn, textIn, utcTime } from '../field.ts'
import { Unreadable } from '../unreadable.ts'
import type { DodoEvent, DodoSetup, Reading } from './dodo-event.ts'
import { paymentSubject, REFUND_KEY, requiredId } from './dodo-event.ts'
import { statedRefund } from './stated-money.ts'

const MILESTONES: ReadonlyMap<string, RefundMilestone> = new Map([
  ['succeeded', 'succeeded'],
  ['failed', 'failed'],
  ['pending', 'pending'],
  ['review', 'pending'],
])

/** `refund.*`: one refund. Its state is the object's, since type and object may disagree. */
export function readRefund({ object, setup }: DodoEvent): Reading {
  const fact = refundFact(setup, object)
  const untold = fact.content.amount_minor === undefined
  return untold
    ? { facts: [fact], lookups: [{ object: 'payment', id: requiredId(object, 'payment_id') }] }
    : { facts: [fact] }
}

/**
 * The fact of one refund object.
 * @param payment the full payment that it belongs to, where it is known
 * @throws Unreadable without ids or with an unknown status
 */
export function refundFact(setup: DodoSetup, refund: unknown, payment?: unknown): FactOf<'refund_milestone'> {
  const milestone = MILESTONES.get(textIn(refund, 'status') ?? '')
  if (milestone === undefined) throw new Unreadable('data.status is not a refund status that we know')
  const operation = textIn(refund, 'metadata', REFUND_KEY)
  const ours = fieldIn(refund, 'metadata', REFUND_KEY) !== undefined
  return refundMilestone(paymentSubject(setup, requiredId(refund, 'payment_id')), {
    refund: requiredId(refund, 'refund_id'),
    milestone,
    ...statedRefund(setup.orderTotals, refund, payment),
    moved_at: milestone === 'succeeded' ? (utcTime(textIn(refund, 'created_at')) ?? undefined) : undefined,
    origin: ours ? 'ours' : undefined,
    operation,
  })
}
