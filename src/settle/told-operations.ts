import type { Fact } from '../facts/fact.ts'
import type { PaymentMilestone } from '../facts/payment.ts'
import type { RefundMilestone } from '../facts/refund.ts'
import type { PaymentSubject } from '../facts/subject.ts'
import { nextOperationState, statesTaking } from '../rules/operation-state.ts'
import type { ToldOperation } from '../store/queries/complete-operations.ts'

const REFUND_FAILED: ReadonlySet<RefundMilestone> = new Set(['failed', 'canceled'])
const CHARGE_FAILED: ReadonlySet<PaymentMilestone> = new Set(['failed', 'canceled', 'expired'])
/** A payment that was only begun says nothing about the charge: its own answer, or what follows, does. */
const CHARGE_BEGUN: ReadonlySet<PaymentMilestone> = new Set(['created', 'requires_action'])

/** The states that end when the provider tells that what it made has failed. */
export const FAILING: readonly string[] = statesTaking('told_failed').filter(
  (state) =>
    state !== 'failed_definitive' && nextOperationState(state, 'told_failed') === 'failed_definitive',
)

/** What these facts about one payment tell of operations of ours: each once, and what was done before what failed. */
export function toldOperations(subject: PaymentSubject, facts: readonly Fact[]): ToldOperation[] {
  const told = new Map<string, ToldOperation>()
  for (const fact of facts) {
    const one = toldBy(subject, fact)
    if (one && (!one.failed || !told.has(one.provider_key))) told.set(one.provider_key, one)
  }
  return [...told.values()]
}

function toldBy({ namespace, account, id }: PaymentSubject, fact: Fact): ToldOperation | null {
  if (fact.kind !== 'refund_milestone' && fact.kind !== 'payment_milestone') return null
  const { operation, amount_minor = null, currency = null, order = '' } = fact.content
  if (operation === undefined || operation === null) return null
  const common = { provider_key: operation, namespace, account, payment: id, amount_minor, currency }
  if (fact.kind === 'refund_milestone') {
    const { refund, milestone } = fact.content
    return { ...common, kind: 'refund', provider_id: refund, failed: REFUND_FAILED.has(milestone), order: '' }
  }
  const { milestone } = fact.content
  if (CHARGE_BEGUN.has(milestone)) return null
  return { ...common, kind: 'charge', provider_id: id, failed: CHARGE_FAILED.has(milestone), order }
}
