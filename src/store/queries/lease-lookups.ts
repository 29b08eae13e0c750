import type { Queryable, Statement } from '../database.ts'
import type { LookupKey, WantedLookup } from './request-lookups.ts'

const COLUMNS =
  'l.id, l.tenant, l.namespace, l.account, l.object, l.object_id, l.endpoint, l.asked_by, l.asked_for_at, l.wanted, l.answers, l.attempts'

const LEASE: Statement = {
  name: 'lease-lookups',
  text: `
    update lookups l set due_at = $3, attempts = l.attempts + 1
    from (
      select id from lookups where due_at <= $2 and bucket = $1 order by due_at limit $4 for update skip locked
    ) due
    where l.id = due.id and l.bucket = $1
    returning ${COLUMNS}`,
}

const LEASE_ONE: Statement = {
  name: 'lease-lookup',
  text: `
    update lookups l set due_at = $4, attempts = l.attempts + 1
    where l.id = $2 and l.bucket = $1 and l.due_at <= $3
    returning ${COLUMNS}`,
}

/** A question that one worker has in hand. */
export interface LeasedLookup extends LookupKey {
  readonly id: bigint
  readonly endpoint: string
  readonly asked_by: WantedLookup['asked_by']
  readonly asked_for_at: Date
  readonly wanted: bigint
  readonly answers: number
  /** Tries in a row that came to nothing, this one included. */
  readonly attempts: number
}

interface Lease {
  readonly now: Date
  readonly lease_until: Date
}

/** Takes questions that are due and puts them off until `lease_until`, so that a crash gives them back by itself. */
export function leaseLookups(
  db: Queryable,
  bucket: number,
  options: Lease & { readonly limit: number },
): Promise<LeasedLookup[]> {
  return db.query<LeasedLookup>(LEASE, [bucket, options.now, options.lease_until, options.limit])
}

/** Takes one question; null when it is not due, since somebody asks it already or it has been answered. */
export async function leaseLookup(
  db: Queryable,
  bucket: number,
  id: bigint,
  options: Lease,
): Promise<LeasedLookup | null> {
  const [row] = await db.query<LeasedLookup>(LEASE_ONE, [bucket, id, options.now, options.lease_until])
  return row ?? null
}
