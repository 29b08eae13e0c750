import type { Queryable, Statement } from '../database.ts'
import { type EventRow, type EventState, eventLock } from './insert-events.ts'

const FIND: Statement = {
  name: 'find-events',
  text: `
    select e.id, e.tenant, e.provider, e.account, e.mode, e.event_key, e.digest, e.state
    from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[]) as k(tenant, provider, account, mode, event_key),
      lateral (
        select * from events
        where event_key = k.event_key and provider = k.provider and account = k.account and mode = k.mode
          and tenant = k.tenant and bucket = $1
        offset 0
      ) e`,
}

export interface FoundEvent {
  readonly id: bigint
  readonly digest: Buffer
  readonly state: EventState
}

/** The stored events under these locks, by lock. */
export async function findEvents(
  db: Queryable,
  bucket: number,
  keys: readonly Pick<EventRow, 'tenant' | 'provider' | 'account' | 'mode' | 'event_key'>[],
): Promise<Map<string, FoundEvent>> {
  const rows = await db.query<
    FoundEvent & Pick<EventRow, 'tenant' | 'provider' | 'account' | 'mode' | 'event_key'>
  >(FIND, [
    bucket,
    keys.map((key) => key.tenant),
    keys.map((key) => key.provider),
    keys.map((key) => key.account),
    keys.map((key) => key.mode),
    keys.map((key) => key.event_key),
  ])
  return new Map(rows.map((row) => [eventLock(row), row]))
}
