import type { FactOf } from './fact.ts'
import type { PaymentSubject } from './subject.ts'

export type DisputeStage =
  | 'early_warning'
  | 'inquiry'
  | 'chargeback'
  | 'pre_arbitration'
  | 'second_chargeback'
  | 'arbitration'

export type DisputeStatus =
  | 'needs_response'
  | 'under_review'
  | 'accepted'
  | 'won'
  | 'lost'
  | 'prevented'
  /** An inquiry closed without money moving. */
  | 'withdrawn'
  | 'partially_won'

/**
 * "Dispute du_1 is at stage chargeback and needs a response by then." A dispute may be won, then lost, then won, so
 * the provider's time stands in the key: a return to a former state is a new fact.
 */
export interface DisputeStatusReached {
  readonly dispute: string
  readonly stage: DisputeStage
  readonly status: DisputeStatus
  /** The provider's time of this statement, ISO 8601 UTC. */
  readonly at: string
  /** What is disputed; may differ from the payment's amount and, through exchange rates, exceed it. */
  readonly amount_minor?: bigint | undefined
  readonly currency?: string | undefined
  readonly attempt?: string | undefined
  /** Evidence deadline; left out where the provider gives none. */
  readonly respond_by?: string | undefined
  readonly reason?: string | undefined
  readonly order?: string | undefined
  /** Event that told it, where the provider's clock has only whole seconds: two statements of one second stay two facts. */
  readonly event?: string | undefined
}

/** "Balance transaction txn_1 withdrew 84.00 USD for dispute du_1." Money is told apart from the verdict. */
export interface DisputeFunds {
  readonly dispute: string
  readonly direction: 'withdrawn' | 'reinstated'
  /** Always positive; the direction says which way. */
  readonly amount_minor: bigint
  readonly currency: string
  /** The provider's id of the movement, or a stable stand-in where it has none. */
  readonly transaction: string
  readonly moved_at?: string | undefined
}

export function disputeStatus(
  subject: PaymentSubject,
  content: DisputeStatusReached,
): FactOf<'dispute_status'> {
  const told = content.event === undefined ? content.at : `${content.at}/${content.event}`
  const key = `dispute/${content.dispute}/${content.stage}/${content.status}/${told}`
  return { subject, key, kind: 'dispute_status', content }
}

export function disputeFunds(subject: PaymentSubject, content: DisputeFunds): FactOf<'dispute_funds'> {
  const key = `dispute_funds/${content.dispute}/${content.direction}/${content.transaction}`
  return { subject, key, kind: 'dispute_funds', content }
}
