import type { Queryable, Statement } from '../database.ts'

const MARK: Statement = {
  name: 'mark-unsettled',
  text: `
    insert into unsettled (bucket, marked_at, next_attempt_at, tenant, event_id, order_ref, reason, last_error)
    select $1, $2, m.next_attempt_at, m.tenant, m.event_id, m.order_ref, m.reason, m.last_error
    from unnest($3::timestamptz[], $4::text[], $5::bigint[], $6::text[], $7::text[], $8::text[])
      as m(next_attempt_at, tenant, event_id, order_ref, reason, last_error)
    on conflict (event_id, order_ref, tenant, bucket) do update set
      times = unsettled.times + 1, next_attempt_at = excluded.next_attempt_at`,
}

const LEASE: Statement = {
  name: 'lease-unsettled',
  text: `
    update unsettled u set attempts = u.attempts + 1, next_attempt_at = $3
    from (
      select id from unsettled where next_attempt_at <= $2 and bucket = $1
      order by next_attempt_at limit $4 for update skip locked
    ) due
    where u.id = due.id and u.bucket = $1
    returning u.id, u.tenant, u.event_id, u.order_ref, u.reason, u.attempts, u.times`,
}

const DELETE: Statement = {
  name: 'delete-unsettled',
  text: `
    delete from unsettled u using unnest($2::bigint[], $3::int[]) as d(id, times)
    where u.id = d.id and u.times = d.times and u.bucket = $1
    returning u.event_id`,
}

const POSTPONE: Statement = {
  name: 'postpone-unsettled',
  text: `update unsettled set next_attempt_at = $3, last_error = $4 where id = $2 and bucket = $1`,
}

const NOTE: Statement = {
  name: 'note-unsettled',
  text: 'update unsettled set last_error = $3 where id = any($2::bigint[]) and bucket = $1',
}

const PUT_OFF: Statement = {
  name: 'put-off-unsettled',
  text: 'update unsettled set next_attempt_at = $3 where id = $2 and bucket = $1 returning last_error',
}

const OF_EVENTS: Statement = {
  name: 'find-event-marks',
  text: `select id, event_id, times from unsettled where event_id = any($2::bigint[]) and order_ref = '' and bucket = $1`,
}

export interface Mark {
  readonly tenant: string
  /** The kept event, or 0 for a mark on an order. */
  readonly event_id: bigint
  /** The order to look at again, or empty for a mark on an event. */
  readonly order_ref: string
  readonly reason: string
  readonly last_error: string
  readonly next_attempt_at: Date
}

export interface LeasedMark {
  readonly id: bigint
  readonly tenant: string
  readonly event_id: bigint
  readonly order_ref: string
  readonly reason: string
  readonly attempts: number
  /** How often it had been marked when it was leased. */
  readonly times: number
}

/**
 * Marks what is kept but not settled; a mark that is there already is counted up and due at once,
 * so that a settle that began before this mark does not delete it. */
export async function markUnsettled(
  db: Queryable,
  bucket: number,
  as_of: Date,
  marks: readonly Mark[],
): Promise<void> {
  await db.query(MARK, [
    bucket,
    as_of,
    marks.map((mark) => mark.next_attempt_at),
    marks.map((mark) => mark.tenant),
    marks.map((mark) => mark.event_id),
    marks.map((mark) => mark.order_ref),
    marks.map((mark) => mark.reason),
    marks.map((mark) => mark.last_error),
  ])
}

/** Takes marks that are due and puts them off until `lease_until`, so that a crash gives them back by itself. */
export function leaseUnsettled(
  db: Queryable,
  bucket: number,
  options: { readonly now: Date; readonly lease_until: Date; readonly limit: number },
): Promise<LeasedMark[]> {
  return db.query<LeasedMark>(LEASE, [bucket, options.now, options.lease_until, options.limit])
}

/** Deletes marks that were not marked again since they were leased. Gives the events whose marks are gone. */
export async function deleteUnsettled(
  db: Queryable,
  bucket: number,
  marks: readonly Pick<LeasedMark, 'id' | 'times'>[],
): Promise<bigint[]> {
  const rows = await db.query<{ event_id: bigint }>(DELETE, [
    bucket,
    marks.map((mark) => mark.id),
    marks.map((mark) => mark.times),
  ])
  return rows.map((row) => row.event_id).filter((id) => id !== 0n)
}

export async function postponeUnsettled(
  db: Queryable,
  bucket: number,
  id: bigint,
  next_attempt_at: Date,
  last_error: string,
): Promise<void> {
  await db.query(POSTPONE, [bucket, id, next_attempt_at, last_error])
}

/** Writes why these marks still stand. */
export async function noteUnsettled(
  db: Queryable,
  bucket: number,
  marks: readonly Pick<LeasedMark, 'id'>[],
  last_error: string,
): Promise<void> {
  const ids = marks.map((mark) => mark.id)
  await db.query(NOTE, [bucket, ids, last_error])
}

/** Sets when a mark is due again, and gives why it still stands; null when it is gone. */
export async function putOffUnsettled(
  db: Queryable,
  bucket: number,
  id: bigint,
  next_attempt_at: Date,
): Promise<string | null> {
  const [row] = await db.query<{ last_error: string }>(PUT_OFF, [bucket, id, next_attempt_at])
  return row?.last_error ?? null
}

/** The marks of these events. */
export function findEventMarks(
  db: Queryable,
  bucket: number,
  event_ids: readonly bigint[],
): Promise<{ id: bigint; event_id: bigint; times: number }[]> {
  return db.query(OF_EVENTS, [bucket, event_ids])
}
