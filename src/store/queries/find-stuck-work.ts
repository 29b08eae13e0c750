import type { Queryable, Statement } from '../database.ts'

/** What of a tenant has been waiting too long. */
export interface Stuck {
  readonly tenant: string
  readonly count: bigint
  readonly since: Date
}

export interface StuckLookups extends Stuck {
  readonly endpoint: string
}

export interface UnfulfilledOrder {
  readonly tenant: string
  readonly order_id: bigint
  readonly reference: string
  readonly items: readonly string[]
  readonly since: Date
  readonly attempts: number
}

const EVENTS: Statement = {
  name: 'find-stuck-events',
  text: `
    select tenant, count(*) as count, min(marked_at) as since from unsettled
    where marked_at <= $2 and bucket = $1 group by tenant`,
}

const LOOKUPS: Statement = {
  name: 'find-stuck-lookups',
  text: `
    select tenant, endpoint, count(*) as count, min(due_at) as since from lookups
    where due_at <= $2 and bucket = $1 group by tenant, endpoint`,
}

// Oldest first, so that the limit never hides one that was told already behind one that is new.
const ORDERS: Statement = {
  name: 'find-unfulfilled-orders',
  text: `
    select e.tenant, e.subject_id as order_id, e.subject_key as reference, array_agg(e.item order by e.item) as items,
      min(e.created_at) as since, max(e.attempts) as attempts
    from effects e
    where e.bucket = $1 and e.state = 'due' and e.topic = 'entitlement.changed' and e.subject_kind = 'order'
      and e.created_at <= $2 and e.payload->>'state' = 'granted'
      and not exists (
        select 1 from effects newer
        where newer.subject_id = e.subject_id and newer.topic = e.topic and newer.item = e.item
          and newer.bucket = $1 and newer.revision > e.revision
      )
    group by e.tenant, e.subject_id, e.subject_key
    order by min(e.created_at), e.subject_id limit $3`,
}

/** Kept events and orders to look at again that were marked then or earlier and still stand, by tenant. */
export function findStuckEvents(db: Queryable, bucket: number, marked_before: Date): Promise<Stuck[]> {
  return db.query<Stuck>(EVENTS, [bucket, marked_before])
}

/** Questions to providers that were due then or earlier, by endpoint. */
export function findStuckLookups(db: Queryable, bucket: number, due_before: Date): Promise<StuckLookups[]> {
  return db.query<StuckLookups>(LOOKUPS, [bucket, due_before])
}

/** Orders with a granted right that nobody outside has been told of since then or earlier; the longest waiting first. */
export function findUnfulfilledOrders(
  db: Queryable,
  bucket: number,
  granted_before: Date,
  limit: number,
): Promise<UnfulfilledOrder[]> {
  return db.query<UnfulfilledOrder>(ORDERS, [bucket, granted_before, limit])
}
