import type { Queryable } from '../store/database.ts'
import { isMarked } from '../store/queries/list-marks.ts'
import { findOrdersByReference, type WholeOrderRow } from '../store/queries/list-orders.ts'
import type { SubscriptionRow } from '../store/queries/subscription-row.ts'
import { type DerivedSubscription, deriveSubscriptions } from './derive-subscriptions.ts'
import { compare, type Difference, instant, naturalKey } from './difference.ts'
import { type Checked, compareExceptions, type Finding } from './finding.ts'

/** Compares subscriptions, their exceptions and the orders that they settle with what their facts say. */
export async function checkSubscriptions(
  db: Queryable,
  bucket: number,
  rows: readonly SubscriptionRow[],
): Promise<Checked> {
  const derived = [...(await deriveSubscriptions(db, bucket, rows)).values()]
  const [exceptions, orders] = await Promise.all([
    compareExceptions(
      db,
      bucket,
      derived.map(({ row, state }) => ({
        tenant: row.tenant,
        subject_kind: 'subscription',
        subject_key: [row.namespace, row.account, row.provider_subscription_id].join('/'),
        due: state.exceptions,
      })),
    ),
    settled(db, bucket, derived),
  ])
  const findings: Finding[] = []
  for (const [place, subscription] of derived.entries()) {
    const { row, state, payments, order_refs } = subscription
    const differences = [
      ...compare(
        'subscriptions',
        keyOf(row),
        { ...row },
        {
          status: state.status,
          period_end: instant(state.period_end),
          cancel_at: instant(state.cancel_at),
          since: instant(state.since),
          ended_from: state.ended_from,
          price: state.price,
          payment_ids: payments.map((payment) => payment.row.id),
          order_refs,
          open_exceptions: state.exceptions.length,
        },
      ),
      ...exceptions.differences[place]!,
      ...(await compareOrders(db, bucket, subscription, orders)),
    ]
    if (differences.length > 0) findings.push({ id: row.id, differences })
  }
  return { counts: { subscriptions: rows.length, exceptions: exceptions.open }, findings }
}

function keyOf(row: SubscriptionRow): string {
  return naturalKey(row.tenant, row.namespace, row.account, row.provider_subscription_id)
}

function orderName(tenant: string, reference: string): string {
  return `${tenant}\n${reference}`
}

async function settled(
  db: Queryable,
  bucket: number,
  subscriptions: readonly DerivedSubscription[],
): Promise<ReadonlyMap<string, WholeOrderRow>> {
  const keys = subscriptions.flatMap(({ row, order_refs }) =>
    order_refs.map((reference) => ({ tenant: row.tenant, reference })),
  )
  const orders = keys.length > 0 ? await findOrdersByReference(db, bucket, keys) : []
  return new Map(orders.map((order) => [orderName(order.tenant, order.reference), order]))
}

/** Each order that it settles knows it, and its payments that name no order themselves. */
async function compareOrders(
  db: Queryable,
  bucket: number,
  { row, payments, order_refs }: DerivedSubscription,
  orders: ReadonlyMap<string, WholeOrderRow>,
): Promise<Difference[]> {
  const following = payments.filter(({ state }) => state.orders_named.length === 0).map(({ row }) => row.id)
  const differences: Difference[] = []
  for (const reference of order_refs) {
    const order = orders.get(orderName(row.tenant, reference))
    const lacks = [
      ...(order?.subscription_ids.includes(row.id) ? [] : [`subscription ${keyOf(row)}`]),
      ...following.filter((id) => !order?.payment_ids.includes(id)).map((id) => `payment ${id}`),
    ]
    if (lacks.length === 0) continue
    const concerned = [row.id, ...payments.flatMap(({ group }) => group)]
    if (await isMarked(db, bucket, { tenant: row.tenant, reference }, concerned)) continue
    differences.push({
      table: 'orders',
      row: naturalKey(row.tenant, reference),
      column: order ? 'subscription_ids' : 'reference',
      stored: null,
      derived: lacks.join(', '),
    })
  }
  return differences
}
