import type { DisputeStage, DisputeStatus } from '../facts/dispute.ts'
import type { PaymentMilestone } from '../facts/payment.ts'
import type { RefundMilestone } from '../facts/refund.ts'
import type { SubscriptionStatus } from '../facts/subscription.ts'

/**
 * What we believe about the providers' machines, in one place. Milestones are ordered by rank and never by time:
 * the highest one known is the state, so a late message can not move it back. Where a machine has a way back, no
 * rank can be right; such pairs are listed as unordered.
 */
export const PAYMENT_RANK: Readonly<Record<PaymentMilestone, number>> = {
  created: 0,
  requires_action: 1,
  pending: 2,
  authorized: 3,
  // Below `succeeded`: an attempt that failed may be tried again under the same id, and its old failure may come late.
  // A debit that the bank takes back after success is `reversed`, never `failed`.
  failed: 4,
  canceled: 5,
  // Beside `canceled`: both end an attempt without money. Below `succeeded`: money that comes after an offer ran out
  // (a crypto invoice) is money all the same; whether it was in time, the order's terms decide.
  expired: 5,
  succeeded: 6,
  reversed: 7,
}

/**
 * Milestones of one object of which neither outranks the other, as long as no higher one is known. `canceled` may be an
 * old cancellation of an earlier try told late, or a void after capture: in the first case the money is ours, in the
 * second it never comes. No rank can tell.
 */
export const UNORDERED_PAYMENT_PAIRS: readonly (readonly [PaymentMilestone, PaymentMilestone])[] = [
  ['canceled', 'succeeded'],
]

export const REFUND_RANK: Readonly<Record<RefundMilestone, number>> = {
  requested: 0,
  pending: 1,
  requires_action: 2,
  succeeded: 3,
  // Above `succeeded`: a refund that the payee's bank sends back fails days after it was reported done.
  failed: 4,
  canceled: 4,
  reversed: 5,
}

/** A later stage replaces an earlier one, whatever that one's verdict was. */
export const DISPUTE_STAGE_RANK: Readonly<Record<DisputeStage, number>> = {
  early_warning: 0,
  inquiry: 1,
  chargeback: 2,
  pre_arbitration: 3,
  second_chargeback: 4,
  arbitration: 5,
}

/** Stages in which the scheme takes the money; the earlier ones only ask or warn. */
export const FIRST_STAGE_WITH_MONEY = DISPUTE_STAGE_RANK.chargeback

/** What a dispute status means for the money. Statuses with one meaning never contradict each other. */
export type DisputeMeaning = 'open' | 'lost' | 'released' | 'partial'

export const DISPUTE_MEANING: Readonly<Record<DisputeStatus, DisputeMeaning>> = {
  needs_response: 'open',
  under_review: 'open',
  lost: 'lost',
  accepted: 'lost',
  won: 'released',
  withdrawn: 'released',
  // The money went back as a refund of its own, which is what counts.
  prevented: 'released',
  partially_won: 'partial',
}

/** Breaks a tie between statuses that mean the same, told for one instant; it never decides about money. */
export const DISPUTE_STATUS_RANK: Readonly<Record<DisputeStatus, number>> = {
  needs_response: 0,
  under_review: 1,
  withdrawn: 2,
  prevented: 3,
  won: 4,
  accepted: 5,
  lost: 6,
  partially_won: 7,
}

/** Once told, nothing later counts: a subscription that starts again does so under a new id. */
export const FINAL_SUBSCRIPTION_STATUSES: readonly SubscriptionStatus[] = ['canceled', 'expired']

/** No provider goes back to it, so at one instant any other status is the newer one. */
export const FIRST_SUBSCRIPTION_STATUS: SubscriptionStatus = 'incomplete'
