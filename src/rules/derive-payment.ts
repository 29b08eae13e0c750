import type { Fact } from '../facts/fact.ts'
import { aftermathOf, unrefunded } from './aftermath.ts'
import { type Conflict, conflictExceptions } from './conflict.ts'
import { type Collection, deriveCollection } from './derive-collection.ts'
import { type DerivedDispute, deriveDispute } from './derive-dispute.ts'
import { contestedRefund, deriveRefund } from './derive-refund.ts'
import { compareText } from './instant.ts'
import { resolveLink } from './link.ts'
import { paymentExceptions } from './payment-exceptions.ts'
import type { PaymentState, PaymentStatus, RefundState } from './payment-state.ts'
import { sortExceptions } from './raise.ts'
import { refundsFromTotals } from './refund-total.ts'
import { standingDecisions } from './standing-decisions.ts'
import { told } from './told.ts'
import { ofKind, type Statement, unite } from './unite.ts'

/**
 * Everything that the facts about one payment say.
 * @param facts about the payment and the stand-ins linked to it, in any order, copies allowed; when all are about one
 *   stand-in that has a link, the result only says which payment it belongs to
 * @param id of the payment that the result is for, where only its stand-ins may have told anything yet
 * @param others what facts that are not here say about it
 */
export function derivePayment(
  facts: readonly Fact[],
  id?: string,
  others: OtherPayments = NONE,
): PaymentState {
  const { statements, conflicts: field_conflicts } = unite(facts)
  const link = resolveLink(facts, id, others.claimed)
  if (link.linked_to !== null) return { ...NOTHING, status: 'linked', linked_to: link.linked_to }
  const collection = deriveCollection(ofKind(statements, 'payment_milestone'), link.canonical)
  const refunds = deriveRefunds(statements, others.contested, link.own)
  const currency =
    collection.currency ?? refunds.states.find((refund) => refund.currency !== null)?.currency ?? null
  const disputes = deriveDisputes(statements, currency, collection.captured_minor)
  const orders_named = ordersNamed(statements)
  const subscriptions_named = told(
    ofKind(statements, 'payment_milestone').map(({ content }) => content),
    'subscription',
  ).values
  const conflicts = [
    ...field_conflicts,
    ...link.conflicts,
    ...collection.conflicts,
    ...refunds.conflicts,
    ...disputes.flatMap((dispute) => dispute.conflicts),
    ...refundCurrencyConflicts(refunds.states, currency),
    ...contestedRefunds(refunds.states, others.contested),
    ...(orders_named.length > 1
      ? [{ cause: 'order', detail: `it is told as ${orders_named.join(' and ')}` }]
      : []),
    ...(subscriptions_named.length > 1
      ? [{ cause: 'subscription', detail: `it is told as ${subscriptions_named.join(' and ')}` }]
      : []),
  ]
  const disputed = shareWithReversal(collection, disputes)
  const sums = {
    authorized_minor: collection.authorized_minor,
    captured_minor: collection.captured_minor,
    refunded_minor: sumRefunds(refunds.states, ['succeeded']) + unrefunded(refunds.states, disputes),
    refund_pending_minor: sumRefunds(refunds.states, ['requested', 'pending', 'requires_action']),
    disputed_minor: disputed.disputed_minor,
    lost_minor: disputed.lost_minor,
    reversed_minor: collection.reversed_minor,
  }
  const state: PaymentState = {
    status: statusOf(conflicts, collection),
    order: orders_named.length === 1 ? orders_named[0]! : null,
    orders_named,
    subscriptions_named,
    currency,
    ...sums,
    aftermath: aftermathOf(collection, refunds.states, disputes, sums.lost_minor),
    moved_at: collection.moved_at,
    linked_to: null,
    refunds: refunds.states,
    disputes: disputes.map((dispute) => dispute.state),
    exceptions: [],
  }
  const exceptions = [
    ...conflictExceptions(conflicts, 'payment'),
    ...paymentExceptions(state, collection, disputes, ofKind(statements, 'refund_total')),
  ]
  return { ...state, exceptions: sortExceptions(exceptions) }
}

/** What other payments' facts mean for one. */
export interface OtherPayments {
  /** Some of them say that they stand in for it. */
  readonly claimed: boolean
  /** Refunds of it that are told of another payment too. */
  readonly contested: ReadonlySet<string>
}

const NONE: OtherPayments = { claimed: false, contested: new Set() }

/** A stand-in's money, refunds and orders are told of the payment that it belongs to, and counted there alone. */
const NOTHING: PaymentState = {
  status: 'unknown',
  order: null,
  orders_named: [],
  subscriptions_named: [],
  currency: null,
  authorized_minor: 0n,
  captured_minor: 0n,
  refunded_minor: 0n,
  refund_pending_minor: 0n,
  disputed_minor: 0n,
  lost_minor: 0n,
  reversed_minor: 0n,
  aftermath: null,
  moved_at: null,
  linked_to: null,
  refunds: [],
  disputes: [],
  exceptions: [],
}

function statusOf(conflicts: readonly Conflict[], collection: Collection): PaymentStatus {
  if (conflicts.length > 0) return 'conflicted'
  return collection.milestone ?? 'unknown'
}

function groupBy<T>(items: readonly T[], nameOf: (item: T) => string): [string, T[]][] {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const name = nameOf(item)
    const group = groups.get(name)
    if (group === undefined) groups.set(name, [item])
    else group.push(item)
  }
  return [...groups].sort(([a], [b]) => compareText(a, b))
}

function deriveRefunds(
  statements: readonly Statement[],
  contested: ReadonlySet<string>,
  payment: string | undefined,
): { states: RefundState[]; conflicts: Conflict[] } {
  const groups = groupBy(ofKind(statements, 'refund_milestone'), ({ content }) => content.refund)
  const derived = groups.map(([refund, of_refund]) => deriveRefund(refund, of_refund))
  const by_id = derived.map(({ state }) => state)
  const states = [...by_id, ...refundsFromTotals(statements, by_id, payment)]
  return {
    states: states
      .map((state) => (contested.has(state.refund) ? contestedRefund(state.refund) : state))
      .sort((a, b) => compareText(a.refund, b.refund)),
    conflicts: derived.flatMap(({ conflicts }) => conflicts),
  }
}

/** A refund in another currency than its payment's cannot be subtracted from it. */
function refundCurrencyConflicts(refunds: readonly RefundState[], currency: string | null): Conflict[] {
  return refunds
    .filter((refund) => refund.currency !== null && refund.currency !== currency)
    .map(({ refund, currency: told }) => ({
      cause: `refund/${refund}`,
      detail: `it is told in ${told} and the payment in ${currency}`,
    }))
}

/** One refund is one payment's; nobody can know from here whose. */
function contestedRefunds(refunds: readonly RefundState[], contested: ReadonlySet<string>): Conflict[] {
  return refunds
    .filter(({ refund }) => contested.has(refund))
    .map(({ refund }) => ({ cause: `refund/${refund}`, detail: 'it is told of another payment too' }))
}

function sumRefunds(refunds: readonly RefundState[], statuses: readonly RefundState['status'][]): bigint {
  return refunds
    .filter((refund) => statuses.includes(refund.status) && !refund.releases_authorization)
    .reduce((total, refund) => total + (refund.amount_minor ?? 0n), 0n)
}

function deriveDisputes(
  statements: readonly Statement[],
  currency: string | null,
  captured_minor: bigint,
): DerivedDispute[] {
  const told = [...ofKind(statements, 'dispute_status'), ...ofKind(statements, 'dispute_funds')]
  return groupBy(told, ({ content }) => content.dispute).map(([dispute, of_dispute]) =>
    deriveDispute(
      dispute,
      ofKind(of_dispute, 'dispute_status').map((statement) => statement.content),
      distinctMovements(of_dispute),
      currency,
      captured_minor,
    ),
  )
}

/** A movement is one, whichever of the linked subjects tells it. */
function distinctMovements(statements: readonly Statement[]) {
  const movements = ofKind(statements, 'dispute_funds')
  return [...new Map(movements.map(({ key, content }) => [key, content])).values()]
}

/**
 * A bank's return can be told both as a reversal and as a dispute. Together they cannot take more than was
 * collected, so what exceeds it is one movement told twice, and the reversal keeps it.
 */
function shareWithReversal(
  { captured_minor, reversed_minor }: Collection,
  disputes: readonly DerivedDispute[],
): { disputed_minor: bigint; lost_minor: bigint } {
  const disputed = disputes.reduce((total, dispute) => total + dispute.disputed_minor, 0n)
  const lost = disputes.reduce((total, dispute) => total + dispute.lost_minor, 0n)
  const excess = reversed_minor + disputed + lost - captured_minor
  let twice = least(reversed_minor, excess < 0n ? 0n : excess)
  const from_disputed = least(disputed, twice)
  twice -= from_disputed
  return { disputed_minor: disputed - from_disputed, lost_minor: lost - least(lost, twice) }
}

function least(a: bigint, b: bigint): bigint {
  return a < b ? a : b
}

/** A person's word about whose payment this is overrides what its messages name; the newest one holds. */
function ordersNamed(statements: readonly Statement[]): string[] {
  const decided = standingDecisions(ofKind(statements, 'decision').map(({ content }) => content))
    .filter((decision) => decision.decision === 'assign_order')
    .at(-1)
  if (decided) return decided.order === undefined ? [] : [decided.order]
  const orders = new Set<string>()
  for (const { kind, content } of statements) {
    if (kind !== 'decision' && 'order' in content && content.order !== undefined && content.order !== null)
      orders.add(content.order)
  }
  return [...orders].sort(compareText)
}
