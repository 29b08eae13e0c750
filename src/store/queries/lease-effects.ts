import type { Lane } from '../../facts/effect.ts'
import type { Queryable, Statement } from '../database.ts'

export interface LeasedEffect {
  readonly id: bigint
  readonly tenant: string
  readonly subject_kind: string
  readonly subject_id: bigint
  readonly subject_key: string
  readonly topic: string
  readonly item: string
  readonly cause: string
  readonly lane: Lane
  readonly seq: bigint
  /** Level effects: the revision that they announce; 0 for one-shots. */
  readonly revision: bigint
  /** This attempt's number, from 1. */
  readonly attempts: number
  readonly created_at: Date
  readonly payload: Readonly<Record<string, unknown>>
  /** An earlier lease ran out without an answer: its worker died, or lost the database. */
  readonly abandoned: boolean
}

// An earlier row of the same subject and lane holds a row back. One exception: an older revision of the same item that
// nobody is delivering right now, since it will be superseded. Rows without a place in the order (seq 0) hold nothing
// back and are not held back. The look into `effects` sees the state before this statement, never its own updates.
//
// The shape matters: as `not exists`, or without its fence (`offset 0`), a planner that knows little of a young table
// looks through all due rows for each of them. As `is null` it expects next to no row to pass, and with an order that
// the index `effects_due` does not give it has no choice: then it reads all due rows to take a few.
export const LEASE: Statement = {
  name: 'lease-effects',
  text: `
    with due as materialized (
      select e.id, e.available_at, e.lease_token is not null as abandoned
      from effects e
      where e.state = 'due' and e.available_at <= $2 and e.bucket = $1
        and (e.seq = 0 or e.subject_id = 0 or coalesce((
          select false from (select * from effects where subject_id = e.subject_id and bucket = $1 offset 0) b
          where b.lane = e.lane and b.state = 'due' and b.seq < e.seq
            and not (b.topic = e.topic and b.item = e.item and b.revision > 0 and b.revision < e.revision
              and (b.lease_token is null or b.available_at <= $2))
          limit 1
        ), true))
      order by e.available_at
      limit $5
      for no key update of e skip locked
    )
    update effects e set attempts = e.attempts + 1, lease_token = $3::uuid, available_at = $4
    from due
    where e.id = due.id and e.bucket = $1
    returning e.id, e.tenant, e.subject_kind, e.subject_id, e.subject_key, e.topic, e.item, e.cause, e.lane, e.seq,
      e.revision, e.attempts, e.created_at, e.payload, due.abandoned, due.available_at as due_at`,
}

export interface LeaseRequest {
  readonly now: Date
  readonly until: Date
  /** A UUID; acknowledgements name it. */
  readonly token: string
  readonly limit: number
}

/**
 * Takes effects that are due and puts them off until the end of the lease, so that a crash gives them back by itself.
 * Attempts are counted here. At most one row of a subject's lane is out at a time. Longest due first.
 */
export async function leaseEffects(
  db: Queryable,
  bucket: number,
  request: LeaseRequest,
): Promise<LeasedEffect[]> {
  const rows = await db.query<LeasedEffect & { due_at: Date }>(LEASE, [
    bucket,
    request.now,
    request.token,
    request.until,
    request.limit,
  ])
  return rows.sort((a, b) => a.due_at.getTime() - b.due_at.getTime() || (a.id < b.id ? -1 : 1))
}
