import type { Queryable, Statement } from '../database.ts'
import type { EventState } from './insert-events.ts'

/** What another reading of a stored event says it is. */
export interface FiledEvent {
  readonly id: bigint
  readonly state: EventState
  readonly reason: string
  readonly type: string
  readonly api_version: string | null
  readonly occurred_at: string | null
  /** The adapter that read it. */
  readonly adapter_version: number
}

const REFILE: Statement = {
  name: 'refile-events',
  text: `
    update events e set state = r.state, reason = r.reason, type = r.type, api_version = r.api_version,
      occurred_at = r.occurred_at, adapter_version = r.adapter_version
    from unnest($2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::timestamptz[], $8::int[])
      as r(id, state, reason, type, api_version, occurred_at, adapter_version)
    where e.id = r.id and e.bucket = $1`,
}

/** Files stored events anew; their bytes, key and time of receipt stay. */
export async function refileEvents(
  db: Queryable,
  bucket: number,
  events: readonly FiledEvent[],
): Promise<void> {
  await db.query(REFILE, [
    bucket,
    events.map((event) => event.id),
    events.map((event) => event.state),
    events.map((event) => event.reason),
    events.map((event) => event.type),
    events.map((event) => event.api_version),
    events.map((event) => event.occurred_at),
    events.map((event) => event.adapter_version),
  ])
}
