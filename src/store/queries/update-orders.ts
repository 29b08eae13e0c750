import type { OrderBook, OrderState } from '../../rules/order-state.ts'
import type { Queryable, Statement } from '../database.ts'
import type { EntitlementRow } from './load-entitlements.ts'
import { encodeBook } from './order-row.ts'
import { arrayLiteral } from './payment-arrays.ts'

// By primary key through ON CONFLICT, for the reason given in update-payments.ts. A book that did not change is not sent.
const UPDATE: Statement = {
  name: 'update-orders',
  text: `
    with rights as (
      insert into entitlements (bucket, updated_at, order_id, item, quantity, state, revision)
      select $1, $2, e.order_id, e.item, e.quantity, e.state, e.revision
      from unnest($21::bigint[], $22::text[], $23::int[], $24::text[], $25::bigint[])
        as e(order_id, item, quantity, state, revision)
      on conflict (order_id, item, bucket) do update set
        updated_at = excluded.updated_at, quantity = excluded.quantity, state = excluded.state,
        revision = excluded.revision
    ), updated as (
    insert into orders (bucket, created_at, updated_at, id, facts_rev, tenant, reference, effect_seq, open_exceptions,
      has_entitlements, status, currency, amount_minor, paid_minor, net_minor, surplus_minor, payment_ids,
      next_wakeup_at, book, subscription_ids, holder)
    select $1, $2, $2, o.id, o.facts_rev + 1, o.tenant, o.reference, o.effect_seq, o.open_exceptions,
      o.has_entitlements, o.status, o.currency, o.amount_minor, o.paid_minor, o.net_minor, o.surplus_minor,
      o.payment_ids::bigint[], o.next_wakeup_at, o.book, o.subscription_ids::bigint[],
      o.holder
    from unnest($3::bigint[], $4::bigint[], $5::text[], $6::text[], $7::bigint[], $8::int[], $9::boolean[], $10::text[],
      $11::text[], $12::numeric[], $13::numeric[], $14::numeric[], $15::numeric[], $16::text[], $17::timestamptz[],
      $18::jsonb[], $19::text[], $20::text[])
      as o(id, facts_rev, tenant, reference, effect_seq, open_exceptions, has_entitlements, status, currency,
        amount_minor, paid_minor, net_minor, surplus_minor, payment_ids, next_wakeup_at, book,
        subscription_ids, holder)
    on conflict (id, bucket) do update set
      facts_rev = excluded.facts_rev, updated_at = excluded.updated_at, effect_seq = excluded.effect_seq,
      open_exceptions = excluded.open_exceptions, has_entitlements = excluded.has_entitlements,
      status = excluded.status, currency = excluded.currency, amount_minor = excluded.amount_minor,
      paid_minor = excluded.paid_minor, net_minor = excluded.net_minor, surplus_minor = excluded.surplus_minor,
      payment_ids = excluded.payment_ids, next_wakeup_at = excluded.next_wakeup_at,
      book = coalesce(excluded.book, orders.book), subscription_ids = excluded.subscription_ids,
      holder = coalesce(excluded.holder, orders.holder)
      where orders.facts_rev = excluded.facts_rev - 1
    returning 1
    )
    select 1 / (count(*) = cardinality($3::bigint[]))::int from updated`,
}

export interface OrderWrite {
  readonly id: bigint
  readonly facts_rev: bigint
  readonly tenant: string
  readonly reference: string
  readonly effect_seq: bigint
  readonly open_exceptions: number
  readonly has_entitlements: boolean
  readonly payment_ids: readonly bigint[]
  readonly subscription_ids: readonly bigint[]
  /** Null where the stored one stands. */
  readonly book: OrderBook | null
  readonly terms: OrderBook['terms']
  readonly state: OrderState
}

/**
 * Writes derived states, the rights that changed, and raises each row's revision. Fails with `MOVED_ON` when a row was no longer at the revision
 * that was read.
 */
export async function updateOrders(
  db: Queryable,
  bucket: number,
  as_of: Date,
  orders: readonly OrderWrite[],
  rights: readonly EntitlementRow[],
): Promise<void> {
  await db.query(UPDATE, [
    bucket,
    as_of,
    orders.map((order) => order.id),
    orders.map((order) => order.facts_rev),
    orders.map((order) => order.tenant),
    orders.map((order) => order.reference),
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
    orders.map((order) => arrayLiteral(order.subscription_ids)),
    orders.map((order) => order.terms?.holder ?? null),
    rights.map((right) => right.order_id),
    rights.map((right) => right.item),
    rights.map((right) => right.quantity),
    rights.map((right) => right.state),
    rights.map((right) => right.revision),
  ])
}
