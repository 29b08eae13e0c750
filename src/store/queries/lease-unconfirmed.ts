import type { Queryable, Statement } from '../database.ts'

const LEASE: Statement = {
  name: 'lease-unconfirmed',
  text: `
    update unconfirmed u set due_at = $3, attempts = u.attempts + 1
    from (
      select id from unconfirmed where due_at <= $2 and bucket = $1 order by due_at limit $4 for update skip locked
    ) due
    where u.id = due.id and u.bucket = $1
    returning u.id, u.tenant, u.endpoint, u.received_at, u.attempts, u.headers, u.body`,
}

const POSTPONE: Statement = {
  name: 'postpone-unconfirmed',
  text: 'update unconfirmed set due_at = $3 where id = $2 and bucket = $1',
}

const DELETE: Statement = {
  name: 'delete-unconfirmed',
  text: 'delete from unconfirmed where id = $2 and bucket = $1',
}

/** A message that one worker asks about. */
export interface LeasedMessage {
  readonly id: bigint
  readonly tenant: string
  readonly endpoint: string
  readonly received_at: Date
  readonly attempts: number
  readonly headers: Readonly<Record<string, string | readonly string[] | null>>
  readonly body: Buffer
}

/** Takes messages that are due and puts them off until `lease_until`, so that a crash gives them back by itself. */
export function leaseUnconfirmed(
  db: Queryable,
  bucket: number,
  options: { readonly now: Date; readonly lease_until: Date; readonly limit: number },
): Promise<LeasedMessage[]> {
  return db.query<LeasedMessage>(LEASE, [bucket, options.now, options.lease_until, options.limit])
}

export async function postponeUnconfirmed(
  db: Queryable,
  bucket: number,
  id: bigint,
  due_at: Date,
): Promise<void> {
  await db.query(POSTPONE, [bucket, id, due_at])
}

/** Lets go of a message that was confirmed and settled, or that the provider disowned. */
export async function deleteUnconfirmed(db: Queryable, bucket: number, id: bigint): Promise<void> {
  await db.query(DELETE, [bucket, id])
}
