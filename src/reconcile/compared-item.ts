import type { Fact } from '../facts/fact.ts'
import type { ListedItem } from '../providers/lookup.ts'
import { derivePayment } from '../rules/derive-payment.ts'
import type { ReconciledKind, TheirSide } from '../rules/reconcile.ts'

/** One object of a list or a file, in the words in which we know it ourselves. */
export interface ComparedItem {
  readonly kind: ReconciledKind
  /** The provider's id, as our rows have it. */
  readonly id: string
  /** Id of the payment that it belongs to; its own for a payment, null where nobody tells. */
  readonly payment: string | null
  readonly side: Omit<TheirSide, 'payment_known'>
  /** What a webhook about it would state; nothing for a line of a file. */
  readonly facts: readonly Fact[]
  /** `file <digest> line <n>`; empty for a list. */
  readonly place: string
}

const NOTHING_SAID = { fee_minor: null, original: null }

/** A listed object as its own facts, folded by the rules, say it is: both sides speak the same words. */
export function comparedItem(item: ListedItem): ComparedItem {
  const common = { kind: item.kind, facts: item.facts, place: '' }
  const { id, payment } = idsOf(item)
  const listed = { amount_minor: item.amount_minor, currency: item.currency, ...NOTHING_SAID }
  if (item.facts.length === 0) {
    return { ...common, id, payment, side: { ...listed, status: null, foreign: true } }
  }
  const told = sideOf(item.kind, id, item.facts)
  return {
    ...common,
    id,
    payment,
    side: {
      ...listed,
      status: told?.status ?? null,
      amount_minor: told?.amount_minor ?? item.amount_minor,
      currency: told?.currency ?? item.currency,
      foreign: false,
    },
  }
}

/** What facts about one object come to; null where they say nothing of it. */
export function sideOf(
  kind: ReconciledKind,
  id: string,
  facts: readonly Fact[],
): Pick<TheirSide, 'status' | 'amount_minor' | 'currency'> | null {
  const state = derivePayment(facts)
  switch (kind) {
    case 'payments': {
      if (state.status === 'linked' || state.status === 'unknown') return null
      const { status, captured_minor, currency } = state
      return { status, amount_minor: captured_minor > 0n ? captured_minor : null, currency }
    }
    case 'refunds': {
      const refund = state.refunds.find((one) => one.refund === id)
      return refund ? { ...refund, currency: refund.currency ?? state.currency } : null
    }
    case 'disputes': {
      const dispute = state.disputes.find((one) => one.dispute === id)
      return dispute ? { ...dispute, currency: dispute.currency ?? state.currency } : null
    }
  }
}

/** The ids that the facts use, which are those of our rows; the list's own where there are none. */
function idsOf(item: ListedItem): { readonly id: string; readonly payment: string | null } {
  const about = item.facts.find(({ subject }) => subject.kind === 'payment')?.subject
  const payment = about?.kind === 'payment' ? about.id : item.payment
  switch (item.kind) {
    case 'payments':
      return { id: payment ?? item.id, payment: payment ?? item.id }
    case 'refunds': {
      const told = item.facts.find((fact) => fact.kind === 'refund_milestone')
      return { id: told?.kind === 'refund_milestone' ? told.content.refund : item.id, payment }
    }
    case 'disputes': {
      const told = item.facts.find((fact) => fact.kind === 'dispute_status' || fact.kind === 'dispute_funds')
      const named =
        told?.kind === 'dispute_status' || told?.kind === 'dispute_funds' ? told.content.dispute : item.id
      return { id: named, payment }
    }
  }
}
