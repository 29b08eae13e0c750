import type { DisputeStage, DisputeStatus } from '../../facts/dispute.ts'
import { disputeFunds, disputeStatus } from '../../facts/dispute.ts'
import type { Fact } from '../../facts/fact.ts'
import type { RefundMilestone } from '../../facts/refund.ts'
import { refundMilestone } from '../../facts/refund.ts'
import type { PaymentSubject } from '../../facts/subject.ts'
import { textIn } from '../field.ts'
import { Unreadable } from '../unreadable.ts'
import { adjustmentMoney } from './amount.ts'
import type { PaddleEvent, Reading } from './paddle-event.ts'
import { ownId, paymentSubject, timeIn, toldAt } from './paddle-event.ts'

/**
 * `adjustment.*`: money going back, one object per refund or chargeback, with its own amount. Action and status
 * together say what it means; the type of the event says nothing.
 */
export function readAdjustment(event: PaddleEvent): Reading {
  const action = textIn(event.data, 'action')
  switch (action) {
    case 'refund':
      return { facts: [refundFact(event)] }
    case 'chargeback':
    case 'chargeback_warning':
      return { facts: disputeFacts(event, action) }
    case 'chargeback_reverse':
    case 'chargeback_warning_reverse':
      return reversal(event, action)
    case 'credit':
    case 'credit_reverse':
      return { ignored: 'a credit to an invoice or balance moves no money of the buyer' }
    default:
      throw new Unreadable('data.action is not an adjustment that we know')
  }
}

const REFUNDS: ReadonlyMap<string, RefundMilestone> = new Map([
  ['pending_approval', 'pending'],
  ['approved', 'succeeded'],
  ['rejected', 'failed'],
  ['reversed', 'reversed'],
])

/**
 * Without the time when it moved: only `updated_at` could tell, and that may move on after the approval. Without the
 * reason: it is free text that people write in the dashboard.
 */
function refundFact(event: PaddleEvent): Fact {
  const milestone = REFUNDS.get(statusOf(event))
  if (milestone === undefined) throw unknownStatus()
  return refundMilestone(adjustedPayment(event), {
    refund: ownId(event),
    milestone,
    ...adjustmentMoney(event.data, event.setup.amounts),
    operation: KEY_IN_REASON.exec(textIn(event.data, 'reason') ?? '')?.[1],
  })
}

/** Our key, as refunds that we ask for carry it at the end of their reason. */
const KEY_IN_REASON = /\[paidonce ([^\]]+)\]$/

const DISPUTES: ReadonlyMap<string, DisputeStatus> = new Map([
  // Paddle answers the bank itself, so nothing is asked of us.
  ['pending_approval', 'under_review'],
  ['approved', 'under_review'],
  ['rejected', 'withdrawn'],
  ['reversed', 'won'],
])

/** A chargeback takes the money at once; a warning only announces. A reversed one was won, or lifted. */
function disputeFacts(event: PaddleEvent, action: 'chargeback' | 'chargeback_warning'): readonly Fact[] {
  const status = statusOf(event)
  const reached = DISPUTES.get(status)
  if (reached === undefined) throw unknownStatus()
  if (action === 'chargeback_warning') {
    return [disputeFact(event, 'early_warning', reached === 'won' ? 'withdrawn' : reached)]
  }
  const taken = status === 'approved' || status === 'reversed'
  const told = disputeFact(event, 'chargeback', reached)
  return taken ? [told, fundsFact(event, 'withdrawn')] : [told]
}

/**
 * The adjustment that gives a chargeback back does not name it. Its money is told under its own id, as a dispute
 * already won; that the chargeback itself is won is told by the chargeback's own status, `reversed`, which is asked for.
 */
function reversal(event: PaddleEvent, action: 'chargeback_reverse' | 'chargeback_warning_reverse'): Reading {
  const status = statusOf(event)
  if (!DISPUTES.has(status)) throw unknownStatus()
  if (status !== 'approved') return { ignored: 'a reversal counts once it is approved' }
  const subject = adjustedPayment(event)
  const lookups = [{ object: 'transaction', id: subject.id }]
  if (action === 'chargeback_warning_reverse') {
    return { facts: [disputeFact(event, 'early_warning', 'withdrawn')], lookups }
  }
  return { facts: [disputeFact(event, 'chargeback', 'won'), fundsFact(event, 'reinstated')], lookups }
}

function disputeFact(event: PaddleEvent, stage: DisputeStage, status: DisputeStatus): Fact {
  return disputeStatus(adjustedPayment(event), {
    dispute: ownId(event),
    stage,
    status,
    at: timeIn(event.data, 'updated_at') ?? toldAt(event),
    ...adjustmentMoney(event.data, event.setup.amounts),
  })
}

function fundsFact(event: PaddleEvent, direction: 'withdrawn' | 'reinstated'): Fact {
  const dispute = ownId(event)
  return disputeFunds(adjustedPayment(event), {
    dispute,
    direction,
    ...adjustmentMoney(event.data, event.setup.amounts),
    transaction: dispute,
    moved_at: timeIn(event.data, 'created_at'),
  })
}

function adjustedPayment(event: PaddleEvent): PaymentSubject {
  const payment = textIn(event.data, 'transaction_id')
  if (payment === undefined) throw new Unreadable('data.transaction_id is missing')
  return paymentSubject(event.setup, payment)
}

function statusOf(event: PaddleEvent): string {
  return textIn(event.data, 'status') ?? ''
}

function unknownStatus(): Unreadable {
  return new Unreadable('data.status is not an adjustment status that we know')
}
