import type { Queryable, Statement } from '../database.ts'

export const INVARIANTS = [
  'paid_not_fulfilled',
  'fulfilled_not_paid',
  'effect_unjustified',
  'money_conserved',
] as const
export type Invariant = (typeof INVARIANTS)[number]

// What is marked is kept and will be settled; what changed a moment ago may be settled further at this very moment.
const ORDERS: Statement = {
  name: 'find-broken-orders',
  text: `
    with walked as (select * from orders where id > $2 and bucket = $1 order by id limit $4),
    reached as (select max(id) as reached, count(*) as walked from walked),
    asked as (
      select o.* from walked o
      where o.updated_at < $3 and o.book is not null and o.subscription_ids = '{}'
        and not exists (
          select 1 from unsettled u where u.order_ref = o.reference and u.tenant = o.tenant and u.event_id = 0 and u.bucket = $1
        )
    )
    select r.reached, r.walked, b.* from reached r left join (
      select 'paid_not_fulfilled' as invariant, o.reference as row, 'it is ' || o.status || ' and gives nothing' as detail
      from asked o
      where o.status in ('paid', 'overpaid') and jsonb_array_length(o.book -> 'terms' -> 'items') > 0
        and not exists (
          select 1 from entitlements e
          where e.order_id = o.id and e.state in ('granted', 'suspended', 'expired') and e.bucket = $1
        )
      union all
      select 'fulfilled_not_paid', o.reference, e.item || ' is granted, and the order is ' || o.status
      from asked o join entitlements e on e.order_id = o.id and e.state = 'granted' and e.bucket = $1
      where o.status in ('awaiting_terms', 'awaiting_payment', 'canceled', 'expired') and o.paid_minor = 0
        and o.amount_minor > 0 and coalesce(jsonb_array_length(o.book -> 'decisions'), 0) = 0
      union all
      select 'effect_unjustified', o.reference, 'a receipt is due or went out, and nothing was ever paid'
      from asked o join effects f on f.subject_id = o.id and f.topic = 'receipt.due' and f.state in ('due', 'done') and f.bucket = $1
      where o.paid_minor = 0 and o.amount_minor > 0
        and not exists (
          select 1 from exceptions x
          where x.subject_key = o.reference and x.subject_kind = 'order' and x.kind = 'irreversible_effect_unjustified'
            and x.tenant = o.tenant and x.bucket = $1
        )
      union all
      select 'effect_unjustified', o.reference, f.item || ' was told as ' || (f.payload ->> 'state') || ', and is ' || e.state
      from asked o
        join entitlements e on e.order_id = o.id and e.bucket = $1
        join effects f on f.subject_id = o.id and f.topic = 'entitlement.changed' and f.item = e.item
          and f.revision = e.revision and f.bucket = $1
      where f.payload ->> 'state' <> e.state
    ) b on true`,
}

const PAYMENTS: Statement = {
  name: 'find-broken-payments',
  text: `
    with walked as (select * from payments where id > $2 and bucket = $1 order by id limit $4),
    reached as (select max(id) as reached, count(*) as walked from walked)
    select r.reached, r.walked, b.* from reached r left join (
      select 'money_conserved' as invariant, p.namespace || '/' || p.account || '/' || p.provider_payment_id as row,
        'more went back than came in' as detail
      from walked p
      where p.updated_at < $3 and p.captured_minor < p.refunded_minor + p.lost_minor + p.reversed_minor
        and p.open_exceptions = 0
    ) b on true`,
}

export interface BrokenInvariant {
  readonly invariant: Invariant
  /** An order's reference, or `namespace/account/id` of a payment. */
  readonly row: string
  readonly detail: string
}

export interface InvariantPart {
  readonly broken: readonly BrokenInvariant[]
  /** Where the next part begins; null when this was the last. */
  readonly next: bigint | null
}

const PART = 2_000

/** Looks through one part of a table for rows that break what must always hold. */
export async function findBrokenInvariants(
  db: Queryable,
  bucket: number,
  table: 'orders' | 'payments',
  after: bigint,
  still_since: Date,
): Promise<InvariantPart> {
  const statement = table === 'orders' ? ORDERS : PAYMENTS
  const rows = await db.query<
    { reached: bigint | null; walked: bigint; invariant: Invariant | null } & Omit<
      BrokenInvariant,
      'invariant'
    >
  >(statement, [bucket, after, still_since, PART])
  const { reached, walked } = rows[0]!
  const broken = rows.flatMap(({ invariant, row, detail }) =>
    invariant === null ? [] : [{ invariant, row, detail }],
  )
  return { broken, next: walked < PART ? null : reached }
}
