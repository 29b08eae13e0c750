import type { Queryable, Statement } from '../database.ts'
import { type OrderKey, orderLock } from './order-row.ts'

const INSERT: Statement = {
  name: 'insert-orders',
  text: `
    insert into orders (bucket, facts_rev, created_at, updated_at, tenant, reference, status)
    select $1, 0, $2, $2, o.tenant, o.reference, 'awaiting_terms'
    from unnest($3::text[], $4::text[]) as o(tenant, reference)
    on conflict (reference, tenant, bucket) do nothing
    returning id, tenant, reference`,
}

/**
 * Inserts placeholders for references that no row stands for yet, so that "order created" and "payment arrived" meet
 * on one lock. Gives the id of each inserted one by its lock.
 */
export async function insertOrders(
  db: Queryable,
  bucket: number,
  as_of: Date,
  orders: readonly OrderKey[],
): Promise<Map<string, bigint>> {
  const rows = await db.query<OrderKey & { id: bigint }>(INSERT, [
    bucket,
    as_of,
    orders.map((order) => order.tenant),
    orders.map((order) => order.reference),
  ])
  return new Map(rows.map((row) => [orderLock(row), row.id]))
}
