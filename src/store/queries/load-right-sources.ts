import type { EntitlementState } from '../../facts/entitlement.ts'
import type { Queryable, Statement } from '../database.ts'
import type { RightKey } from './right-row.ts'

const LOAD: Statement = {
  name: 'load-right-sources',
  text: `
    select k.tenant, k.holder, k.item, s.order_id, s.quantity, s.state
    from unnest($2::text[], $3::text[], $4::text[]) as k(tenant, holder, item),
      lateral (
        select e.order_id, e.quantity, e.state
        from orders o join entitlements e on e.order_id = o.id and e.item = k.item and e.bucket = $1
        where o.holder = k.holder and o.tenant = k.tenant and o.bucket = $1
        offset 0
      ) s`,
}

/** What one order gives a holder of one item, as stored. */
export interface RightSourceRow extends RightKey {
  readonly order_id: bigint
  readonly quantity: number
  readonly state: EntitlementState
}

/**
 * What all orders of these holders give of these items. To be read in a statement after the lock of the right: whoever
 * changes an order of the holder holds it until the change is committed.
 */
export function loadRightSources(
  db: Queryable,
  bucket: number,
  keys: readonly RightKey[],
): Promise<RightSourceRow[]> {
  return db.query<RightSourceRow>(LOAD, [
    bucket,
    keys.map((key) => key.tenant),
    keys.map((key) => key.holder),
    keys.map((key) => key.item),
  ])
}
