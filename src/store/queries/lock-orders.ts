import type { Queryable, Statement } from '../database.ts'
import { ORDER_COLUMNS, type OrderKey, type OrderRow } from './order-row.ts'

const LOCK: Statement = {
  name: 'lock-orders',
  text: `
    select o.* from unnest($2::text[], $3::text[]) as k(tenant, reference),
      lateral (
        select ${ORDER_COLUMNS} from orders
        where reference = k.reference and tenant = k.tenant and bucket = $1
        for no key update offset 0
      ) o`,
}

/** Locks the rows of these references, in the order given, and reads them. Missing ones are missing from the answer. */
export function lockOrders(db: Queryable, bucket: number, keys: readonly OrderKey[]): Promise<OrderRow[]> {
  return db.query<OrderRow>(LOCK, [bucket, keys.map((key) => key.tenant), keys.map((key) => key.reference)])
}
