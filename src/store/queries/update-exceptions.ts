import type { Severity } from '../../facts/exception.ts'
import type { Queryable, Statement } from '../database.ts'

export interface ExceptionUpdate {
  readonly id: bigint
  readonly severity: Severity
  readonly message: string
  /** It got worse, which its history tells. */
  readonly escalated: boolean
}

const UPDATE: Statement = {
  name: 'update-exceptions',
  text: `
    with written as (
      update exceptions x set severity = u.severity, message = u.message
      from unnest($3::bigint[], $4::text[], $5::text[], $6::boolean[]) as u(id, severity, message, escalated)
      where x.id = u.id and x.bucket = $1 and x.state = 'open'
      returning x.id, x.occurrence, x.message, u.escalated
    )
    insert into exception_notes (bucket, exception_id, noted_at, occurrence, kind, words)
    select $1, id, $2, occurrence, 'escalated', message from written where escalated`,
}

/** Writes what open exceptions say now. */
export async function updateExceptions(
  db: Queryable,
  bucket: number,
  as_of: Date,
  updates: readonly ExceptionUpdate[],
): Promise<void> {
  await db.query(UPDATE, [
    bucket,
    as_of,
    updates.map((update) => update.id),
    updates.map((update) => update.severity),
    updates.map((update) => update.message),
    updates.map((update) => update.escalated),
  ])
}
