import type { FactOf } from './fact.ts'
import type { PaymentSubject } from './subject.ts'

/** How far a refund has come. `failed` may follow `succeeded` days later; `reversed` means the money came back to us. */
export type RefundMilestone =
  | 'requested'
  | 'pending'
  | 'requires_action'
  | 'succeeded'
  | 'failed'
  | 'canceled'
  | 'reversed'

export type RefundOrigin = 'ours' | 'external' | 'provider_automatic' | 'dispute_prevention'

/** "Refund re_1 of 5.00 USD reached succeeded." */
export interface RefundMilestoneReached {
  readonly refund: string
  readonly milestone: RefundMilestone
  /** This refund's own amount, never a running total; minor units of `currency`. */
  readonly amount_minor?: bigint | undefined
  readonly currency?: string | undefined
  /** The attempt that is given back. */
  readonly attempt?: string | undefined
  readonly moved_at?: string | undefined
  readonly origin?: RefundOrigin | undefined
  readonly order?: string | undefined
  readonly reason?: string | undefined
  /** True when no money had been captured: a released authorisation that the provider shows as a refund. */
  readonly releases_authorization?: boolean | undefined
  /** The key under which we asked for it, where the provider gives it back; tells whose refund it is. */
  readonly operation?: string | undefined
}

/**
 * "The provider counts 15.00 USD refunded so far." Not monotone (it drops when a refund fails), so each figure is a
 * statement of its own and only ever feeds a check against the refunds that we know by id, except where there are no ids.
 */
export interface RefundTotal {
  /** The provider has no ids of refunds, so this figure is all that it ever tells and stands for one. */
  readonly without_ids?: true | undefined
  readonly attempt?: string | undefined
  readonly total_minor: bigint
  readonly currency: string
}

export function refundMilestone(
  subject: PaymentSubject,
  content: RefundMilestoneReached,
): FactOf<'refund_milestone'> {
  return { subject, key: `refund/${content.refund}/${content.milestone}`, kind: 'refund_milestone', content }
}

export function refundTotal(subject: PaymentSubject, content: RefundTotal): FactOf<'refund_total'> {
  const key = `refund_total/${content.attempt ?? 'payment'}/${content.total_minor}`
  return { subject, key, kind: 'refund_total', content }
}
