import type { Queryable, Statement } from '../database.ts'
import type { OpenException } from './close-exceptions.ts'

const MENDABLE = `x.bucket = $1 and x.state = 'open' and x.origin = 'receive' and x.subject_kind = 'endpoint'
      and x.kind in ('unreadable_event', 'event_without_id', 'event_misdirected')`

const LOCK: Statement = {
  name: 'lock-mendable-exceptions',
  text: `select x.id from exceptions x where ${MENDABLE} order by x.id for update`,
}

// The cause of an exception about an endpoint is the type of the unreadable messages, or why they were misdirected.
const FIND: Statement = {
  name: 'find-mended-exceptions',
  text: `
    select x.id, x.tenant, x.subject_kind, x.subject_id, x.subject_key, x.kind, x.cause, x.occurrence
    from exceptions x
    where ${MENDABLE}
      and not exists (
        select 1 from events e
        where e.bucket = $1 and e.tenant = x.tenant and e.endpoint = x.subject_key
          and case x.kind
            when 'event_misdirected' then e.state = 'misdirected' and e.reason = x.cause
            when 'event_without_id' then e.state = 'unreadable' and e.reason = 'no event id' and e.type = x.cause
            else e.state = 'unreadable' and e.reason <> 'no event id' and e.type = x.cause
          end
      )`,
}

/** Locks the open exceptions about messages of endpoints, so that whoever raises one waits. */
export async function lockMendable(db: Queryable, bucket: number): Promise<void> {
  await db.query(LOCK, [bucket])
}

/** Open exceptions about the messages of an endpoint that no stored message calls for any more. */
export function findMendedExceptions(db: Queryable, bucket: number): Promise<OpenException[]> {
  return db.query<OpenException>(FIND, [bucket])
}
