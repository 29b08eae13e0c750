import type { Queryable, Statement } from '../database.ts'

export interface NewEffect {
  readonly tenant: string
  readonly subject_kind: string
  readonly subject_id: bigint
  readonly subject_key: string
  readonly seq: bigint
  readonly revision: bigint
  readonly topic: string
  readonly item: string
  readonly cause: string
  readonly lane: string
  readonly available_at: Date
  /** JSON text. */
  readonly payload: string
}

// A one-shot that was withdrawn before anyone tried it is the same row when it becomes due again.
const INSERT: Statement = {
  name: 'insert-effects',
  text: `
    insert into effects (bucket, created_at, state, tenant, subject_kind, subject_id, subject_key, seq, revision, topic,
      item, cause, lane, available_at, payload)
    select $1, $2, 'due', e.tenant, e.subject_kind, e.subject_id, e.subject_key, e.seq, e.revision, e.topic, e.item,
      e.cause, e.lane, e.available_at, e.payload
    from unnest($3::text[], $4::text[], $5::bigint[], $6::text[], $7::bigint[], $8::bigint[], $9::text[], $10::text[],
      $11::text[], $12::text[], $13::timestamptz[], $14::jsonb[])
      as e(tenant, subject_kind, subject_id, subject_key, seq, revision, topic, item, cause, lane, available_at, payload)
    on conflict (subject_id, topic, item, cause, bucket) do update set
      state = 'due', finished_at = null, available_at = excluded.available_at, seq = excluded.seq, payload = excluded.payload
      where effects.state = 'withdrawn'`,
}

/** Writes outbox rows; one that was announced already under the same cause stays as it is. */
export async function insertEffects(
  db: Queryable,
  bucket: number,
  as_of: Date,
  effects: readonly NewEffect[],
): Promise<void> {
  await db.query(INSERT, [
    bucket,
    as_of,
    effects.map((effect) => effect.tenant),
    effects.map((effect) => effect.subject_kind),
    effects.map((effect) => effect.subject_id),
    effects.map((effect) => effect.subject_key),
    effects.map((effect) => effect.seq),
    effects.map((effect) => effect.revision),
    effects.map((effect) => effect.topic),
    effects.map((effect) => effect.item),
    effects.map((effect) => effect.cause),
    effects.map((effect) => effect.lane),
    effects.map((effect) => effect.available_at),
    effects.map((effect) => effect.payload),
  ])
}
