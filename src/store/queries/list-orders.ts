import type { Queryable, Statement } from '../database.ts'

/** Every derived column of an order. */
export interface WholeOrderRow {
  readonly id: bigint
  readonly tenant: string
  readonly reference: string
  readonly status: string
  readonly currency: string | null
  readonly amount_minor: string | null
  readonly paid_minor: string
  readonly net_minor: string
  readonly surplus_minor: string
  readonly payment_ids: readonly bigint[]
  readonly subscription_ids: readonly bigint[]
  readonly holder: string | null
  /** As stored; null for a placeholder. */
  readonly book: object | null
  readonly next_wakeup_at: Date | null
  readonly open_exceptions: number
  readonly has_entitlements: boolean
  readonly created_at: Date
  /** The database's clock when its state was last derived. */
  readonly updated_at: Date
}

const COLUMNS = `id, tenant, reference, status, currency, amount_minor, paid_minor, net_minor, surplus_minor, payment_ids,
  subscription_ids, holder, book, next_wakeup_at, open_exceptions, has_entitlements, created_at, updated_at`

const LIST: Statement = {
  name: 'list-orders',
  text: `select ${COLUMNS} from orders where id > $2 and bucket = $1 order by id limit $3`,
}

const BY_ID: Statement = {
  name: 'load-whole-orders',
  text: `select ${COLUMNS} from orders where id = any($2::bigint[]) and bucket = $1 order by id`,
}

const BY_REFERENCE: Statement = {
  name: 'find-orders-by-reference',
  text: `
    select o.* from unnest($2::text[], $3::text[]) as k(tenant, reference),
      lateral (
        select ${COLUMNS} from orders
        where reference = k.reference and tenant = k.tenant and bucket = $1 offset 0
      ) o`,
}

const ANNOUNCED: Statement = {
  name: 'list-announced-revisions',
  text: `
    select subject_id, item, max(revision) as revision from effects
    where subject_id = any($2::bigint[]) and topic = 'entitlement.changed' and bucket = $1
    group by subject_id, item`,
}

/** A page of orders in id order, those after `after`. */
export function listOrders(
  db: Queryable,
  bucket: number,
  after: bigint,
  limit: number,
): Promise<WholeOrderRow[]> {
  return db.query<WholeOrderRow>(LIST, [bucket, after, limit])
}

export function loadWholeOrders(
  db: Queryable,
  bucket: number,
  ids: readonly bigint[],
): Promise<WholeOrderRow[]> {
  return db.query<WholeOrderRow>(BY_ID, [bucket, ids])
}

export function findOrdersByReference(
  db: Queryable,
  bucket: number,
  keys: readonly { readonly tenant: string; readonly reference: string }[],
): Promise<WholeOrderRow[]> {
  return db.query<WholeOrderRow>(BY_REFERENCE, [
    bucket,
    keys.map((key) => key.tenant),
    keys.map((key) => key.reference),
  ])
}

/** The newest revision of each item that was ever put into the outbox. */
export function listAnnouncedRevisions(
  db: Queryable,
  bucket: number,
  order_ids: readonly bigint[],
): Promise<{ subject_id: bigint; item: string; revision: bigint }[]> {
  return db.query(ANNOUNCED, [bucket, order_ids])
}
