import { deriveOrder } from '../rules/derive-order.ts'
import { deriveOrderBook } from '../rules/derive-order-book.ts'
import { type OneShotBefore, staleOneShots, withUnjustified } from '../rules/one-shots.ts'
import type { OrderBook, OrderState } from '../rules/order-state.ts'
import type { PaymentSummary } from '../rules/payment-state.ts'
import { stands } from '../rules/plan-effects.ts'
import { paidOrders } from '../rules/settled-orders.ts'
import { readStoredBook } from '../rules/stored-book.ts'
import { summarize, summarizeSubscription } from '../rules/summarize.ts'
import type { Queryable } from '../store/database.ts'
import { isMarked } from '../store/queries/list-marks.ts'
import { listAnnouncedRevisions, type WholeOrderRow } from '../store/queries/list-orders.ts'
import { type EntitlementRow, loadEntitlements } from '../store/queries/load-entitlements.ts'
import { listOneShots } from '../store/queries/load-one-shots.ts'
import { loadPayments } from '../store/queries/load-payments.ts'
import { loadSubscriptions } from '../store/queries/load-subscriptions.ts'
import { encodeBook } from '../store/queries/order-row.ts'
import { subjectOf } from '../store/queries/payment-row.ts'
import { type DerivedPayment, derivePayments } from './derive-payments.ts'
import { deriveSubscriptions } from './derive-subscriptions.ts'
import { compare, type Difference, instant, naturalKey } from './difference.ts'
import { factsOf } from './facts-of.ts'
import { type Checked, compareExceptions, type Finding } from './finding.ts'

/** An order as its facts and its payments' facts say it is. */
interface DerivedOrder {
  readonly row: WholeOrderRow
  readonly book: OrderBook
  readonly state: OrderState
  /** What its payments amount to. */
  readonly summaries: readonly PaymentSummary[]
  /** Of the payments on the row, those whose facts name the order. */
  readonly payment_ids: readonly bigint[]
  /** Of the subscriptions on the row, those that settle the order. */
  readonly subscription_ids: readonly bigint[]
  /** All of these, and the payments' stand-ins. */
  readonly concerned: readonly bigint[]
}

const NO_BOOK = deriveOrderBook([])

/** Compares orders, the rights they give, their exceptions and announcements with what the facts say. */
export async function checkOrders(
  db: Queryable,
  bucket: number,
  rows: readonly WholeOrderRow[],
): Promise<Checked> {
  const ids = rows.map((row) => row.id)
  const one_shots = await listOneShots(db, bucket, ids)
  const sentFor = (id: bigint) => one_shots.filter((row) => row.subject_id === id)
  const derived = (await deriveOrders(db, bucket, rows)).map((order) => ({
    ...order,
    state: withUnjustified(order.row.reference, sentFor(order.row.id), order.state, order.summaries),
  }))
  const [entitlements, announced, exceptions] = await Promise.all([
    loadEntitlements(db, bucket, ids),
    listAnnouncedRevisions(db, bucket, ids),
    compareExceptions(
      db,
      bucket,
      derived.map(({ row, state }) => ({
        tenant: row.tenant,
        subject_kind: 'order',
        subject_key: row.reference,
        due: state.exceptions,
      })),
    ),
  ])
  const revisions = new Map(announced.map((row) => [`${row.subject_id}\n${row.item}`, row.revision]))
  const rights = new Map<bigint, EntitlementRow[]>(ids.map((id) => [id, []]))
  for (const right of entitlements) rights.get(right.order_id)!.push(right)
  const findings: Finding[] = []
  for (const [place, order] of derived.entries()) {
    const { row } = order
    const own = rights.get(row.id)!
    const differences = [
      ...compareOrder(order, own.length > 0),
      ...compareRights(order, own),
      ...compareAnnounced(order, own, revisions),
      ...compareOneShots(order, sentFor(row.id)),
      ...exceptions.differences[place]!,
    ]
    if (differences.length === 0 || (await isMarked(db, bucket, row, order.concerned))) continue
    findings.push({ id: row.id, differences })
  }
  const counts = { orders: rows.length, entitlements: entitlements.length, exceptions: exceptions.open }
  return { counts, findings }
}

async function deriveOrders(
  db: Queryable,
  bucket: number,
  rows: readonly WholeOrderRow[],
): Promise<DerivedOrder[]> {
  const subscription_ids = [...new Set(rows.flatMap((row) => row.subscription_ids))]
  const subscriptions = await deriveSubscriptions(
    db,
    bucket,
    subscription_ids.length > 0 ? await loadSubscriptions(db, bucket, subscription_ids) : [],
  )
  const payment_ids = [...new Set(rows.flatMap((row) => row.payment_ids))]
  const payments = await derivePayments(
    db,
    bucket,
    payment_ids.length > 0 ? await loadPayments(db, bucket, payment_ids) : [],
  )
  const facts = await factsOf(
    db,
    bucket,
    new Map(rows.map((row) => [row.id, { kind: 'order', reference: row.reference }])),
  )
  return rows.map((row) => {
    const book = deriveOrderBook(facts.get(row.id)!)
    const settling = row.subscription_ids.flatMap((id) => {
      const subscription = subscriptions.get(id)
      return subscription?.order_refs.includes(row.reference) ? [subscription] : []
    })
    const naming = row.payment_ids.flatMap((id) => {
      const payment = payments.get(id)
      if (!payment) return []
      const through = settling.filter((subscription) =>
        subscription.payments.some(({ row }) => row.id === id),
      )
      const orders = paidOrders(
        payment.state.orders_named,
        through.map((subscription) => subscription.order_refs),
      )
      return orders.includes(row.reference) ? [payment] : []
    })
    const summaries = naming.map(({ row: payment, state }) => summarize(subjectOf(payment), state))
    return {
      row,
      book,
      // Time alone turns an unpaid order into an expired one, at its next settling; so the time of its last counts.
      state: deriveOrder(
        row.reference,
        book,
        summaries,
        row.updated_at.toISOString(),
        settling.map(({ row, state, order_refs }) =>
          summarizeSubscription(row.provider_subscription_id, row.account, state, order_refs),
        ),
      ),
      summaries,
      payment_ids: naming.map((payment) => payment.row.id),
      subscription_ids: settling.map((subscription) => subscription.row.id),
      concerned: [...concerned(row, payments), ...row.subscription_ids],
    }
  })
}

function concerned(row: WholeOrderRow, payments: ReadonlyMap<bigint, DerivedPayment>): bigint[] {
  return [row.id, ...row.payment_ids.flatMap((id) => payments.get(id)?.group ?? [id])]
}

function keyOf(row: WholeOrderRow): string {
  return naturalKey(row.tenant, row.reference)
}

function compareOrder(
  { row, book, state, payment_ids, subscription_ids }: DerivedOrder,
  gives_rights: boolean,
): Difference[] {
  const stored = {
    ...row,
    amount_minor: row.amount_minor === null ? null : BigInt(row.amount_minor),
    paid_minor: BigInt(row.paid_minor),
    net_minor: BigInt(row.net_minor),
    surplus_minor: BigInt(row.surplus_minor),
    // Read and written anew, so that one of another release, which knew fewer options, is no difference.
    book: sortedJson(JSON.parse(encodeBook(row.book === null ? NO_BOOK : readStoredBook(row.book)))),
  }
  return compare('orders', keyOf(row), stored, {
    status: state.status,
    currency: book.terms?.currency ?? null,
    amount_minor: book.terms?.amount_minor ?? null,
    paid_minor: state.paid_minor,
    net_minor: state.net_minor,
    surplus_minor: state.surplus_minor,
    payment_ids,
    subscription_ids,
    ...(book.terms === null ? {} : { holder: book.terms.holder ?? null }),
    next_wakeup_at: instant(state.next_wakeup),
    book: sortedJson(JSON.parse(encodeBook(book))),
    has_entitlements: gives_rights,
    open_exceptions: state.exceptions.length,
  })
}

/** A right that is `held` may be anything: the facts contradict each other and it stays as it was. */
function compareRights({ row, state }: DerivedOrder, stored: readonly EntitlementRow[]): Difference[] {
  const rights = new Map(stored.map((right) => [right.item, right]))
  const key = (item: string) => `${keyOf(row)} ${item}`
  const differences = state.entitlements.flatMap((target) => {
    const right = rights.get(target.item)
    rights.delete(target.item)
    if (target.state === 'held') return []
    const quantity = right?.quantity ?? target.quantity
    return compare(
      'entitlements',
      key(target.item),
      { state: right?.state ?? 'none', quantity },
      { state: target.state, quantity: target.quantity },
    )
  })
  const { rest } = state
  if (rest !== undefined) {
    const following = rest === 'held' ? [] : [...rights.values()].filter((right) => stands(right.state))
    return [
      ...differences,
      ...following.flatMap((right) =>
        compare('entitlements', key(right.item), { state: right.state }, { state: rest }),
      ),
    ]
  }
  if (state.entitlements.length === 0 || state.entitlements.some((target) => target.state === 'held')) {
    return differences
  }
  const unnamed = [...rights.values()].filter((right) => right.state !== 'none' && right.state !== 'revoked')
  return [
    ...differences,
    ...unnamed.flatMap((right) =>
      compare('entitlements', key(right.item), { state: right.state }, { state: 'revoked' }),
    ),
  ]
}

/** Every revision that a right has reached stands in the outbox, and the outbox tells of none that it has not. */
function compareAnnounced(
  { row }: DerivedOrder,
  stored: readonly EntitlementRow[],
  revisions: ReadonlyMap<string, bigint>,
): Difference[] {
  return stored.flatMap((right) => {
    const announced = revisions.get(`${row.id}\n${right.item}`) ?? 0n
    return compare(
      'effects',
      `entitlement.changed ${keyOf(row)} ${right.item}`,
      { revision: announced },
      { revision: right.revision },
    )
  })
}

/** A receipt or refund that lost its cause before anyone tried it is taken back. */
function compareOneShots({ row, state }: DerivedOrder, sent: readonly OneShotBefore[]): Difference[] {
  return staleOneShots(row.reference, sent, state).map(({ topic, cause }) => ({
    table: 'effects',
    row: `${topic} ${keyOf(row)} ${cause}`,
    column: 'state',
    stored: 'due',
    derived: 'withdrawn',
  }))
}

function sortedJson(value: unknown): string {
  return JSON.stringify(value, (_name, entry) =>
    entry !== null && typeof entry === 'object' && !Array.isArray(entry)
      ? Object.fromEntries(Object.entries(entry).sort(([a], [b]) => (a < b ? -1 : 1)))
      : entry,
  )
}
