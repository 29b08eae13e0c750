import type { Queryable, Statement } from '../database.ts'

const COUNTS: Statement = {
  name: 'count-demo',
  text: `
    select
      (select count(*) from orders where bucket = $1) as orders,
      (select count(*) from payments where status <> 'linked' and bucket = $1) as payments,
      (select count(*) from events where bucket = $1) as events,
      (select coalesce(sum(copies), 0) from event_copies where bucket = $1)::bigint as duplicates,
      (select count(*) from events where state = 'ignored' and reason = 'test mode' and bucket = $1) as test_events,
      (select count(*) from entitlements where state = 'granted' and bucket = $1) as granted,
      (select count(*) from entitlements where state = 'suspended' and bucket = $1) as suspended,
      (select count(*) from entitlements where state = 'revoked' and bucket = $1) as revoked,
      (select count(*) from exceptions where state = 'open' and bucket = $1) as open_exceptions,
      (select count(*) from refunds where status = 'succeeded' and bucket = $1) as refunds,
      (select count(distinct provider_dispute_id) from disputes where bucket = $1) as disputes,
      (select count(*) from unsettled where bucket = $1) as kept,
      (select count(*) from effects where state = 'due' and available_at > $2 and bucket = $1) as effects_not_due_yet`,
}

// Nothing here asks what the rules derived for an order: money is added up from the rows of payments, refunds and
// disputes, and compared with the price that was registered. Not every provider tells when it takes the money of a
// dispute, nor how much it is about, so that what is fought over and what is lost counts as gone.
const PAID_NOT_GRANTED: Statement = {
  name: 'find-paid-not-granted',
  text: `
    select o.reference
    from orders o
    where o.bucket = $1 and o.amount_minor is not null
      and (
        select coalesce(sum(p.captured_minor - p.reversed_minor), 0)
          - coalesce(sum((select coalesce(sum(r.amount_minor), 0) from refunds r
              where r.payment_id = p.id and r.status = 'succeeded' and r.bucket = $1)), 0)
          - coalesce(sum((select coalesce(sum(greatest(
                d.withdrawn_minor - d.reinstated_minor,
                case when d.status in ('needs_response', 'under_review', 'accepted', 'lost') then coalesce(d.amount_minor, p.captured_minor) else 0 end
              )), 0) from disputes d where d.payment_id = p.id and d.bucket = $1)), 0)
        from payments p
        where o.reference = any(p.order_refs) and p.currency = o.currency and p.status = 'succeeded' and p.bucket = $1
      ) >= o.amount_minor
      and o.amount_minor > 0
      and not exists (
        select 1 from entitlements e where e.order_id = o.id and e.state = 'granted' and e.bucket = $1
      )
    order by o.reference`,
}

// A right that is given twice shows as two announcements of "granted" with nothing taken in between.
const GRANTED_TWICE: Statement = {
  name: 'find-granted-twice',
  text: `
    select subject_key as order_ref, item from (
      select subject_id, subject_key, item, payload->>'state' as state,
        lag(payload->>'state') over (partition by subject_id, item order by revision) as before
      from effects where topic = 'entitlement.changed' and bucket = $1
    ) told
    where state = 'granted' and before = 'granted'`,
}

const EFFECTS: Statement = {
  name: 'list-demo-effects',
  text: `
    select id, state, available_at <= $2 as due_now from effects
    where state in ('done', 'due', 'dead') and bucket = $1 order by id`,
}

const BACKLOG: Statement = {
  name: 'count-demo-backlog',
  text: `
    select (select count(*) from effects where state = 'due' and bucket = $1 and (available_at <= $2 or attempts > 0))
      + (select count(*) from unsettled where bucket = $1)
      + (select count(*) from unconfirmed where bucket = $1)
      + (select count(*) from lookups where bucket = $1
          and (due_at <= $2 or (due_at is not null and last_outcome in ('', 'unavailable')))) as due`,
}

const PLAYER: Statement = {
  name: 'count-demo-player',
  text: `
    select
      (select count(*) from orders o where o.reference = any($3::text[]) and o.bucket = $1 and exists (
        select 1 from payments p where o.reference = any(p.order_refs) and p.status = 'succeeded' and p.bucket = $1
      )) as paid,
      (select count(*) from orders o where o.reference = any($3::text[]) and o.bucket = $1 and exists (
        select 1 from entitlements e where e.order_id = o.id and e.state = 'granted' and e.bucket = $1
      )) as granted,
      (select count(*) from events where endpoint = $2 and bucket = $1) as events,
      (select count(*) from lookups l join lookup_answers a on a.lookup_id = l.id and a.bucket = $1
        where l.endpoint = $2 and a.outcome = 'found' and l.bucket = $1) as looked_up,
      (select count(*) from lookups l join lookup_answers a on a.lookup_id = l.id and a.bucket = $1
        where l.endpoint = $2 and a.outcome = 'unavailable' and l.bucket = $1) as unanswered,
      (select count(*) from subscriptions where namespace = $4 and account = $5 and bucket = $1) as subscriptions`,
}

const BELIEVED: Statement = {
  name: 'find-demo-believed',
  text: `
    select o.reference
    from orders o
    where o.reference = any($2::text[]) and o.bucket = $1
      and (
        exists (select 1 from entitlements e where e.order_id = o.id and e.state = 'granted' and e.bucket = $1)
        or exists (
          select 1 from payments p where o.reference = any(p.order_refs) and p.status = 'succeeded' and p.bucket = $1
        )
      )
    order by o.reference`,
}

export interface DemoCounts {
  readonly orders: bigint
  readonly payments: bigint
  readonly events: bigint
  readonly duplicates: bigint
  readonly test_events: bigint
  readonly granted: bigint
  readonly suspended: bigint
  readonly revoked: bigint
  readonly open_exceptions: bigint
  readonly refunds: bigint
  readonly disputes: bigint
  readonly kept: bigint
  readonly effects_not_due_yet: bigint
}

export async function countDemo(db: Queryable, bucket: number, now: Date): Promise<DemoCounts> {
  const [row] = await db.query<DemoCounts>(COUNTS, [bucket, now])
  return row!
}

/** Orders whose money is there and stayed there, without any right given for it. */
export async function findPaidNotGranted(db: Queryable, bucket: number): Promise<string[]> {
  const rows = await db.query<{ reference: string }>(PAID_NOT_GRANTED, [bucket])
  return rows.map((row) => row.reference)
}

/** Rights that were announced as granted again without having been taken. */
export function findGrantedTwice(
  db: Queryable,
  bucket: number,
): Promise<{ order_ref: string; item: string }[]> {
  return db.query(GRANTED_TWICE, [bucket])
}

/** Effects that are done, or should have been. */
export function listOwedEffects(
  db: Queryable,
  bucket: number,
  now: Date,
): Promise<{ id: bigint; state: 'done' | 'due' | 'dead'; due_now: boolean }[]> {
  return db.query(EFFECTS, [bucket, now])
}

export interface DemoPlayerCounts {
  /** Orders that money came for. */
  readonly paid: bigint
  /** Orders with a right that holds now. */
  readonly granted: bigint
  readonly events: bigint
  /** Answers of the provider that told something, and requests that it did not answer. */
  readonly looked_up: bigint
  readonly unanswered: bigint
  readonly subscriptions: bigint
}

/** What became of one endpoint's traffic and of the orders that were paid through it. */
export async function countDemoPlayer(
  db: Queryable,
  bucket: number,
  player: { endpoint: string; namespace: string; account: string; orders: readonly string[] },
): Promise<DemoPlayerCounts> {
  const { endpoint, namespace, account, orders } = player
  const [row] = await db.query<DemoPlayerCounts>(PLAYER, [bucket, endpoint, orders, namespace, account])
  return row!
}

/** Those of these orders, which nobody ever paid, that money or a right is recorded for. */
export async function findDemoBelieved(
  db: Queryable,
  bucket: number,
  unpaid: readonly string[],
): Promise<string[]> {
  const rows = await db.query<{ reference: string }>(BELIEVED, [bucket, unpaid])
  return rows.map((row) => row.reference)
}

/**
 * Effects that a worker has to deliver now or after its next pause, what is kept to be settled, and what a provider has
 * to be asked about and has not answered.
 */
export async function countDemoBacklog(db: Queryable, bucket: number, now: Date): Promise<number> {
  const [row] = await db.query<{ due: bigint }>(BACKLOG, [bucket, now])
  return Number(row!.due)
}
