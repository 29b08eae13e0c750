import type { Queryable, Statement } from '../database.ts'

/** What a person has to know to retry or discard an effect. */
export interface EffectRow {
  readonly id: bigint
  readonly tenant: string
  readonly subject_id: bigint
  readonly topic: string
  readonly item: string
  readonly revision: bigint
  readonly state: 'due' | 'done' | 'dead' | 'withdrawn' | 'superseded' | 'discarded'
  readonly available_at: Date
  /** Some worker has it, until `available_at`. */
  readonly leased: boolean
}

const LOCK: Statement = {
  name: 'lock-effect',
  text: `
    select id, tenant, subject_id, topic, item, revision, state, available_at, lease_token is not null as leased
    from effects where id = $2 and bucket = $1 for no key update`,
}

const DECIDE: Statement = {
  name: 'decide-effect',
  text: `
    update effects set state = $3, available_at = $4, finished_at = $5, last_error = $6, lease_token = null
    where id = $2 and bucket = $1`,
}

/** Locks one effect until the transaction ends; null when there is none. */
export async function lockEffect(db: Queryable, bucket: number, id: bigint): Promise<EffectRow | null> {
  const [row] = await db.query<EffectRow>(LOCK, [bucket, id])
  return row ?? null
}

/** Writes what a person decided about a locked effect. Attempts stay: what may have gone out is not forgotten. */
export async function decideEffect(
  db: Queryable,
  bucket: number,
  now: Date,
  decided: { readonly id: bigint; readonly state: 'due' | 'discarded'; readonly note: string },
): Promise<void> {
  const finished_at = decided.state === 'due' ? null : now
  await db.query(DECIDE, [bucket, decided.id, decided.state, now, finished_at, decided.note])
}
