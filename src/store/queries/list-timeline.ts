import type { Queryable, Statement } from '../database.ts'

/** A fact with everyone who told it. */
export interface TimelineFact {
  readonly id: bigint
  readonly subject_id: bigint
  readonly kind: string
  readonly fact_key: string
  readonly content: object
  readonly recorded_at: Date
  /** False when a replay took its last witness: it is kept, and counts for nothing. */
  readonly live: boolean
}

/** One telling of a fact. */
export interface TimelineWitness {
  readonly fact_id: bigint
  readonly source_kind: string
  /** Null for anything but an event. */
  readonly event_key: string | null
  readonly type: string | null
  readonly occurred_at: Date | null
  readonly received_at: Date | null
  /** How often the event came again. */
  readonly copies: bigint
}

const FACTS: Statement = {
  name: 'list-timeline-facts',
  text: `
    select f.id, f.subject_id, f.kind, f.fact_key, f.content, f.recorded_at,
      exists (select 1 from witnesses w where w.fact_id = f.id and w.bucket = $1) as live
    from facts f where f.subject_id = any($2::bigint[]) and f.bucket = $1 order by f.recorded_at, f.id`,
}

const WITNESSES: Statement = {
  name: 'list-timeline-witnesses',
  text: `
    select w.fact_id, w.source_kind, e.event_key, e.type, e.occurred_at, e.received_at,
      coalesce((select sum(c.copies) from event_copies c where c.event_id = e.id and c.bucket = $1), 0)::bigint as copies
    from facts f
      join witnesses w on w.fact_id = f.id and w.bucket = $1
      left join events e on w.source_kind = 'event' and e.id = w.source_id and e.bucket = $1
    where f.subject_id = any($2::bigint[]) and f.bucket = $1
    order by e.received_at nulls first, e.id`,
}

/** All facts about these subjects and all who told them, in the order in which they were recorded. */
export async function listTimeline(
  db: Queryable,
  bucket: number,
  subject_ids: readonly bigint[],
): Promise<{ facts: TimelineFact[]; witnesses: TimelineWitness[] }> {
  const [facts, witnesses] = await Promise.all([
    db.query<TimelineFact>(FACTS, [bucket, subject_ids]),
    db.query<TimelineWitness>(WITNESSES, [bucket, subject_ids]),
  ])
  return { facts, witnesses }
}
