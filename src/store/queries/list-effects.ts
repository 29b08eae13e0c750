import type { Queryable, Statement } from '../database.ts'

export interface ListedEffect {
  readonly id: bigint
  readonly tenant: string
  readonly topic: string
  readonly subject_kind: string
  readonly subject_key: string
  readonly item: string
  readonly revision: bigint
  readonly cause: string
  readonly state: string
  readonly attempts: number
  readonly created_at: Date
  readonly available_at: Date
  readonly finished_at: Date | null
  readonly last_error: string
  readonly payload: Readonly<Record<string, unknown>>
}

const COLUMNS = `id, tenant, topic, subject_kind, subject_key, item, revision, cause, state, attempts, created_at,
  available_at, finished_at, last_error, payload`

const LIST: Statement = {
  name: 'list-effects',
  text: `
    select ${COLUMNS} from effects
    where bucket = $1 and ($2::text is null or state = $2) and ($3::text is null or topic = $3)
      and ($4::text is null or subject_key = $4)
    order by id desc limit $5`,
}

const OF_SUBJECTS: Statement = {
  name: 'list-effects-of-subjects',
  text: `
    select ${COLUMNS} from effects
    where subject_id = any($2::bigint[]) and subject_id <> 0 and bucket = $1 order by id`,
}

export interface EffectFilter {
  readonly state?: string | undefined
  readonly topic?: string | undefined
  /** Reference of the order, or another subject's key. */
  readonly subject?: string | undefined
  readonly limit: number
}

/** Effects, newest first. */
export function listEffects(db: Queryable, bucket: number, filter: EffectFilter): Promise<ListedEffect[]> {
  const { state = null, topic = null, subject = null, limit } = filter
  return db.query<ListedEffect>(LIST, [bucket, state, topic, subject, limit])
}

/** All effects of these payments and orders, oldest first. */
export function listEffectsOf(
  db: Queryable,
  bucket: number,
  subject_ids: readonly bigint[],
): Promise<ListedEffect[]> {
  return db.query<ListedEffect>(OF_SUBJECTS, [bucket, subject_ids])
}
