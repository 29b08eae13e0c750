import type { Decision } from '../facts/decision.ts'
import { Fault } from '../facts/fault.ts'
import type { PaidOnce } from '../paidonce.ts'
import { orderBasis } from '../rules/basis.ts'
import { deriveOrderBook } from '../rules/derive-order-book.ts'
import { readStoredBook } from '../rules/stored-book.ts'
import { summarizeRow } from '../settle/orders.ts'
import type { Queryable } from '../store/database.ts'
import { type ListedEffect, listEffectsOf } from '../store/queries/list-effects.ts'
import { type ExceptionRow, listExceptionsOf } from '../store/queries/list-exceptions.ts'
import { type ListedAnswer, listLookupAnswers } from '../store/queries/list-lookup-answers.ts'
import { listOperations } from '../store/queries/list-operations.ts'
import { findOrdersByReference, type WholeOrderRow } from '../store/queries/list-orders.ts'
import { type DisputeRow, listDisputes, listRefunds, type RefundRow } from '../store/queries/list-payments.ts'
import { listTimeline, type TimelineFact, type TimelineWitness } from '../store/queries/list-timeline.ts'
import { type EntitlementRow, loadEntitlements } from '../store/queries/load-entitlements.ts'
import { loadLinked, loadPayments } from '../store/queries/load-payments.ts'
import type { OperationRow } from '../store/queries/operation-row.ts'
import type { PaymentRow } from '../store/queries/payment-row.ts'
import { readSnapshot } from '../store/snapshot.ts'

/** Everything that is known of one order, read at one moment. */
export interface OrderStory {
  readonly order: WholeOrderRow
  readonly entitlements: readonly EntitlementRow[]
  readonly payments: readonly PaymentRow[]
  readonly stand_ins: readonly PaymentRow[]
  readonly refunds: readonly RefundRow[]
  readonly disputes: readonly DisputeRow[]
  readonly exceptions: readonly ExceptionRow[]
  readonly effects: readonly ListedEffect[]
  /** What providers answered about its payments. */
  readonly answers: readonly ListedAnswer[]
  /** What we asked providers to do about it. */
  readonly operations: readonly OperationRow[]
  /** Decisions that stand. */
  readonly decisions: readonly Decision[]
  /** Digest of what decisions about it rest on now; shown to whoever decides. */
  readonly basis: string
  readonly facts: readonly (TimelineFact & {
    readonly about: string
    readonly witnesses: readonly TimelineWitness[]
  })[]
}

const NO_BOOK = deriveOrderBook([])

/** Throws Fault `not_found` for a reference that nothing speaks of. */
export function showOrder(
  paidonce: PaidOnce,
  reference: string,
  tenant = paidonce.tenant,
): Promise<OrderStory> {
  const bucket = paidonce.bucketOf(tenant)
  return readSnapshot(paidonce.database, async (db) => {
    const [order] = await findOrdersByReference(db, bucket, [{ tenant, reference }])
    if (!order) {
      throw new Fault(
        'not_found',
        `Nothing is known of order ${reference}. Nobody registered it and no payment names it; see \`paidonce orders list\`.`,
      )
    }
    const ids = [...order.payment_ids]
    const [payments, stand_ins] = await Promise.all([
      ids.length > 0 ? loadPayments(db, bucket, ids) : [],
      ids.length > 0 ? loadLinked(db, bucket, ids) : [],
    ])
    const subjects = [order.id, ...[...payments, ...stand_ins].map((payment) => payment.id)]
    const payment_ids = [...payments, ...stand_ins].map((payment) => payment.provider_payment_id)
    const [entitlements, refunds, disputes, exceptions, effects, timeline, answers, operations] =
      await Promise.all([
        loadEntitlements(db, bucket, [order.id]),
        listRefunds(db, bucket, ids),
        listDisputes(db, bucket, ids),
        listExceptionsOf(db, bucket, subjects),
        listEffectsOf(db, bucket, subjects),
        listTimeline(db, bucket, subjects),
        listLookupAnswers(db, bucket, tenant, payment_ids),
        operationsOf(db, bucket, tenant, reference, payment_ids),
      ])
    const names = new Map([...payments, ...stand_ins].map((row) => [row.id, row.provider_payment_id]))
    const facts = timeline.facts.map((fact) => ({
      ...fact,
      about: names.get(fact.subject_id) ?? `order ${reference}`,
      witnesses: timeline.witnesses.filter((witness) => witness.fact_id === fact.id),
    }))
    const book = order.book === null ? NO_BOOK : readStoredBook(order.book)
    const basis = orderBasis(book, payments.map(summarizeRow))
    const { decisions } = book
    return {
      order,
      entitlements,
      payments,
      stand_ins,
      refunds,
      disputes,
      exceptions,
      effects,
      answers,
      operations,
      decisions,
      basis,
      facts,
    }
  })
}

/** Charges for the order, and refunds of its payments, oldest first. */
async function operationsOf(
  db: Queryable,
  bucket: number,
  tenant: string,
  order: string,
  payment_ids: readonly string[],
): Promise<OperationRow[]> {
  const limit = 1_000
  const lists = await Promise.all([
    listOperations(db, bucket, { tenant, order, limit }),
    ...payment_ids.map((payment) => listOperations(db, bucket, { tenant, payment, limit })),
  ])
  const once = new Map(lists.flat().map((operation) => [operation.id, operation]))
  return [...once.values()].sort((a, b) => (a.id < b.id ? -1 : 1))
}
