import type { Queryable, Statement } from '../database.ts'
import type { EventState } from './insert-events.ts'

/** A stored message with its bytes, as an adapter needs it to read it again. */
export interface StoredEvent {
  readonly id: bigint
  readonly tenant: string
  readonly provider: string
  readonly account: string
  readonly event_key: string
  readonly key_kind: 'id' | 'digest'
  readonly endpoint: string
  readonly type: string
  readonly state: EventState
  readonly reason: string
  readonly secret_label: string
  readonly adapter_version: number
  readonly headers: Readonly<Record<string, string | string[] | null>> | null
  /** Null once retention has emptied it. */
  readonly body: Buffer | null
}

/** Another content that came under the same key. */
export interface StoredVersion {
  readonly event_id: bigint
  readonly version: number
  readonly adapter_version: number
  readonly body: Buffer | null
}

/** Which events; what is left out does not narrow. */
export interface EventSelection {
  readonly state?: EventState | undefined
  readonly key?: string | undefined
  readonly endpoint?: string | undefined
  readonly type?: string | undefined
}

const COLUMNS = `id, tenant, provider, account, event_key, key_kind, endpoint, type, state, reason, secret_label,
  adapter_version, headers, body`

const LIST: Statement = {
  name: 'list-stored-events',
  text: `
    select ${COLUMNS} from events
    where id > $2 and id <= $3 and bucket = $1
      and ($5::text is null or state = $5) and ($6::text is null or event_key = $6)
      and ($7::text is null or endpoint = $7) and ($8::text is null or type = $8)
    order by id limit $4`,
}

const BY_ID: Statement = {
  name: 'load-stored-events',
  text: `select ${COLUMNS} from events where id = any($2::bigint[]) and bucket = $1 order by id`,
}

const VERSIONS: Statement = {
  name: 'load-event-versions',
  text: `
    select event_id, version, adapter_version, body from event_versions
    where event_id = any($2::bigint[]) and bucket = $1 order by event_id, version`,
}

const SIZE: Statement = {
  name: 'count-selected-events',
  text: `
    select count(*) as count, coalesce(max(id), 0) as last from events
    where bucket = $1
      and ($2::text is null or state = $2) and ($3::text is null or event_key = $3)
      and ($4::text is null or endpoint = $4) and ($5::text is null or type = $5)`,
}

function columns(selection: EventSelection) {
  return [selection.state ?? null, selection.key ?? null, selection.endpoint ?? null, selection.type ?? null]
}

/** A page of the selected events in the order in which they came, those after `after` up to `last`. */
export function listStoredEvents(
  db: Queryable,
  bucket: number,
  selection: EventSelection,
  page: { readonly after: bigint; readonly last: bigint; readonly limit: number },
): Promise<StoredEvent[]> {
  return db.query<StoredEvent>(LIST, [bucket, page.after, page.last, page.limit, ...columns(selection)])
}

export function loadStoredEvents(
  db: Queryable,
  bucket: number,
  ids: readonly bigint[],
): Promise<StoredEvent[]> {
  return db.query<StoredEvent>(BY_ID, [bucket, ids])
}

export function loadEventVersions(
  db: Queryable,
  bucket: number,
  event_ids: readonly bigint[],
): Promise<StoredVersion[]> {
  return db.query<StoredVersion>(VERSIONS, [bucket, event_ids])
}

/** How many events are selected now, and the last of them. */
export async function countSelectedEvents(
  db: Queryable,
  bucket: number,
  selection: EventSelection,
): Promise<{ count: number; last: bigint }> {
  const [row] = await db.query<{ count: bigint; last: bigint }>(SIZE, [bucket, ...columns(selection)])
  return { count: Number(row!.count), last: row!.last }
}
