import type { Queryable, Statement } from '../database.ts'
import type { EventState } from './insert-events.ts'

const UPDATE: Statement = {
  name: 'update-event-states',
  text: 'update events set state = $3, reason = $4 where id = any($2::bigint[]) and bucket = $1',
}

/** Says of stored events how far they have come (`kept` after a hook failed, `settled` once the mark is gone). */
export async function updateEventStates(
  db: Queryable,
  bucket: number,
  ids: readonly bigint[],
  state: EventState,
  reason: string,
): Promise<void> {
  await db.query(UPDATE, [bucket, ids, state, reason])
}
