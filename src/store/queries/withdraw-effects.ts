import type { Queryable, Statement } from '../database.ts'

const WITHDRAW: Statement = {
  name: 'withdraw-effects',
  text: `
    update effects set state = 'withdrawn', finished_at = $2
    where bucket = $1 and state = 'due' and attempts = 0 and id = any(array(
      select e.id
      from unnest($3::bigint[], $4::text[], $5::text[], $6::text[]) as w(subject_id, topic, item, cause),
        lateral (
          select id from effects
          where subject_id = w.subject_id and topic = w.topic and item = w.item and cause = w.cause and bucket = $1
          offset 0
        ) e
    ))`,
}

const SUPERSEDE: Statement = {
  name: 'supersede-effects',
  text: `
    update effects set state = 'superseded', finished_at = $2
    where bucket = $1 and (state = 'dead' or (state = 'due' and attempts = 0)) and id = any(array(
      select e.id
      from unnest($3::bigint[], $4::text[], $5::text[], $6::bigint[]) as s(subject_id, topic, item, revision),
        lateral (
          select id from effects
          where subject_id = s.subject_id and topic = s.topic and item = s.item and bucket = $1
            and revision > 0 and revision < s.revision
          offset 0
        ) e
    ))`,
}

/** Takes back one-shots that no worker has ever taken. One that was taken is history and stays. */
export async function withdrawEffects(
  db: Queryable,
  bucket: number,
  as_of: Date,
  effects: readonly { subject_id: bigint; topic: string; item: string; cause: string }[],
): Promise<void> {
  await db.query(WITHDRAW, [
    bucket,
    as_of,
    effects.map((effect) => effect.subject_id),
    effects.map((effect) => effect.topic),
    effects.map((effect) => effect.item),
    effects.map((effect) => effect.cause),
  ])
}

/** Waiting (or dead) level effects that a newer revision makes needless. */
export async function supersedeEffects(
  db: Queryable,
  bucket: number,
  as_of: Date,
  newer: readonly { subject_id: bigint; topic: string; item: string; revision: bigint }[],
): Promise<void> {
  await db.query(SUPERSEDE, [
    bucket,
    as_of,
    newer.map((effect) => effect.subject_id),
    newer.map((effect) => effect.topic),
    newer.map((effect) => effect.item),
    newer.map((effect) => effect.revision),
  ])
}
