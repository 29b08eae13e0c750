import type { Queryable, Statement } from '../database.ts'

const DELETE: Statement = {
  name: 'delete-event-witnesses',
  text: `delete from witnesses where source_kind = 'event' and source_id = any($2::bigint[]) and bucket = $1`,
}

/** What replay does before it lets the present adapter speak: the events' testimony goes, the facts stay. */
export async function deleteEventWitnesses(
  db: Queryable,
  bucket: number,
  event_ids: readonly bigint[],
): Promise<void> {
  await db.query(DELETE, [bucket, event_ids])
}
