import type { RefundMilestone, RefundMilestoneReached } from '../facts/refund.ts'
import type { Conflict } from './conflict.ts'
import { earliest } from './instant.ts'
import type { RefundState, RefundStatus } from './payment-state.ts'
import { REFUND_RANK } from './rank.ts'
import { told } from './told.ts'
import type { StatementOf } from './unite.ts'

/**
 * One refund from all statements about it. Its amount is its own and the same at every milestone, so milestones that
 * tell different amounts are a conflict.
 */
export function deriveRefund(
  refund: string,
  statements: readonly StatementOf<'refund_milestone'>[],
): { state: RefundState; conflicts: readonly Conflict[] } {
  const contents = statements.map((statement) => statement.content)
  const amount = told(contents, 'amount_minor')
  const currency = told(contents, 'currency')
  const origin = told(contents, 'origin')
  const releases = told(contents, 'releases_authorization')
  const conflicts: Conflict[] = []
  for (const [field, values] of Object.entries({ amount_minor: amount.values, currency: currency.values })) {
    if (values.length > 1) {
      conflicts.push({ cause: `refund/${refund}`, detail: `${field} is told as ${values.join(' and ')}` })
    }
  }
  return {
    state: {
      refund,
      status: conflicts.length > 0 ? 'conflicted' : statusOf(contents),
      amount_minor: amount.value,
      currency: currency.value,
      origin: origin.value,
      moved_at: movedAt(contents),
      attempt: told(contents, 'attempt').value,
      releases_authorization: releases.values.includes(true),
      ever_succeeded: contents.some((content) => content.milestone === 'succeeded'),
    },
    conflicts,
  }
}

/** A refund that another payment tells of too: nothing about it is known for sure, and nothing of it counts. */
export function contestedRefund(refund: string): RefundState {
  return {
    refund,
    status: 'conflicted',
    amount_minor: null,
    currency: null,
    origin: null,
    moved_at: null,
    attempt: null,
    releases_authorization: false,
    ever_succeeded: false,
  }
}

function statusOf(contents: readonly RefundMilestoneReached[]): RefundStatus {
  let status: RefundMilestone | 'unknown' = 'unknown'
  for (const { milestone } of contents) {
    if (status === 'unknown' || outranks(milestone, status)) status = milestone
  }
  return status
}

// `failed` and `canceled` share a rank and a meaning (the money stays with us); the one that calls for a person shows.
function outranks(milestone: RefundMilestone, status: RefundMilestone): boolean {
  const [rank, held] = [REFUND_RANK[milestone], REFUND_RANK[status]]
  return rank > held || (rank === held && milestone === 'failed')
}

function movedAt(contents: readonly RefundMilestoneReached[]): string | null {
  return earliest(
    contents.filter((content) => content.milestone === 'succeeded').map((content) => content.moved_at),
  )
}
