import type { Queryable, Statement } from '../database.ts'
import type { ReconciledAccount } from './run-reconciliation.ts'

const UNSEEN = (id: string, kind: string) => `
  not exists (
    select 1 from reconciliation_items i
    where i.reconciliation_id = $5 and i.item_id = p.${id} and i.kind = '${kind}' and i.bucket = $1
  )`

// Each statement walks a bounded number of rows and says how far it came, so that none runs for long on a large table.
const PAYMENTS: Statement = {
  name: 'list-unlisted-payments',
  text: `
    with walked as (select * from payments where id > $8 and bucket = $1 order by id limit $9),
    reached as (select max(id) as id, count(*) as walked from walked)
    select r.id as reached, r.walked, u.* from reached r left join (
      select p.provider_payment_id as item_id, p.provider_payment_id as payment, p.status, p.currency,
        p.captured_minor as amount_minor, p.moved_at, p.updated_at
      from walked p
      where p.namespace = $2 and p.account = $3 and p.tenant = $4 and p.captured_minor > 0 and p.status <> 'linked'
        and p.moved_at >= $6 and p.moved_at < $7 and ${UNSEEN('provider_payment_id', 'payments')}
    ) u on true`,
}

const REFUNDS: Statement = {
  name: 'list-unlisted-refunds',
  text: `
    with walked as (select * from refunds where id > $8 and bucket = $1 order by id limit $9),
    reached as (select max(id) as id, count(*) as walked from walked)
    select r.id as reached, r.walked, u.* from reached r left join (
      select p.provider_refund_id as item_id,
        (select provider_payment_id from payments m where m.id = p.payment_id and m.bucket = $1) as payment, p.status,
        p.currency, p.amount_minor, p.moved_at, p.updated_at
      from walked p
      where p.namespace = $2 and p.account = $3 and p.tenant = $4 and p.status = 'succeeded'
        and coalesce(p.moved_at, p.updated_at) >= $6 and coalesce(p.moved_at, p.updated_at) < $7
        and ${UNSEEN('provider_refund_id', 'refunds')}
    ) u on true`,
}

const DISPUTES: Statement = {
  name: 'list-unlisted-disputes',
  text: `
    with walked as (select * from disputes where id > $8 and bucket = $1 order by id limit $9),
    reached as (select max(id) as id, count(*) as walked from walked)
    select r.id as reached, r.walked, u.* from reached r left join (
      select p.provider_dispute_id as item_id,
        (select provider_payment_id from payments m where m.id = p.payment_id and m.bucket = $1) as payment, p.status,
        p.currency, p.amount_minor, null::timestamptz as moved_at, p.updated_at
      from walked p
      where p.namespace = $2 and p.account = $3 and p.tenant = $4 and p.updated_at >= $6 and p.updated_at < $7
        and ${UNSEEN('provider_dispute_id', 'disputes')}
    ) u on true`,
}

// Asked for the few that were not listed, each by key: inside the walk a planner without statistics does it for all.
const TWINS: Statement = {
  name: 'find-listed-twins',
  text: `
    select k.id as item_id
    from unnest($6::text[]) as k(id),
      lateral (
        select * from payments
        where provider_payment_id = k.id and namespace = $2 and account = $3 and tenant = $4 and bucket = $1
        offset 0
      ) p
    where exists (
      select 1
      from unnest(p.order_refs) as named(reference),
        lateral (
          select payment_ids from orders
          where reference = named.reference and tenant = $4 and bucket = $1
          offset 0
        ) o,
        unnest(o.payment_ids) as other_id,
        lateral (select * from payments where id = other_id and bucket = $1 offset 0) other,
        lateral (
          select 1 from reconciliation_items
          where reconciliation_id = $5 and item_id = other.provider_payment_id and kind = 'payments' and bucket = $1
          offset 0
        ) i
      where other.id <> p.id and other.captured_minor = p.captured_minor and other.currency = p.currency
    )`,
}

const BY_KIND = { payments: PAYMENTS, refunds: REFUNDS, disputes: DISPUTES } as const

/** What we know of the window and the run did not list. */
export interface UnlistedRow {
  readonly item_id: string
  readonly payment: string | null
  readonly status: string
  readonly currency: string | null
  readonly amount_minor: string | null
  /** When its money moved; null where nobody told. */
  readonly moved_at: Date | null
  readonly updated_at: Date
}

export interface UnlistedPage {
  readonly rows: readonly UnlistedRow[]
  /** Where the next page starts; null when this was the last. */
  readonly next: bigint | null
}

/** Walks one part of our rows, those after `after`, and gives those of the window that the run did not list. */
export async function listUnlisted(
  db: Queryable,
  bucket: number,
  account: ReconciledAccount,
  run: { readonly id: bigint; readonly from_at: Date; readonly to_at: Date },
  kind: keyof typeof BY_KIND,
  after: bigint,
): Promise<UnlistedPage> {
  const limit = 5_000
  const rows = await db.query<UnlistedRow & { reached: bigint | null; walked: bigint }>(BY_KIND[kind], [
    bucket,
    account.namespace,
    account.account,
    account.tenant,
    run.id,
    run.from_at,
    run.to_at,
    after,
    limit,
  ])
  const { reached, walked } = rows[0]!
  return { rows: rows.filter((row) => row.item_id !== null), next: walked < limit ? null : reached }
}

/** Of these payments, those beside which another one of the same order and amount was listed. */
export async function findListedTwins(
  db: Queryable,
  bucket: number,
  account: ReconciledAccount,
  run: bigint,
  item_ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const { namespace, account: name, tenant } = account
  const rows = await db.query<{ item_id: string }>(TWINS, [bucket, namespace, name, tenant, run, item_ids])
  return new Set(rows.map((row) => row.item_id))
}
