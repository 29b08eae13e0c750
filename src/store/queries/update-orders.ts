import type { OrderBook, OrderState } from '../../rules/order-state.ts'
import type { Queryable, Statement } from '../database.ts'
import { encodeBook } from './order-row.ts'
import { arrayLiteral } from './payment-arrays.ts'

const UPDATE: Statement = {
  name: 'update-orders',
  text: `
    update orders o set
      facts_rev = o.facts_rev + 1, updated_at = $2, effect_seq = u.effect_seq, open_exceptions = u.open_exceptions,
      has_entitlements = u.has_entitlements, status = u.status, currency = u.currency, amount_minor = u.amount_minor,
      paid_minor = u.paid_minor, net_minor = u.net_minor, surplus_minor = u.surplus_minor,
      payment_ids = u.payment_ids::bigint[], next_wakeup_at = u.next_wakeup_at, book = coalesce(u.book, o.book)
    from unnest($3::bigint[], $4::bigint[], $5::bigint[], $6::int[], $7::boolean[], $8::text[], $9::text[], $10::numeric[],
      $11::numeric[], $12::numeric[], $13::numeric[], $14::text[], $15::timestamptz[], $16::jsonb[])
      as u(id, facts_rev, effect_seq, open_exceptions, has_entitlements, status, currency, amount_minor, paid_minor,
        net_minor, surplus_minor, payment_ids, next_wakeup_at, book)
    where o.id = u.id and o.bucket = $1 and o.facts_rev = u.facts_rev
    returning o.id`,
}

export interface OrderWrite {
  readonly id: bigint
  readonly facts_rev: bigint
  readonly effect_seq: bigint
  readonly open_exceptions: number
  readonly has_entitlements: boolean
  readonly payment_ids: readonly bigint[]
  /** Null where the stored one stands. */
  readonly book: OrderBook | null
  readonly terms: OrderBook['terms']
  readonly state: OrderState
}

/** Writes derived states and raises each row's revision. Gives how many rows were still at the revision that was read. */
export async function updateOrders(
  db: Queryable,
  bucket: number,
  as_of: Date,
  orders: readonly OrderWrite[],
): Promise<number> {
  const rows = await db.query(UPDATE, [
    bucket,
    as_of,
    orders.map((order) => order.id),
    orders.map((order) => order.facts_rev),
    orders.map((order) => order.effect_seq),
    orders.map((order) => order.open_exceptions),
    orders.map((order) => order.has_entitlements),
    orders.map((order) => order.state.status),
    orders.map((order) => order.terms?.currency ?? null),
    orders.map((order) => order.terms?.amount_minor ?? null),
    orders.map((order) => order.state.paid_minor),
    orders.map((order) => order.state.net_minor),
    orders.map((order) => order.state.surplus_minor),
    orders.map((order) => arrayLiteral(order.payment_ids)),
    orders.map((order) => order.state.next_wakeup),
    orders.map((order) => (order.book ? encodeBook(order.book) : null)),
  ])
  return rows.length
}
