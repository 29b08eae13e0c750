import type { Queryable, Statement } from '../database.ts'

const WITHDRAW: Statement = {
  name: 'withdraw-effects',
  text: `
    update effects e set state = 'withdrawn', finished_at = $2
    from unnest($3::bigint[], $4::text[], $5::text[], $6::text[]) as w(subject_id, topic, item, cause)
    where e.subject_id = w.subject_id and e.topic = w.topic and e.item = w.item and e.cause = w.cause and e.bucket = $1
      and e.state = 'due' and e.attempts = 0`,
}

const SUPERSEDE: Statement = {
  name: 'supersede-effects',
  text: `
    update effects e set state = 'superseded', finished_at = $2
    from unnest($3::bigint[], $4::text[], $5::text[], $6::bigint[]) as s(subject_id, topic, item, revision)
    where e.subject_id = s.subject_id and e.topic = s.topic and e.item = s.item and e.bucket = $1
      and e.revision < s.revision and e.revision > 0 and e.state in ('due', 'dead') and (e.attempts = 0 or e.state = 'dead')`,
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
