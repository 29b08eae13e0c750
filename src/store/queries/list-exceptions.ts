import type { Queryable, Statement } from '../database.ts'

export interface ExceptionRow {
  readonly id: bigint
  readonly tenant: string
  readonly subject_kind: string
  readonly subject_key: string
  readonly kind: string
  readonly cause: string
  readonly severity: string
  readonly state: string
  readonly occurrence: number
  readonly opened_at: Date
  readonly closed_at: Date | null
  readonly message: string
}

const COLUMNS = `id, tenant, subject_kind, subject_key, kind, cause, severity, state, occurrence, opened_at, closed_at,
  message`

const LIST: Statement = {
  name: 'list-exceptions',
  text: `
    select ${COLUMNS} from exceptions
    where bucket = $1 and ($2::text is null or state = $2) and ($3::text is null or kind = $3)
    order by opened_at desc, id desc limit $4`,
}

const OF_SUBJECTS: Statement = {
  name: 'list-exceptions-of-subjects',
  text: `
    select ${COLUMNS} from exceptions
    where subject_id = any($2::bigint[]) and subject_id <> 0 and bucket = $1 order by opened_at, id`,
}

export interface ExceptionFilter {
  readonly state?: string | undefined
  readonly kind?: string | undefined
  readonly limit: number
}

/** Exceptions, newest first. */
export function listExceptions(
  db: Queryable,
  bucket: number,
  filter: ExceptionFilter,
): Promise<ExceptionRow[]> {
  return db.query<ExceptionRow>(LIST, [bucket, filter.state ?? null, filter.kind ?? null, filter.limit])
}

/** All exceptions about these payments, orders and subscriptions, oldest first. */
export function listExceptionsOf(
  db: Queryable,
  bucket: number,
  subject_ids: readonly bigint[],
): Promise<ExceptionRow[]> {
  return db.query<ExceptionRow>(OF_SUBJECTS, [bucket, subject_ids])
}
