import { decodeAftermath, encodeAftermath } from '../rules/aftermath.ts'
import type { Queryable } from '../store/database.ts'
import { isMarked } from '../store/queries/list-marks.ts'
import { findOrdersByReference, type WholeOrderRow } from '../store/queries/list-orders.ts'
import { type DisputeRow, listDisputes, listRefunds, type RefundRow } from '../store/queries/list-payments.ts'
import { loadPayments } from '../store/queries/load-payments.ts'
import type { PaymentRow } from '../store/queries/payment-row.ts'
import { type DerivedPayment, derivePayments } from './derive-payments.ts'
import { compare, type Difference, instant, naturalKey } from './difference.ts'
import { type Checked, compareExceptions } from './finding.ts'

/** Compares payments, their refunds, disputes and exceptions with what their facts say. */
export async function checkPayments(
  db: Queryable,
  bucket: number,
  rows: readonly PaymentRow[],
): Promise<Checked> {
  const derived = [...(await derivePayments(db, bucket, rows)).values()]
  const ids = rows.map((row) => row.id)
  const [refunds, disputes, orders, targets, exceptions] = await Promise.all([
    listRefunds(db, bucket, ids),
    listDisputes(db, bucket, ids),
    namedOrders(db, bucket, derived),
    linkTargets(db, bucket, rows),
    compareExceptions(
      db,
      bucket,
      derived.map(({ row, state }) => ({
        tenant: row.tenant,
        subject_kind: 'payment',
        subject_key: [row.namespace, row.account, row.provider_payment_id].join('/'),
        due: state.exceptions,
      })),
    ),
  ])
  const findings = []
  for (const [place, payment] of derived.entries()) {
    const { row } = payment
    const differences = [
      ...comparePayment(payment, targets),
      ...compareRefunds(
        payment,
        refunds.filter((refund) => refund.payment_id === row.id),
      ),
      ...compareDisputes(
        payment,
        disputes.filter((dispute) => dispute.payment_id === row.id),
      ),
      ...exceptions.differences[place]!,
      ...conserved(
        row,
        refunds.filter((refund) => refund.payment_id === row.id),
        disputes.filter((dispute) => dispute.payment_id === row.id),
      ),
    ]
    for (const reference of payment.state.orders_named) {
      const order = orders.get(orderName(row.tenant, reference))
      if (order?.payment_ids.includes(row.id)) continue
      // An order that could not be settled with this payment is marked, and will be.
      if (await isMarked(db, bucket, { tenant: row.tenant, reference }, payment.group)) continue
      differences.push({
        table: 'orders',
        row: naturalKey(row.tenant, reference),
        column: order ? 'payment_ids' : 'reference',
        stored: null,
        derived: order ? String(row.id) : reference,
      })
    }
    if (differences.length > 0) findings.push({ id: row.id, differences })
  }
  const counts = {
    payments: rows.length,
    refunds: refunds.length,
    disputes: disputes.length,
    exceptions: exceptions.open,
  }
  return { counts, findings }
}

function orderName(tenant: string, reference: string): string {
  return `${tenant}\n${reference}`
}

async function namedOrders(
  db: Queryable,
  bucket: number,
  payments: readonly DerivedPayment[],
): Promise<Map<string, WholeOrderRow>> {
  const keys = payments.flatMap(({ row, state }) =>
    state.orders_named.map((reference) => ({ tenant: row.tenant, reference })),
  )
  if (keys.length === 0) return new Map()
  const orders = await findOrdersByReference(db, bucket, keys)
  return new Map(orders.map((order) => [orderName(order.tenant, order.reference), order]))
}

async function linkTargets(
  db: Queryable,
  bucket: number,
  rows: readonly PaymentRow[],
): Promise<Map<bigint, string>> {
  const ids = [...new Set(rows.flatMap((row) => (row.linked_to === null ? [] : [row.linked_to])))]
  const targets = ids.length > 0 ? await loadPayments(db, bucket, ids) : []
  return new Map(targets.map((target) => [target.id, target.provider_payment_id]))
}

function keyOf(row: PaymentRow): string {
  return naturalKey(row.tenant, row.namespace, row.account, row.provider_payment_id)
}

function comparePayment(
  { row, state, link_target, has_stand_ins }: DerivedPayment,
  targets: ReadonlyMap<bigint, string>,
): Difference[] {
  const linked_to =
    row.linked_to === null ? null : (targets.get(row.linked_to) ?? `missing row ${row.linked_to}`)
  return compare(
    'payments',
    keyOf(row),
    {
      ...row,
      linked_to,
      aftermath: encodeAftermath(decodeAftermath(row.aftermath)),
      authorized_minor: BigInt(row.authorized_minor),
      captured_minor: BigInt(row.captured_minor),
      refunded_minor: BigInt(row.refunded_minor),
      refund_pending_minor: BigInt(row.refund_pending_minor),
      disputed_minor: BigInt(row.disputed_minor),
      lost_minor: BigInt(row.lost_minor),
      reversed_minor: BigInt(row.reversed_minor),
    },
    {
      status: state.status,
      currency: state.currency,
      authorized_minor: state.authorized_minor,
      captured_minor: state.captured_minor,
      refunded_minor: state.refunded_minor,
      refund_pending_minor: state.refund_pending_minor,
      disputed_minor: state.disputed_minor,
      lost_minor: state.lost_minor,
      reversed_minor: state.reversed_minor,
      aftermath: encodeAftermath(state.aftermath),
      moved_at: instant(state.moved_at),
      order_refs: state.orders_named,
      subscription_refs: state.subscriptions_named,
      linked_to: link_target,
      has_stand_ins,
      open_exceptions: state.exceptions.length,
      // The refunds of a stand-in are rows of the payment that its money is.
      has_returns: state.refunds.length + state.disputes.length > 0,
    },
  )
}

function compareRefunds({ row, state, tellers }: DerivedPayment, stored: readonly RefundRow[]): Difference[] {
  const rows = new Map(stored.map((refund) => [refund.provider_refund_id, refund]))
  const key = (id: string) => naturalKey(row.tenant, row.namespace, row.account, id)
  const differences: Difference[] = []
  for (const refund of state.refunds) {
    const is = rows.get(refund.refund)
    rows.delete(refund.refund)
    const { stored: told_by, founded } = tellers.get(refund.refund)!
    differences.push(
      ...compare('refunds', key(refund.refund), { claimants: told_by }, { claimants: founded }),
    )
    // One that several tell of stands under the first of them.
    if (!is && told_by.includes(row.id) && told_by[0] !== row.id) continue
    if (!is) differences.push(absent('refunds', key(refund.refund)))
    else {
      const amount_minor = is.amount_minor === null ? null : BigInt(is.amount_minor)
      const { status, currency, origin } = refund
      const moved_at = instant(refund.moved_at)
      const should = { status, amount_minor: refund.amount_minor, currency, origin, moved_at }
      differences.push(...compare('refunds', key(refund.refund), { ...is, amount_minor }, should))
    }
  }
  return [...differences, ...[...rows.keys()].map((id) => unfounded('refunds', key(id)))]
}

function compareDisputes({ row, state }: DerivedPayment, stored: readonly DisputeRow[]): Difference[] {
  const name = (dispute: string, stage: string) => `${dispute}/${stage}`
  const rows = new Map(stored.map((dispute) => [name(dispute.provider_dispute_id, dispute.stage), dispute]))
  const key = (id: string) => naturalKey(row.tenant, row.namespace, row.account, id)
  const differences: Difference[] = []
  for (const dispute of state.disputes) {
    const id = name(dispute.dispute, dispute.stage)
    const is = rows.get(id)
    rows.delete(id)
    if (!is) differences.push(absent('disputes', key(id)))
    else {
      const amounts = {
        amount_minor: is.amount_minor === null ? null : BigInt(is.amount_minor),
        withdrawn_minor: BigInt(is.withdrawn_minor),
        reinstated_minor: BigInt(is.reinstated_minor),
      }
      const { status, amount_minor, currency, withdrawn_minor, reinstated_minor } = dispute
      const respond_by = instant(dispute.respond_by)
      const should = { status, amount_minor, currency, withdrawn_minor, reinstated_minor, respond_by }
      differences.push(...compare('disputes', key(id), { ...is, ...amounts }, should))
    }
  }
  // A dispute that went on to a later stage leaves the rows of the stages before it: they are its history.
  const known = new Set(state.disputes.map(({ dispute }) => dispute))
  const left = [...rows.values()].filter((dispute) => !known.has(dispute.provider_dispute_id))
  return [
    ...differences,
    ...left.map((dispute) => unfounded('disputes', key(name(dispute.provider_dispute_id, dispute.stage)))),
  ]
}

/**
 * Read from the stored rows alone: what the refunds add up to, and what prevented disputes took, is what the payment says
 * was refunded.
 */
function conserved(
  row: PaymentRow,
  refunds: readonly RefundRow[],
  disputes: readonly DisputeRow[],
): Difference[] {
  const succeeded = refunds
    .filter((refund) => refund.status === 'succeeded')
    .reduce((total, refund) => total + BigInt(refund.amount_minor ?? '0'), 0n)
  const prevented = disputes
    .filter((dispute) => dispute.status === 'prevented')
    .reduce((total, dispute) => total + BigInt(dispute.withdrawn_minor), 0n)
  const refunded = BigInt(row.refunded_minor)
  if (refunded <= succeeded + prevented) return []
  return [
    {
      table: 'payments',
      row: keyOf(row),
      column: 'refunded_minor (against its refunds)',
      stored: String(refunded),
      derived: String(succeeded),
    },
  ]
}

function absent(table: string, row: string): Difference {
  return { table, row, column: 'row', stored: null, derived: 'present' }
}

function unfounded(table: string, row: string): Difference {
  return { table, row, column: 'row', stored: 'present', derived: null }
}
