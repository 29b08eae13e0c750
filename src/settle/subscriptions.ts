import type { SubscriptionSubject } from '../facts/subject.ts'
import { deriveSubscription } from '../rules/derive-subscription.ts'
import { settledOrders } from '../rules/settled-orders.ts'
import type { SubscriptionState, SubscriptionSummary } from '../rules/subscription-state.ts'
import { summarizeSubscription } from '../rules/summarize.ts'
import { asFact, loadDormantFacts, loadFacts } from '../store/queries/load-facts.ts'
import { loadPayments } from '../store/queries/load-payments.ts'
import { lockSubscriptions } from '../store/queries/lock-subscriptions.ts'
import {
  type SubscriptionKey,
  type SubscriptionRow,
  subscriptionLock,
  summarizeSubscriptionRow,
} from '../store/queries/subscription-row.ts'
import { bySubject, changesOrder, type PaymentDraft, type PaymentDrafts } from './payments.ts'
import { type Intake, Statements, takeIn } from './statement.ts'
import { invariant, type Work } from './work.ts'

/** One subscription of the batch. */
export interface SubscriptionDraft {
  readonly key: SubscriptionKey
  readonly lock: string
  readonly subject: SubscriptionSubject
  readonly statements: Statements
  /** Payments of this batch that name it, or named it before. */
  readonly payments: Set<PaymentDraft>
  /** The items that speak of it, by their place in the batch. */
  readonly items: Set<number>
  touched: boolean
  /** Derive its orders even if its own state stays as it is. */
  rederive: boolean
  row: SubscriptionRow | null
  /** Derived state; null while nothing about it has changed. */
  state: SubscriptionState | null
  payment_ids: readonly bigint[]
  /** The orders that it settles. */
  order_refs: readonly string[]
  /** The orders that each of its payments names, as far as they were looked at. */
  members: ReadonlyMap<bigint, readonly string[]>
}

export type SubscriptionDrafts = Map<string, SubscriptionDraft>

export function subscriptionDraft(
  drafts: SubscriptionDrafts,
  tenant: string,
  subject: SubscriptionSubject,
): SubscriptionDraft {
  const key = {
    tenant,
    namespace: subject.namespace,
    account: subject.account,
    provider_subscription_id: subject.id,
  }
  const lock = subscriptionLock(key)
  let draft = drafts.get(lock)
  if (!draft) {
    draft = {
      key,
      lock,
      subject,
      statements: new Statements(),
      payments: new Set(),
      items: new Set(),
      touched: false,
      rederive: false,
      row: null,
      state: null,
      payment_ids: [],
      order_refs: [],
      members: new Map(),
    }
    drafts.set(lock, draft)
  }
  return draft
}

/** The subscription that a payment names by the provider's id; undefined where this batch does not concern it. */
export function subscriptionNamed(
  drafts: SubscriptionDrafts,
  { key: { tenant, namespace, account } }: PaymentDraft,
  id: string,
): SubscriptionDraft | undefined {
  return drafts.get(subscriptionLock({ tenant, namespace, account, provider_subscription_id: id }))
}

/**
 * Locks the subscriptions of the batch and those that its payments concern, in key order, takes in what is new about them
 * and derives their states and the orders that they settle.
 */
export async function settleSubscriptions(
  work: Work,
  drafts: SubscriptionDrafts,
  payments: PaymentDrafts,
  intake: Intake,
): Promise<void> {
  joinPayments(drafts, payments)
  if (drafts.size === 0) return
  const sorted = [...drafts.values()].sort((a, b) => (a.lock < b.lock ? -1 : 1))
  const rows = await lockSubscriptions(
    work.tx,
    work.bucket,
    work.as_of,
    sorted.map((draft) => draft.key),
  )
  invariant(rows.length === sorted.length, 'subscriptions locked are not the subscriptions asked for')
  for (const row of rows) adopt(drafts.get(subscriptionLock(row))!, row)
  const ids = rows.map((row) => row.id)
  const stored = bySubject(await loadFacts(work.tx, work.bucket, ids))
  const asleep = bySubject(work.with_dormant ? await loadDormantFacts(work.tx, work.bucket, ids) : [])
  for (const draft of sorted) {
    const known = stored.get(draft.row!.id) ?? []
    const dormant = asleep.get(draft.row!.id) ?? []
    const fresh = takeIn(intake, draft.row!.id, draft.statements, [...known, ...dormant])
    const revived = dormant.length > 0 ? draft.statements.facts() : []
    if (fresh.length + revived.length === 0 && !draft.touched && draft.payments.size === 0) continue
    draft.state = deriveSubscription([
      ...known.map((fact) => asFact(draft.subject, fact)),
      ...fresh,
      ...revived,
    ])
  }
  await settleOrdersOf(work, sorted, payments)
}

function adopt(draft: SubscriptionDraft, row: SubscriptionRow): void {
  draft.row = row
  draft.order_refs = row.order_refs
  const ids = new Set(row.payment_ids)
  for (const payment of draft.payments) {
    const names = payment.state ? payment.state.subscriptions_named : (payment.row?.subscription_refs ?? [])
    if (names.includes(draft.subject.id)) ids.add(payment.id)
    else ids.delete(payment.id)
  }
  draft.payment_ids = [...ids]
}

/** A payment that names its order itself concerns its subscription only when what it names has changed. */
function joinPayments(drafts: SubscriptionDrafts, payments: PaymentDrafts): void {
  for (const payment of payments.values()) {
    if (!payment.rederive && !changesOrder(payment)) continue
    const { row, state } = payment
    const before = row?.subscription_refs ?? []
    const now = state ? state.subscriptions_named : before
    if (before.length === 0 && now.length === 0) continue
    const orders_before = row?.order_refs ?? []
    const orders_now = state ? state.orders_named : orders_before
    const named_alike =
      row !== null && sameNames(before, now) && sameNames(orders_before, orders_now) && orders_now.length > 0
    if (named_alike && !payment.rederive) continue
    for (const id of new Set([...before, ...now])) {
      const { tenant, namespace, account } = payment.key
      const draft = subscriptionDraft(drafts, tenant, { kind: 'subscription', namespace, account, id })
      draft.payments.add(payment)
      draft.rederive ||= payment.rederive
      for (const place of payment.items) draft.items.add(place)
    }
  }
}

function sameNames(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((name, place) => name === b[place])
}

/**
 * Which orders each subscription settles. The payments that name it are read where its own facts name no order, or where
 * the payments move along to another one; they change only under the lock of the subscription that they name.
 */
async function settleOrdersOf(
  work: Work,
  drafts: readonly SubscriptionDraft[],
  payments: PaymentDrafts,
): Promise<void> {
  const byId = new Map([...payments.values()].map((payment) => [payment.id, payment]))
  const derived = drafts.filter((draft) => draft.state !== null)
  const asked = derived.filter(
    ({ state, row, rederive }) =>
      rederive || state!.orders_now.length === 0 || !sameNames(state!.orders_now, row!.order_refs),
  )
  const elsewhere = [...new Set(asked.flatMap((draft) => draft.payment_ids))].filter((id) => !byId.has(id))
  const rows = elsewhere.length > 0 ? await loadPayments(work.tx, work.bucket, elsewhere) : []
  const stored = new Map(rows.map((row) => [row.id, row.order_refs]))
  for (const draft of asked) {
    draft.members = new Map(
      draft.payment_ids.map((id) => {
        const payment = byId.get(id)
        return [id, payment?.state?.orders_named ?? payment?.row?.order_refs ?? stored.get(id) ?? []]
      }),
    )
  }
  for (const draft of derived)
    draft.order_refs = settledOrders(draft.state!.orders_now, draft.members.values())
}

/** True when anything differs that its orders look at. */
export function changesSettled({ row, state, order_refs }: SubscriptionDraft): boolean {
  if (!state || !row) return false
  return (
    row.status !== state.status ||
    row.ended_from !== state.ended_from ||
    row.price !== state.price ||
    !sameNames(row.order_refs, order_refs) ||
    !sameTime(row.period_end, state.period_end) ||
    !sameTime(row.cancel_at, state.cancel_at) ||
    !sameTime(row.since, state.since)
  )
}

function sameTime(stored: Date | null, derived: string | null): boolean {
  return (stored?.getTime() ?? null) === (derived === null ? null : Date.parse(derived))
}

/** What its orders need of it. */
export function summarizeSubscriptionDraft({
  row,
  state,
  subject,
  order_refs,
}: SubscriptionDraft): SubscriptionSummary {
  if (!state) return summarizeSubscriptionRow(row!)
  return summarizeSubscription(subject.id, subject.account, state, order_refs)
}
