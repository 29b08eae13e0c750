import type { EntitlementState } from '../../facts/entitlement.ts'
import type { Queryable, Statement } from '../database.ts'

const LOAD: Statement = {
  name: 'load-entitlements',
  text: `
    select e.order_id, e.item, e.quantity, e.state, e.revision
    from unnest($2::bigint[]) as k(id),
      lateral (select * from entitlements where order_id = k.id and bucket = $1 offset 0) e`,
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
