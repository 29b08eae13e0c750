import type { Mode } from '../../facts/event.ts'
import type { Queryable, Statement } from '../database.ts'

export type EventState = 'settled' | 'kept' | 'ignored' | 'misdirected' | 'unreadable'

/** One authentic message as it is stored. Its key (tenant, provider, account, mode, event_key) is the event lock. */
export interface EventRow {
  readonly tenant: string
  readonly provider: string
  readonly account: string
  readonly mode: Mode
  readonly event_key: string
  readonly key_kind: 'id' | 'digest'
  readonly endpoint: string
  readonly type: string
  readonly state: EventState
  readonly reason: string
  readonly secret_label: string
  readonly api_version: string | null
  readonly adapter_version: number
  readonly occurred_at: string | null
  readonly received_at: Date
  readonly digest: Buffer
  readonly headers: string | null
  readonly body: Uint8Array
}

/** A string that is equal exactly for events under one lock. */
export function eventLock(
  event: Pick<EventRow, 'tenant' | 'provider' | 'account' | 'mode' | 'event_key'>,
): string {
  return `${event.tenant}\n${event.provider}\n${event.account}\n${event.mode}\n${event.event_key}`
}

// All bodies travel as one binary parameter and are cut apart by the server: as an array each would be sent as hex
// text, twice the bytes and an escape pass on both sides.
const INSERT: Statement = {
  name: 'insert-events',
  text: `
    insert into events (bucket, id, tenant, provider, account, mode, event_key, key_kind, endpoint, type, state, reason,
      secret_label, api_version, adapter_version, occurred_at, received_at, headers, digest, body)
    select $1, e.id, e.tenant, e.provider, e.account, e.mode, e.event_key, e.key_kind, e.endpoint, e.type, e.state, e.reason,
      e.secret_label, e.api_version, e.adapter_version, e.occurred_at, e.received_at, e.headers,
      substring($2::bytea from e.digest_at for 32), substring($3::bytea from e.body_at for e.body_length)
    from unnest($4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[],
      $12::text[], $13::text[], $14::text[], $15::text[], $16::int[], $17::timestamptz[], $18::timestamptz[],
      $19::jsonb[], $20::int[], $21::int[], $22::int[], $23::bigint[])
      as e(tenant, provider, account, mode, event_key, key_kind, endpoint, type, state, reason, secret_label,
        api_version, adapter_version, occurred_at, received_at, headers, digest_at, body_at, body_length, id)
    on conflict (event_key, provider, account, mode, tenant, bucket) do nothing
    returning id`,
}

/**
 * Inserts the events whose key is new and gives the ids of the inserted ones. Keys must be unique within
 * the call and should come sorted, so that two batches wait for each other in one order.
 */
export async function insertEvents(
  db: Queryable,
  bucket: number,
  offered: readonly { readonly id: bigint; readonly event: EventRow }[],
): Promise<Set<bigint>> {
  const events = offered.map(({ event }) => event)
  let body_at = 1
  const offsets = events.map((event) => {
    const at = body_at
    body_at += event.body.byteLength
    return at
  })
  const rows = await db.query<{ id: bigint }>(INSERT, [
    bucket,
    Buffer.concat(events.map((event) => event.digest)),
    Buffer.concat(events.map((event) => event.body)),
    events.map((event) => event.tenant),
    events.map((event) => event.provider),
    events.map((event) => event.account),
    events.map((event) => event.mode),
    events.map((event) => event.event_key),
    events.map((event) => event.key_kind),
    events.map((event) => event.endpoint),
    events.map((event) => event.type),
    events.map((event) => event.state),
    events.map((event) => event.reason),
    events.map((event) => event.secret_label),
    events.map((event) => event.api_version),
    events.map((event) => event.adapter_version),
    events.map((event) => event.occurred_at),
    events.map((event) => event.received_at),
    events.map((event) => event.headers),
    events.map((_, index) => 1 + 32 * index),
    offsets,
    events.map((event) => event.body.byteLength),
    offered.map(({ id }) => id),
  ])
  return new Set(rows.map((row) => row.id))
}
