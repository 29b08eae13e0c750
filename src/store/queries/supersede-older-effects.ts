import type { Queryable, Statement } from '../database.ts'
import type { OpenException } from './close-exceptions.ts'

interface LevelEffect {
  readonly subject_id: bigint
  readonly topic: string
  readonly item: string
  readonly revision: bigint
}

const NEWEST: Statement = {
  name: 'find-newest-revision',
  text: `
    select coalesce(max(revision), 0) as revision from effects
    where subject_id = $2 and topic = $3 and item = $4 and bucket = $1`,
}

const SUPERSEDE: Statement = {
  name: 'supersede-older-effects',
  text: `
    update effects set state = 'superseded', finished_at = $2, lease_token = null
    where subject_id = $3 and topic = $4 and item = $5 and bucket = $1 and revision > 0 and revision < $6
      and (state = 'dead' or (state = 'due' and (lease_token is null or available_at <= $2)))`,
}

const FAILURES: Statement = {
  name: 'find-older-failures',
  text: `
    select x.id, x.tenant, x.subject_kind, x.subject_id, x.subject_key, x.kind, x.cause, x.occurrence
    from effects e, lateral (
      select * from exceptions
      where subject_key = e.id::text and subject_kind = 'effect' and kind = 'effect_failed' and cause = '-'
        and tenant = e.tenant and bucket = $1 and state = 'open'
      offset 0
    ) x
    where e.subject_id = $2 and e.topic = $3 and e.item = $4 and e.bucket = $1 and e.revision > 0 and e.revision < $5
      and e.state = 'superseded'`,
}

/** The newest revision that was ever written for the item of a level effect. */
export async function findNewestRevision(
  db: Queryable,
  bucket: number,
  effect: Omit<LevelEffect, 'revision'>,
): Promise<bigint> {
  const [row] = await db.query<{ revision: bigint }>(NEWEST, [
    bucket,
    effect.subject_id,
    effect.topic,
    effect.item,
  ])
  return row!.revision
}

/** Marks what waits (or is dead) of older revisions of the same item; what a worker delivers right now is left alone. */
export async function supersedeOlderEffects(
  db: Queryable,
  bucket: number,
  now: Date,
  effect: LevelEffect,
): Promise<void> {
  await db.query(SUPERSEDE, [bucket, now, effect.subject_id, effect.topic, effect.item, effect.revision])
}

/** Open exceptions about superseded older revisions of this item: a newer one that arrived has mended them. */
export function findOlderFailures(
  db: Queryable,
  bucket: number,
  effect: LevelEffect,
): Promise<OpenException[]> {
  return db.query<OpenException>(FAILURES, [
    bucket,
    effect.subject_id,
    effect.topic,
    effect.item,
    effect.revision,
  ])
}
