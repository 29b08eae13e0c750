import type { ExceptionKind, Severity } from '../../facts/exception.ts'
import type { Queryable, Statement } from '../database.ts'
import type { ExceptionOrigin, ExceptionSubject } from './raise-exceptions.ts'

export interface ExceptionRow {
  readonly id: bigint
  readonly tenant: string
  readonly subject_kind: ExceptionSubject
  readonly subject_key: string
  readonly kind: ExceptionKind
  readonly cause: string
  readonly origin: ExceptionOrigin
  readonly severity: Severity
  readonly state: 'open' | 'closed'
  /** How often it has opened. */
  readonly occurrence: number
  readonly opened_at: Date
  readonly closed_at: Date | null
  /** Who closed it; empty while it is open, and where facts did. */
  readonly closed_by: string
  /** Who has it; empty for nobody. */
  readonly owner: string
  readonly acknowledged_at: Date | null
  readonly acknowledged_by: string
  readonly message: string
}

export const EXCEPTION_COLUMNS = `id, tenant, subject_kind, subject_key, kind, cause, origin, severity, state, occurrence,
  opened_at, closed_at, closed_by, owner, acknowledged_at, acknowledged_by, message`

const LIST: Statement = {
  name: 'list-exceptions',
  text: `
    select ${EXCEPTION_COLUMNS} from exceptions
    where bucket = $1 and ($2::text is null or state = $2) and ($3::text is null or kind = $3)
      and ($4::text is null or severity = $4) and ($5::text is null or owner = $5)
      and ($6::text is null or subject_key = $6) and ($7::timestamptz is null or opened_at <= $7)
      and ($8::text is null or tenant = $8)
    order by state desc, case severity when 'urgent' then 0 when 'warning' then 1 else 2 end, opened_at desc, id desc
    limit $9`,
}

const OF_SUBJECTS: Statement = {
  name: 'list-exceptions-of-subjects',
  text: `
    select ${EXCEPTION_COLUMNS} from exceptions
    where subject_id = any($2::bigint[]) and subject_id <> 0 and bucket = $1 order by opened_at, id`,
}

export interface ExceptionFilter {
  readonly state?: string | undefined
  readonly kind?: string | undefined
  readonly severity?: string | undefined
  /** Whoever has it; empty for those that nobody has. */
  readonly owner?: string | undefined
  /** An order's reference, `namespace/account/id` of a payment, the name of an endpoint. */
  readonly subject?: string | undefined
  /** Only those that opened then or earlier. */
  readonly opened_before?: Date | undefined
  readonly tenant?: string | undefined
  readonly limit: number
}

/** Exceptions: open before closed, urgent first, then the newest first. */
export function listExceptions(
  db: Queryable,
  bucket: number,
  filter: ExceptionFilter,
): Promise<ExceptionRow[]> {
  return db.query<ExceptionRow>(LIST, [
    bucket,
    filter.state ?? null,
    filter.kind ?? null,
    filter.severity ?? null,
    filter.owner ?? null,
    filter.subject ?? null,
    filter.opened_before ?? null,
    filter.tenant ?? null,
    filter.limit,
  ])
}

/** All exceptions about these payments, orders and subscriptions, oldest first. */
export function listExceptionsOf(
  db: Queryable,
  bucket: number,
  subject_ids: readonly bigint[],
): Promise<ExceptionRow[]> {
  return db.query<ExceptionRow>(OF_SUBJECTS, [bucket, subject_ids])
}
