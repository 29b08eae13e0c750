import type { Queryable, Statement } from '../database.ts'

/** Something that is kept and will be settled later, as a person reads it. */
export interface MarkRow {
  readonly id: bigint
  readonly tenant: string
  /** Key of the kept event; null for a mark on an order. */
  readonly event_key: string | null
  /** The order to look at again; null for a mark on an event. */
  readonly order_ref: string | null
  readonly marked_at: Date
  readonly next_attempt_at: Date
  readonly attempts: number
  readonly last_error: string
}

const LIST: Statement = {
  name: 'list-marks',
  text: `
    select u.id, u.tenant, e.event_key, nullif(u.order_ref, '') as order_ref, u.marked_at, u.next_attempt_at, u.attempts,
      u.last_error
    from unsettled u left join events e on e.id = u.event_id and e.bucket = $1
    where u.bucket = $1 order by u.id limit $2`,
}

const CONCERNED: Statement = {
  name: 'is-marked',
  text: `
    select exists (
      select 1 from unsettled u where u.order_ref = $3 and u.tenant = $2 and u.order_ref <> '' and u.bucket = $1
    ) or exists (
      select 1 from facts f
        join witnesses w on w.fact_id = f.id and w.source_kind = 'event' and w.bucket = $1
        join unsettled u on u.event_id = w.source_id and u.bucket = $1
      where f.subject_id = any($4::bigint[]) and f.bucket = $1
    ) as marked`,
}

export function listMarks(db: Queryable, bucket: number, limit: number): Promise<MarkRow[]> {
  return db.query<MarkRow>(LIST, [bucket, limit])
}

/** True when the order itself, or an event that speaks of one of these subjects, waits to be settled. */
export async function isMarked(
  db: Queryable,
  bucket: number,
  order: { readonly tenant: string; readonly reference: string },
  subject_ids: readonly bigint[],
): Promise<boolean> {
  const [row] = await db.query<{ marked: boolean }>(CONCERNED, [
    bucket,
    order.tenant,
    order.reference,
    subject_ids,
  ])
  return row!.marked
}
