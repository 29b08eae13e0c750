import type { PaymentSubject } from '../facts/subject.ts'
import { decodeAftermath, encodeAftermath } from '../rules/aftermath.ts'
import { derivePayment } from '../rules/derive-payment.ts'
import type { PaymentState } from '../rules/payment-state.ts'
import type { Transaction } from '../store/database.ts'
import { insertPayments } from '../store/queries/insert-payments.ts'
import { asFact, loadDormantFacts, loadFacts, type StoredFact } from '../store/queries/load-facts.ts'
import { loadStandIns } from '../store/queries/load-payments.ts'
import { lockPayments, lockPaymentsById } from '../store/queries/lock-payments.ts'
import { type PaymentKey, type PaymentRow, paymentLock, subjectOf } from '../store/queries/payment-row.ts'
import { allOf } from './all-of.ts'
import { PaymentGroups } from './payment-groups.ts'
import { settleRefundClaims } from './refund-claims.ts'
import { type Intake, Statements, takeIn } from './statement.ts'
import { invariant, type Work } from './work.ts'

/** One payment (or stand-in) of the batch, from what items say about it to what will be written. */
export interface PaymentDraft {
  readonly key: PaymentKey
  readonly lock: string
  readonly subject: PaymentSubject
  readonly statements: Statements
  /** Derive it even if no statement is new. */
  touched: boolean
  /** Derive its orders even if its own state stays as it is. */
  rederive: boolean
  /** The items that speak of it, by their place in the batch. */
  readonly items: Set<number>
  id: bigint
  /** The locked row as it was; null for one that this batch inserted. */
  row: PaymentRow | null
  /** Derived state; null while nothing about it has changed. */
  state: PaymentState | null
  linked_to: bigint | null
  has_stand_ins: boolean
  /** Its row was inserted with the final state, so there is nothing to update. */
  complete: boolean
  /** The orders that it counts for: those that it names, or those of its subscription. */
  paid_orders: readonly string[]
}

export type PaymentDrafts = Map<string, PaymentDraft>

export function paymentDraft(drafts: PaymentDrafts, tenant: string, subject: PaymentSubject): PaymentDraft {
  const key = {
    tenant,
    namespace: subject.namespace,
    account: subject.account,
    provider_payment_id: subject.id,
  }
  const lock = paymentLock(key)
  let draft = drafts.get(lock)
  if (!draft) {
    draft = {
      key,
      lock,
      subject,
      statements: new Statements(),
      touched: false,
      rederive: false,
      items: new Set(),
      id: 0n,
      row: null,
      state: null,
      linked_to: null,
      has_stand_ins: false,
      complete: false,
      paid_orders: [],
    }
    drafts.set(lock, draft)
  }
  return draft
}

const NOTHING_KNOWN = derivePayment([])

/** What the first round trip has claimed: rows inserted under the offered ids, rows that stood and are locked now. */
export interface ClaimedPayments {
  /** The drafts as they were offered, by lock, with the id that each was offered under. */
  readonly offered: ReadonlyMap<string, { readonly draft: PaymentDraft; readonly id: bigint }>
  readonly inserted: ReadonlySet<bigint>
  readonly standing: readonly PaymentRow[]
}

/**
 * Claims the payments of a batch, in key order: inserts the rows that are missing, with the state that the batch's facts
 * give, and in a later statement locks those that stood. Both statements share a round trip.
 */
export async function claimPayments(
  tx: Transaction,
  bucket: number,
  ids: readonly bigint[],
  drafts: PaymentDrafts,
): Promise<ClaimedPayments> {
  const sorted = [...drafts.values()].sort((a, b) => (a.lock < b.lock ? -1 : 1))
  const linked = linkTargets(sorted)
  const offered = sorted.map((draft, place) => {
    draft.complete = !linked.has(draft.lock)
    draft.state = draft.complete ? derivePayment(draft.statements.facts()) : NOTHING_KNOWN
    return { draft, id: ids[place]! }
  })
  const keys = offered.map(({ draft, id }) => ({ ...write(draft), id }))
  const [inserted, standing] = await allOf([insertPayments(tx, bucket, keys), lockPayments(tx, bucket, keys)])
  invariant(inserted.size + standing.length === keys.length, 'payments locked are not the payments asked for')
  return { offered: new Map(offered.map((offer) => [offer.draft.lock, offer])), inserted, standing }
}

/**
 * Takes in what is new about the payments that were claimed, and derives their states. `drafts` are those that were
 * offered, or others with fewer statements when some events of the batch turned out to be known.
 */
export async function settlePayments(
  work: Work,
  drafts: PaymentDrafts,
  claimed: ClaimedPayments,
  intake: Intake,
): Promise<void> {
  const groups = new PaymentGroups(drafts)
  let simple = true
  for (const { draft: offer, id } of claimed.offered.values()) {
    if (!claimed.inserted.has(id)) continue
    // Nothing told of it stands any more only if all its events were known under another meaning; then it is a placeholder.
    const draft = paymentDraft(drafts, offer.key.tenant, offer.subject)
    draft.id = id
    if (draft !== offer) {
      draft.complete = offer.complete && draft.statements.size === offer.statements.size
      draft.state = draft.complete ? offer.state : NOTHING_KNOWN
    }
    groups.facts.set(draft, takeIn(intake, id, draft.statements, []))
    simple &&= draft.complete
  }
  for (const row of claimed.standing) {
    const draft = drafts.get(paymentLock(row))
    if (!draft) continue
    draft.complete = false
    draft.state = null
    adopt(draft, row)
    simple = false
  }
  if (!simple) {
    await lockElsewhere(work, drafts)
    await deriveStanding(work, drafts, groups, intake)
  }
  await settleRefundClaims(work, drafts, groups, intake, (ids) => bring(work, drafts, groups, ids))
}

/** What is written of a draft, inserted or updated. */
export function write(draft: PaymentDraft) {
  const state = draft.state!
  return {
    ...draft.key,
    state,
    aftermath: encodeAftermath(state.aftermath),
    linked_to: draft.linked_to,
    has_stand_ins: draft.has_stand_ins,
    open_exceptions: state.exceptions.length,
  }
}

/** True when the derived state differs from the stored one in anything that an order looks at. */
export function changesOrder(draft: PaymentDraft): boolean {
  const { row, state } = draft
  if (!state) return false
  if (!row) return true
  return (
    row.status !== state.status ||
    row.currency !== state.currency ||
    BigInt(row.captured_minor) !== state.captured_minor ||
    BigInt(row.refunded_minor) !== state.refunded_minor ||
    BigInt(row.refund_pending_minor) !== state.refund_pending_minor ||
    BigInt(row.disputed_minor) !== state.disputed_minor ||
    BigInt(row.lost_minor) !== state.lost_minor ||
    BigInt(row.reversed_minor) !== state.reversed_minor ||
    encodeAftermath(decodeAftermath(row.aftermath)) !== encodeAftermath(state.aftermath) ||
    (row.moved_at?.getTime() ?? null) !== (state.moved_at === null ? null : Date.parse(state.moved_at)) ||
    row.order_refs.join('\n') !== state.orders_named.join('\n') ||
    row.subscription_refs.join('\n') !== state.subscriptions_named.join('\n')
  )
}

/** Locks of all drafts that a link in this batch joins, on either side. */
function linkTargets(drafts: readonly PaymentDraft[]): Set<string> {
  const joined = new Set<string>()
  for (const draft of drafts) {
    for (const fact of draft.statements.facts()) {
      if (fact.kind !== 'payment_link') continue
      joined.add(draft.lock)
      joined.add(paymentLock({ ...draft.key, provider_payment_id: fact.content.payment }))
    }
  }
  return joined
}

/**
 * The money of a stand-in is another payment's, whose row guards them both. It was not known before the first lock, so
 * it comes out of key order; a deadlock that this may cause is repeated whole. A link may hold or not by what else links
 * where, so links are followed to their end.
 */
async function lockElsewhere(work: Work, drafts: PaymentDrafts): Promise<void> {
  for (;;) {
    const elsewhere = new Set(
      [...drafts.values()].flatMap((draft) => (draft.linked_to === null ? [] : [draft.linked_to])),
    )
    for (const draft of drafts.values()) elsewhere.delete(draft.id)
    if (elsewhere.size === 0) return
    const rows = await lockPaymentsById(work.tx, work.bucket, [...elsewhere].sort(ascending))
    for (const row of rows) adopt(paymentDraft(drafts, row.tenant, subjectOf(row)), row)
    invariant(rows.length === elsewhere.size, 'a stand-in is linked to a payment that is not there')
  }
}

/** Payments that the batch does not name and that its refunds concern: locked as above, and derived as they stand. */
async function bring(
  work: Work,
  drafts: PaymentDrafts,
  groups: PaymentGroups,
  ids: readonly bigint[],
): Promise<PaymentDraft[]> {
  if (ids.length === 0) return []
  const rows = await lockPaymentsById(work.tx, work.bucket, [...ids].sort(ascending))
  const brought = rows.map((row) => {
    const draft = paymentDraft(drafts, row.tenant, subjectOf(row))
    adopt(draft, row)
    return draft
  })
  for (const draft of brought) if (!groups.facts.has(draft)) groups.isBeside(draft)
  const unread = [...brought, ...(await adoptStandIns(work, drafts, groups, brought))].filter(
    (draft) => !groups.facts.has(draft),
  )
  const stored = await loadStored(
    work,
    unread.map((draft) => draft.id),
  )
  for (const draft of unread) {
    groups.facts.set(
      draft,
      (stored.live.get(draft.id) ?? []).map((fact) => asFact(draft.subject, fact)),
    )
  }
  groups.link()
  for (const draft of brought) draft.state = groups.derive(draft)
  return brought
}

/** Those that link to them. They change only under the lock of the payment that they link to. */
async function adoptStandIns(
  work: Work,
  drafts: PaymentDrafts,
  groups: PaymentGroups,
  payments: readonly PaymentDraft[],
): Promise<PaymentDraft[]> {
  const linked_to = payments.filter((draft) => draft.has_stand_ins).map((draft) => draft.id)
  if (linked_to.length === 0) return []
  const adopted: PaymentDraft[] = []
  for (const row of await loadStandIns(work.tx, work.bucket, linked_to)) {
    const draft = paymentDraft(drafts, row.tenant, subjectOf(row))
    if (draft.row || draft.id !== 0n) continue
    adopt(draft, row)
    groups.isBeside(draft)
    adopted.push(draft)
  }
  return adopted
}

function adopt(draft: PaymentDraft, row: PaymentRow): void {
  draft.id = row.id
  draft.row = row
  draft.linked_to = row.linked_to
  draft.has_stand_ins = row.has_stand_ins
}

async function deriveStanding(
  work: Work,
  drafts: PaymentDrafts,
  groups: PaymentGroups,
  intake: Intake,
): Promise<void> {
  await adoptStandIns(work, drafts, groups, [...drafts.values()])
  const standing = [...drafts.values()].filter((draft) => draft.row !== null)
  const stored = await loadStored(
    work,
    standing.map((draft) => draft.id),
  )
  const changed = new Set<PaymentDraft>()
  for (const draft of drafts.values()) {
    if (draft.row === null) {
      if (!draft.complete) changed.add(draft)
      continue
    }
    const known = stored.live.get(draft.id) ?? []
    const dormant = stored.dormant.get(draft.id) ?? []
    const fresh = takeIn(
      intake,
      draft.id,
      draft.statements,
      dormant.length > 0 ? [...known, ...dormant] : known,
    )
    const revived = dormant.length > 0 ? draft.statements.facts() : []
    groups.facts.set(draft, [...known.map((fact) => asFact(draft.subject, fact)), ...fresh, ...revived])
    if (fresh.length > 0 || revived.length > 0 || draft.touched) changed.add(draft)
  }
  groups.link()
  for (const draft of groups.concerned(changed)) {
    if (draft.complete) continue
    draft.state = groups.derive(draft)
    draft.linked_to = groups.target(draft)?.id ?? null
    draft.has_stand_ins = groups.claimed(draft)
  }
}

async function loadStored(work: Work, ids: readonly bigint[]) {
  const [live, dormant] = await allOf([
    ids.length > 0 ? loadFacts(work.tx, work.bucket, ids) : [],
    work.with_dormant && ids.length > 0 ? loadDormantFacts(work.tx, work.bucket, ids) : [],
  ])
  return { live: bySubject(live), dormant: bySubject(dormant) }
}

export function bySubject(facts: readonly StoredFact[]): Map<bigint, StoredFact[]> {
  const grouped = new Map<bigint, StoredFact[]>()
  for (const fact of facts) {
    const list = grouped.get(fact.subject_id)
    if (list) list.push(fact)
    else grouped.set(fact.subject_id, [fact])
  }
  return grouped
}

function ascending(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0
}
