import type { Fact } from '../facts/fact.ts'
import type { RefundState } from './payment-state.ts'
import { ofKind, type Statement } from './unite.ts'

/** Stands for the refunds of a payment whose provider has no ids for them. */
function totalRefundId(payment: string, attempt: string | undefined): string {
  return attempt === undefined ? `total/${payment}` : `total/${payment}/${attempt}`
}

/** The refunds that these facts about one payment name, those that stand for a mere total included. */
export function refundsNamed(facts: readonly Fact[], payment: string): string[] {
  return facts.flatMap((fact) => {
    if (fact.kind === 'refund_milestone') return [fact.content.refund]
    if (fact.kind === 'refund_total' && fact.content.without_ids)
      return [totalRefundId(payment, fact.content.attempt)]
    return []
  })
}

/**
 * Where a provider tells nothing but how much was refunded so far, the largest figure is what was: whatever of it no known
 * refund explains is one refund. Two equal partial refunds that were told as one figure cannot be told apart from one;
 * reconciliation finds them.
 * @param payment the id of the payment itself, where it is known
 */
export function refundsFromTotals(
  statements: readonly Statement[],
  known: readonly RefundState[],
  payment: string | undefined,
): RefundState[] {
  const largest = new Map<string, { total_minor: bigint; attempt?: string | undefined; currency: string }>()
  for (const { subject, content } of ofKind(statements, 'refund_total')) {
    if (!content.without_ids) continue
    const id = totalRefundId(payment ?? (subject.kind === 'payment' ? subject.id : ''), content.attempt)
    if ((largest.get(id)?.total_minor ?? -1n) < content.total_minor) largest.set(id, content)
  }
  return [...largest].map(([refund, { total_minor, attempt, currency }]) => {
    const explained = known
      .filter((one) => one.status === 'succeeded' && (attempt === undefined || one.attempt === attempt))
      .reduce((sum, one) => sum + (one.amount_minor ?? 0n), 0n)
    return {
      refund,
      status: 'succeeded',
      amount_minor: total_minor > explained ? total_minor - explained : 0n,
      currency,
      origin: null,
      moved_at: null,
      attempt: attempt ?? null,
      releases_authorization: false,
      ever_succeeded: true,
    }
  })
}
