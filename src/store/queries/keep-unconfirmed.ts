import type { Queryable, Statement } from '../database.ts'

const KEEP: Statement = {
  name: 'keep-unconfirmed',
  text: `
    insert into unconfirmed (bucket, received_at, due_at, tenant, endpoint, digest, headers, body)
    select $1, $2, $2, $3, $4, $5, $6, $7
    where (
      select count(*) from (
        select 1 from unconfirmed where endpoint = $4 and tenant = $3 and bucket = $1 limit $8::int
      ) waiting
    ) < $8::int
    on conflict (digest, endpoint, tenant, bucket) do nothing
    returning id`,
}

const KNOWN: Statement = {
  name: 'find-unconfirmed',
  text: 'select 1 as known from unconfirmed where digest = $2 and endpoint = $3 and tenant = $4 and bucket = $1',
}

export interface UnconfirmedMessage {
  readonly tenant: string
  readonly endpoint: string
  readonly digest: Buffer
  /** The headers that translating reads, as JSON text. */
  readonly headers: string
  readonly body: Uint8Array
}

/**
 * Keeps a message until the provider has confirmed it. False when `limit` others of the endpoint wait already; the limit is
 * a bound for the table, not exact when messages arrive at the same moment.
 */
export async function keepUnconfirmed(
  db: Queryable,
  bucket: number,
  received_at: Date,
  message: UnconfirmedMessage,
  limit: number,
): Promise<boolean> {
  const { tenant, endpoint, digest, headers, body } = message
  const kept = await db.query(KEEP, [bucket, received_at, tenant, endpoint, digest, headers, body, limit])
  if (kept.length > 0) return true
  const known = await db.query(KNOWN, [bucket, digest, endpoint, tenant])
  return known.length > 0
}
