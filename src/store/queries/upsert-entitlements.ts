import type { EntitlementState } from '../../facts/entitlement.ts'
import type { Queryable, Statement } from '../database.ts'

const LOAD: Statement = {
  name: 'load-entitlements',
  text: `
    select e.order_id, e.item, e.quantity, e.state, e.revision
    from unnest($2::bigint[]) as k(id),
      lateral (select * from entitlements where order_id = k.id and bucket = $1 offset 0) e`,
}

const UPSERT: Statement = {
  name: 'upsert-entitlements',
  text: `
    insert into entitlements (bucket, updated_at, order_id, item, quantity, state, revision)
    select $1, $2, e.order_id, e.item, e.quantity, e.state, e.revision
    from unnest($3::bigint[], $4::text[], $5::int[], $6::text[], $7::bigint[]) as e(order_id, item, quantity, state, revision)
    on conflict (order_id, item, bucket) do update set
      updated_at = excluded.updated_at, quantity = excluded.quantity, state = excluded.state, revision = excluded.revision`,
}

export interface EntitlementRow {
  readonly order_id: bigint
  readonly item: string
  readonly quantity: number
  readonly state: EntitlementState
  readonly revision: bigint
}

export function loadEntitlements(
  db: Queryable,
  bucket: number,
  order_ids: readonly bigint[],
): Promise<EntitlementRow[]> {
  return db.query<EntitlementRow>(LOAD, [bucket, order_ids])
}

/** Writes the rights of orders whose rows the caller has locked. */
export async function upsertEntitlements(
  db: Queryable,
  bucket: number,
  as_of: Date,
  rows: readonly EntitlementRow[],
): Promise<void> {
  await db.query(UPSERT, [
    bucket,
    as_of,
    rows.map((row) => row.order_id),
    rows.map((row) => row.item),
    rows.map((row) => row.quantity),
    rows.map((row) => row.state),
    rows.map((row) => row.revision),
  ])
}
