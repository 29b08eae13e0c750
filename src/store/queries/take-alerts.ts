import type { Queryable, Statement } from '../database.ts'

/** Which alerts go the same way: pairs of kind and severity, as `kind severity`. */
export interface AlertsLike {
  /** The alert that looks; it is not counted. */
  readonly id: bigint
  readonly tenant: string
  readonly like: readonly string[]
  readonly now: Date
}

/** How crowded the way of an alert is. Counts stop at the limit that was asked for. */
export interface AlertCrowd {
  /** Alerts that went out since the beginning of the window. */
  readonly sent: number
  readonly last_sent_at: Date | null
  /** Others that wait and that nobody delivers right now. */
  readonly waiting: number
  /** Others that some worker has right now. */
  readonly out: number
  /** The lowest id of those that some worker has, or may soon take. */
  readonly first_near: bigint | null
  /** The lowest id of those that wait. */
  readonly first_waiting: bigint | null
}

export interface TakenAlert {
  readonly id: bigint
  readonly payload: Readonly<Record<string, unknown>>
}

const LIKE = `topic = 'exception.opened' and tenant = $2 and payload->>'kind' || ' ' || (payload->>'severity') = any($3::text[])`

// An alert whose exception is not to be told yet, or has closed, is nobody's company.
const TELLABLE = `exists (
  select 1 from exceptions x
  where x.id = (e.payload->>'exception')::bigint and x.bucket = $1 and x.state = 'open' and x.alert_at <= $4)`

const LOOK: Statement = {
  name: 'look-at-alerts',
  text: `
    select sent.count as sent, sent.last_sent_at, due.waiting, due.out, due.first_near, due.first_waiting
    from (
      select count(*)::int as count, max(finished_at) as last_sent_at from (
        select finished_at from effects
        where bucket = $1 and ${LIKE} and state = 'done' and finished_at > $6 limit $7
      ) done
    ) sent, (
      select
        count(*) filter (where not leased)::int as waiting,
        count(*) filter (where leased)::int as out,
        min(id) filter (where leased or available_at <= $8) as first_near,
        min(id) filter (where not leased) as first_waiting
      from (
        select e.id, e.available_at, e.lease_token is not null and e.available_at > $4 as leased from effects e
        where e.bucket = $1 and ${LIKE} and e.state = 'due' and e.finished_at is null and e.id <> $5 and ${TELLABLE}
        order by e.id limit $7
      ) each
    ) due`,
}

const TAKE: Statement = {
  name: 'take-alerts',
  text: `
    update effects set attempts = effects.attempts + 1, lease_token = $6::uuid, available_at = $7
    from (
      select e.id from effects e
      where e.bucket = $1 and ${LIKE} and e.state = 'due' and e.finished_at is null and e.id <> $5
        and (e.lease_token is null or e.available_at <= $4) and ${TELLABLE}
      order by e.id limit $8
      for no key update of e skip locked
    ) taken
    where effects.id = taken.id and effects.bucket = $1
    returning effects.id, effects.payload`,
}

/**
 * Looks who else waits to be told the same way, what was told since `since`, and who will be free until `soon`.
 * Counts go up to `limit`.
 */
export async function lookAtAlerts(
  db: Queryable,
  bucket: number,
  { id, tenant, like, now }: AlertsLike,
  options: { readonly since: Date; readonly soon: Date; readonly limit: number },
): Promise<AlertCrowd> {
  const [row] = await db.query<AlertCrowd>(LOOK, [
    bucket,
    tenant,
    like,
    now,
    id,
    options.since,
    options.limit,
    options.soon,
  ])
  return row!
}

/** Leases all alerts that wait to be told the same way, to be told together. End the leases with `finishEffects`. */
export async function takeAlerts(
  db: Queryable,
  bucket: number,
  { id, tenant, like, now }: AlertsLike,
  lease: { readonly token: string; readonly until: Date; readonly limit: number },
): Promise<TakenAlert[]> {
  const taken = await db.query<TakenAlert>(TAKE, [
    bucket,
    tenant,
    like,
    now,
    id,
    lease.token,
    lease.until,
    lease.limit,
  ])
  return taken.sort((a, b) => (a.id < b.id ? -1 : 1))
}
