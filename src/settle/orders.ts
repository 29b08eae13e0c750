import type { EffectDue } from '../facts/effect.ts'
import type { Fact } from '../facts/fact.ts'
import { Fault } from '../facts/fault.ts'
import { type OrderTerms, orderTerms } from '../facts/order.ts'
import { decodeAftermath } from '../rules/aftermath.ts'
import { deriveOrder } from '../rules/derive-order.ts'
import { deriveOrderBook } from '../rules/derive-order-book.ts'
import { type OneShotBefore, type OneShotName, withUnjustified } from '../rules/one-shots.ts'
import type { OrderBook, OrderState } from '../rules/order-state.ts'
import type { PaymentSummary } from '../rules/payment-state.ts'
import { type EntitlementChange, planEffects } from '../rules/plan-effects.ts'
import { paidOrders } from '../rules/settled-orders.ts'
import { readStoredBook } from '../rules/stored-book.ts'
import type { SubscriptionSummary } from '../rules/subscription-state.ts'
import { summarize } from '../rules/summarize.ts'
import type { Transaction } from '../store/database.ts'
import { insertOrders } from '../store/queries/insert-orders.ts'
import { type EntitlementRow, loadEntitlements } from '../store/queries/load-entitlements.ts'
import { asFact, loadFacts, type StoredFact } from '../store/queries/load-facts.ts'
import { lockOneShots } from '../store/queries/load-one-shots.ts'
import { loadPayments } from '../store/queries/load-payments.ts'
import { loadSubscriptions } from '../store/queries/load-subscriptions.ts'
import { lockOrders } from '../store/queries/lock-orders.ts'
import { type OrderKey, type OrderRow, orderLock } from '../store/queries/order-row.ts'
import type { PaymentRow } from '../store/queries/payment-row.ts'
import { type SubscriptionRow, summarizeSubscriptionRow } from '../store/queries/subscription-row.ts'
import { allOf } from './all-of.ts'
import { bySubject, type PaymentDraft } from './payments.ts'
import { pinPolicy } from './pin-policy.ts'
import { type Intake, Statements, takeIn } from './statement.ts'
import { type SubscriptionDraft, summarizeSubscriptionDraft } from './subscriptions.ts'
import { invariant, type Work } from './work.ts'

/** One order of the batch, from what is said about it to what will be written. */
export interface OrderDraft {
  readonly key: OrderKey
  readonly lock: string
  readonly statements: Statements
  /** Payments of this batch that name the order, or named it before. */
  readonly payments: Set<PaymentDraft>
  /** Subscriptions of this batch that settle the order, or did so before. */
  readonly subscriptions: Set<SubscriptionDraft>
  /** The items that speak of the order itself, by their place in the batch. */
  readonly items: Set<number>
  row: OrderRow
  /** The row was inserted by this batch, so nothing was stored about it before. */
  inserted: boolean
  /** Read its own facts again although no new one came: a settle that was kept may not have written what they say. */
  refold: boolean
  book: OrderBook
  /** The book is not the stored one. */
  book_changed: boolean
  /** What is known of the order itself, stored or new, where its book was read anew. */
  facts: readonly Fact[]
  payment_ids: bigint[]
  subscription_ids: bigint[]
  before: EntitlementRow[]
  state: OrderState | null
  entitlements: readonly EntitlementChange[]
  effects: readonly EffectDue[]
  /** Receipts and refunds that stand in the outbox for it. */
  sent: OneShotBefore[]
  withdrawn: readonly OneShotName[]
}

export type OrderDrafts = Map<string, OrderDraft>

export function orderDraft(drafts: OrderDrafts, key: OrderKey): OrderDraft {
  const lock = orderLock(key)
  let draft = drafts.get(lock)
  if (!draft) {
    draft = {
      key,
      lock,
      statements: new Statements(),
      payments: new Set(),
      subscriptions: new Set(),
      items: new Set(),
      row: placeholder(key, 0n),
      inserted: false,
      refold: false,
      book: NO_BOOK,
      book_changed: false,
      facts: [],
      payment_ids: [],
      subscription_ids: [],
      before: [],
      state: null,
      entitlements: [],
      effects: [],
      sent: [],
      withdrawn: [],
    }
    drafts.set(lock, draft)
  }
  return draft
}

const NO_BOOK = deriveOrderBook([])

function placeholder(key: OrderKey, id: bigint): OrderRow {
  return {
    id,
    facts_rev: 0n,
    effect_seq: 0n,
    open_exceptions: 0,
    has_entitlements: false,
    tenant: key.tenant,
    reference: key.reference,
    status: 'awaiting_terms',
    payment_ids: [],
    subscription_ids: [],
    book: null,
  }
}

/** The order rows that the first round trip has locked, by lock; null where none stood. */
export type ClaimedOrders = ReadonlyMap<string, OrderRow | null>

/** Locks the orders that the items of a batch name, in key order. */
export async function claimOrders(
  tx: Transaction,
  bucket: number,
  keys: readonly OrderKey[],
): Promise<ClaimedOrders> {
  const asked = new Map<string, OrderKey>(keys.map((key) => [orderLock(key), key]))
  const sorted = [...asked].sort(([a], [b]) => (a < b ? -1 : 1))
  const rows =
    sorted.length > 0
      ? await lockOrders(
          tx,
          bucket,
          sorted.map(([, key]) => key),
        )
      : []
  const found = new Map(rows.map((row) => [orderLock(row), row]))
  return new Map(sorted.map(([lock]) => [lock, found.get(lock) ?? null]))
}

/**
 * Sees that every order is locked: those that were claimed are, the others are locked now, in key order. A reference
 * without a row gets a placeholder, so that it can be locked at all.
 */
export async function lockOrderDrafts(
  work: Work,
  drafts: OrderDrafts,
  claimed: ClaimedOrders,
): Promise<void> {
  const sorted = [...drafts.values()].sort((a, b) => (a.lock < b.lock ? -1 : 1))
  const take = (rows: readonly OrderRow[]) => {
    for (const row of rows) adopt(drafts.get(orderLock(row))!, row)
  }
  take(sorted.flatMap((draft) => claimed.get(draft.lock) ?? []))
  const unasked = sorted.filter((draft) => !claimed.has(draft.lock))
  if (unasked.length > 0) {
    take(
      await lockOrders(
        work.tx,
        work.bucket,
        unasked.map((draft) => draft.key),
      ),
    )
  }
  const missing = sorted.filter((draft) => draft.row.id === 0n)
  if (missing.length === 0) return
  const inserted = await insertOrders(
    work.tx,
    work.bucket,
    work.as_of,
    missing.map((draft) => draft.key),
  )
  for (const draft of missing) {
    const id = inserted.get(draft.lock)
    if (id === undefined) continue
    draft.row = placeholder(draft.key, id)
    draft.inserted = true
  }
  const raced = missing.filter((draft) => draft.row.id === 0n)
  if (raced.length > 0)
    take(
      await lockOrders(
        work.tx,
        work.bucket,
        raced.map((draft) => draft.key),
      ),
    )
  invariant(
    sorted.every((draft) => draft.row.id !== 0n),
    'orders locked are not the orders asked for',
  )
}

function adopt(draft: OrderDraft, row: OrderRow): void {
  draft.row = row
  draft.book = row.book === null ? NO_BOOK : readStoredBook(row.book)
}

/**
 * Reads, in a statement after the lock, what deriving the orders needs: their own facts where new ones came, sibling
 * payments outside the batch, the rights given so far.
 */
export async function loadOrderDrafts(work: Work, drafts: OrderDrafts, intake: Intake): Promise<Siblings> {
  const all = [...drafts.values()]
  for (const draft of all) {
    draft.payment_ids = currentPayments(draft)
    draft.subscription_ids = currentSubscriptions(draft)
  }
  const inBatch = new Set(all.flatMap((draft) => [...draft.payments].map((payment) => payment.id)))
  const siblings = [...new Set(all.flatMap((draft) => draft.payment_ids))].filter((id) => !inBatch.has(id))
  const locked = new Set(all.flatMap((draft) => [...draft.subscriptions].map((settling) => settling.row!.id)))
  const others = [...new Set(all.flatMap((draft) => draft.subscription_ids))].filter((id) => !locked.has(id))
  const granted = all.filter((draft) => draft.row.has_entitlements).map((draft) => draft.row.id)
  // Without terms on the row there may still be some among the facts: a settle that was kept left them there.
  const refolded = all.filter(
    (draft) => draft.refold || draft.statements.size > 0 || draft.book.terms === null,
  )
  const told = refolded.filter((draft) => !draft.inserted).map((draft) => draft.row.id)
  const announced = all.filter(mayHaveSent).map((draft) => draft.row.id)
  const [rows, subscriptions, entitlements, facts, one_shots] = await allOf([
    siblings.length > 0 ? loadPayments(work.tx, work.bucket, siblings) : [],
    others.length > 0 ? loadSubscriptions(work.tx, work.bucket, others) : [],
    granted.length > 0 ? loadEntitlements(work.tx, work.bucket, granted) : [],
    told.length > 0 ? loadFacts(work.tx, work.bucket, told) : [],
    announced.length > 0 ? lockOneShots(work.tx, work.bucket, announced) : [],
  ])
  const byOrder = new Map(all.map((draft) => [draft.row.id, draft]))
  for (const row of entitlements) byOrder.get(row.order_id)!.before.push(row)
  for (const row of one_shots) byOrder.get(row.subject_id)!.sent.push(row)
  const stored = bySubject(facts)
  for (const draft of refolded) takeInOrderFacts(work, draft, stored.get(draft.row.id) ?? [], intake)
  return {
    payments: new Map(rows.map((row) => [row.id, row])),
    subscriptions: new Map(subscriptions.map((row) => [row.id, row])),
  }
}

/** A receipt goes to whoever was given something; a refund needs a payment and a policy that makes it by itself. */
function mayHaveSent({ row, book }: OrderDraft): boolean {
  if (row.has_entitlements) return true
  const policy = book.terms?.policy
  return row.payment_ids.length > 0 && (policy?.surplus === 'refund' || policy?.paid_after_close === 'refund')
}

/** What orders of a batch have outside it. */
export interface Siblings {
  readonly payments: ReadonlyMap<bigint, PaymentRow>
  readonly subscriptions: ReadonlyMap<bigint, SubscriptionRow>
}

/**
 * The payments that count for the order now: those on the row, with what this batch's payments changed about it, and
 * those that came or went along with a subscription.
 */
function currentPayments(draft: OrderDraft): bigint[] {
  const ids = new Set(draft.row.payment_ids)
  for (const payment of draft.payments) {
    if (payment.paid_orders.includes(draft.key.reference)) ids.add(payment.id)
    else ids.delete(payment.id)
  }
  for (const { members, order_refs } of draft.subscriptions) {
    for (const [id, named] of members) {
      if (paidOrders(named, [order_refs]).includes(draft.key.reference)) ids.add(id)
      else ids.delete(id)
    }
  }
  return [...ids]
}

function currentSubscriptions(draft: OrderDraft): bigint[] {
  const ids = new Set(draft.row.subscription_ids)
  for (const { row, order_refs } of draft.subscriptions) {
    if (order_refs.includes(draft.key.reference)) ids.add(row!.id)
    else ids.delete(row!.id)
  }
  return [...ids]
}

function takeInOrderFacts(
  work: Work,
  draft: OrderDraft,
  stored: readonly StoredFact[],
  intake: Intake,
): void {
  const known = stored.map((fact) => asFact({ kind: 'order', reference: draft.key.reference }, fact))
  const fresh = takeIn(intake, draft.row.id, pinPolicy(draft.statements, known, work.policy), stored)
  const told = [...known, ...fresh].filter((fact) => fact.kind === 'order_terms')
  if (told.length > 1 && fresh.some((fact) => fact.kind === 'order_terms')) {
    throw new Fault(
      'order_conflict',
      `Order ${draft.key.reference} is registered already with other terms. Terms are pinned when they are registered; use a new reference, or close the order first.`,
    )
  }
  draft.facts = [...known, ...fresh]
  const unread = draft.row.book === null && draft.facts.length > 0
  if (fresh.length > 0 || draft.refold || unread) readBook(draft)
}

/** Reads the book anew from the order's facts, all of which must be there. */
export function readBook(draft: OrderDraft): void {
  draft.book = deriveOrderBook(draft.facts)
  draft.book_changed = true
}

/** Adds terms that the merchant's own orders table gave for an order whose facts, read under its lock, hold none. */
export function adoptTerms(work: Work, draft: OrderDraft, terms: OrderTerms, intake: Intake): void {
  const found = new Statements()
  const source = { kind: 'merchant', id: 0n, version: 1 } as const
  found.add(orderTerms({ kind: 'order', reference: draft.key.reference }, terms), source)
  draft.facts = [...draft.facts, ...takeIn(intake, draft.row.id, pinPolicy(found, [], work.policy), [])]
  readBook(draft)
}

/** Derives one order from its book and the summaries of all its payments, and plans what is due. */
export function deriveDraft(work: Work, draft: OrderDraft, siblings: Siblings): void {
  const inBatch = new Map([...draft.payments].map((payment) => [payment.id, payment]))
  const summaries: PaymentSummary[] = []
  for (const id of draft.payment_ids) {
    const payment = inBatch.get(id)
    if (payment?.state) summaries.push(summarize(payment.subject, payment.state))
    else summaries.push(summarizeRow(payment?.row ?? siblings.payments.get(id)!))
  }
  const subscriptions = subscriptionsOf(draft, siblings)
  const as_of = work.as_of.toISOString()
  const derived = deriveOrder(draft.key.reference, draft.book, summaries, as_of, subscriptions)
  draft.state = withUnjustified(draft.key.reference, draft.sent, derived, summaries)
  const plan = planEffects(
    {
      reference: draft.key.reference,
      before: draft.before.map((row) => ({ ...row, revision: Number(row.revision) })),
      sent: draft.sent,
    },
    draft.state,
  )
  draft.entitlements = plan.entitlements
  draft.effects = plan.effects
  draft.withdrawn = plan.withdrawn
}

/** What its subscriptions amount to. */
export function subscriptionsOf(draft: OrderDraft, siblings: Siblings): SubscriptionSummary[] {
  const settling = new Map(
    [...draft.subscriptions].map((subscription) => [subscription.row!.id, subscription]),
  )
  return draft.subscription_ids.map((id) => {
    const locked = settling.get(id)
    return locked
      ? summarizeSubscriptionDraft(locked)
      : summarizeSubscriptionRow(siblings.subscriptions.get(id)!)
  })
}

/** What the order step needs of a payment, from its row. */
export function summarizeRow(row: PaymentRow): PaymentSummary {
  return {
    id: row.provider_payment_id,
    account: row.account,
    namespace: row.namespace,
    status: row.status,
    currency: row.currency,
    captured_minor: BigInt(row.captured_minor),
    refunded_minor: BigInt(row.refunded_minor),
    refund_pending_minor: BigInt(row.refund_pending_minor),
    disputed_minor: BigInt(row.disputed_minor),
    lost_minor: BigInt(row.lost_minor),
    reversed_minor: BigInt(row.reversed_minor),
    aftermath: decodeAftermath(row.aftermath),
    moved_at: row.moved_at?.toISOString() ?? null,
  }
}
