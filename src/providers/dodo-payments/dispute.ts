import type { DisputeStage, DisputeStatus } from '../../facts/dispute.ts'
import { disputeStatus } from '../../facts/dispute.ts'
import type { FactOf } from '../../facts/fact.ts'
import { booleanIn, textIn } from '../field.ts'
import { Unreadable } from '../unreadable.ts'
import type { DodoEvent, DodoSetup, Reading } from './dodo-event.ts'
import { codeIn, eventTime, paymentSubject, requiredId } from './dodo-event.ts'

const STAGES: ReadonlyMap<string, DisputeStage> = new Map([
  ['pre_dispute', 'inquiry'],
  ['dispute', 'chargeback'],
  ['pre_arbitration', 'pre_arbitration'],
])

const STATUSES: ReadonlyMap<string, DisputeStatus> = new Map([
  ['dispute_opened', 'needs_response'],
  ['dispute_challenged', 'under_review'],
  ['dispute_accepted', 'accepted'],
  ['dispute_expired', 'lost'],
  ['dispute_cancelled', 'withdrawn'],
  ['dispute_won', 'won'],
  ['dispute_lost', 'lost'],
])

/** `dispute.*`. Stage and status are both the object's: mixed with the type's they could belong to different moments. */
export function readDispute(event: DodoEvent): Reading {
  return { facts: [disputeFact(event.setup, event.object, eventTime(event))] }
}

/**
 * The fact of one dispute object. Its amount is not stated: it is a text whose unit is unconfirmed, so the whole payment
 * counts as disputed.
 * @param at when the provider says so; its creation where nothing later is told
 * @throws Unreadable without ids or with an unknown stage or status
 */
export function disputeFact(setup: DodoSetup, dispute: unknown, at: string): FactOf<'dispute_status'> {
  const stage = STAGES.get(textIn(dispute, 'dispute_stage') ?? '')
  if (stage === undefined) throw new Unreadable('data.dispute_stage is not a dispute stage that we know')
  const raw = textIn(dispute, 'dispute_status') ?? ''
  const status = STATUSES.get(raw)
  if (status === undefined) throw new Unreadable('data.dispute_status is not a dispute status that we know')
  const rapid = booleanIn(dispute, 'is_resolved_by_rdr') === true
  const gone = rapid || raw === 'dispute_accepted' || raw === 'dispute_lost'
  return disputeStatus(paymentSubject(setup, requiredId(dispute, 'payment_id')), {
    dispute: requiredId(dispute, 'dispute_id'),
    // Money that a rapid resolution or a lost pre-dispute gave back is gone, although no chargeback was opened.
    stage: stage === 'inquiry' && gone ? 'chargeback' : stage,
    status,
    at,
    reason: codeIn(dispute, 'reason'),
  })
}
