import type { SubjectKind } from '../../facts/subject.ts'
import type { Queryable, Statement } from '../database.ts'

const SUBJECTS: Statement = {
  name: 'find-witnessed-subjects',
  text: `
    select distinct f.subject_kind, f.subject_id
    from witnesses w join facts f on f.id = w.fact_id and f.bucket = $1
    where w.source_kind = 'event' and w.source_id = any($2::bigint[]) and w.bucket = $1`,
}

const DELETE: Statement = {
  name: 'delete-event-witnesses',
  text: `delete from witnesses where source_kind = 'event' and source_id = any($2::bigint[]) and bucket = $1`,
}

const STATED: Statement = {
  name: 'list-event-facts',
  text: `
    select f.subject_id, f.fact_key, f.content_digest
    from witnesses w join facts f on f.id = w.fact_id and f.bucket = $1
    where w.source_kind = 'event' and w.source_id = $2 and w.bucket = $1`,
}

/** The subjects about which these events have told facts. */
export function findWitnessedSubjects(
  db: Queryable,
  bucket: number,
  event_ids: readonly bigint[],
): Promise<{ subject_kind: SubjectKind; subject_id: bigint }[]> {
  return db.query(SUBJECTS, [bucket, event_ids])
}

/** What replay does before it lets the present adapter speak: the events' testimony goes, the facts stay. */
export async function deleteEventWitnesses(
  db: Queryable,
  bucket: number,
  event_ids: readonly bigint[],
): Promise<void> {
  await db.query(DELETE, [bucket, event_ids])
}

/** The statements that an event has told so far, in any version of its content. */
export function listEventFacts(
  db: Queryable,
  bucket: number,
  event_id: bigint,
): Promise<{ subject_id: bigint; fact_key: string; content_digest: Buffer }[]> {
  return db.query(STATED, [bucket, event_id])
}
