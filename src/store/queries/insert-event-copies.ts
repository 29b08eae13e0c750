import type { Queryable, Statement } from '../database.ts'

const INSERT: Statement = {
  name: 'insert-event-copies',
  text: `
    insert into event_copies (bucket, event_id, received_at, copies)
    select $1, c.event_id, c.received_at, c.copies
    from unnest($2::bigint[], $3::timestamptz[], $4::int[]) as c(event_id, received_at, copies)
    on conflict (event_id, received_at, bucket) do update set copies = event_copies.copies + excluded.copies`,
}

/** Counts further deliveries of known events; one entry per event in a call. */
export async function insertEventCopies(
  db: Queryable,
  bucket: number,
  copies: readonly { readonly event_id: bigint; readonly received_at: Date; readonly copies: number }[],
): Promise<void> {
  await db.query(INSERT, [
    bucket,
    copies.map((copy) => copy.event_id),
    copies.map((copy) => copy.received_at),
    copies.map((copy) => copy.copies),
  ])
}
