import type { ExceptionKind, Severity } from '../../facts/exception.ts'
import type { Queryable, Statement } from '../database.ts'
import type { ExceptionOrigin, ExceptionSubject } from './raise-exceptions.ts'

export interface OpenException {
  readonly id: bigint
  readonly tenant: string
  readonly subject_kind: ExceptionSubject
  readonly subject_id: bigint
  readonly subject_key: string
  readonly kind: ExceptionKind
  readonly cause: string
  readonly occurrence: number
}

/** An open exception with what it says now. */
export interface StandingException extends OpenException {
  readonly severity: Severity
  readonly message: string
}

const LOAD: Statement = {
  name: 'load-open-exceptions',
  text: `
    select e.id, e.tenant, e.subject_kind, e.subject_id, e.subject_key, e.kind, e.cause, e.occurrence,
      e.severity, e.message
    from unnest($2::text[], $3::text[], $4::text[]) as k(tenant, subject_kind, subject_key),
      lateral (
        select * from exceptions
        where subject_key = k.subject_key and subject_kind = k.subject_kind and tenant = k.tenant and bucket = $1
          and state = 'open' and origin = $5
        offset 0
      ) e`,
}

const OF_KINDS: Statement = {
  name: 'load-open-exceptions-of-kinds',
  text: `
    select id, tenant, subject_kind, subject_id, subject_key, kind, cause, occurrence, severity, message
    from exceptions where bucket = $1 and state = 'open' and origin = $2 and kind = any($3::text[])`,
}

const CLOSE: Statement = {
  name: 'close-exceptions',
  text: `
    with closed as (
      update exceptions set state = 'closed', closed_at = $2, closed_by = $4
      where id = any($3::bigint[]) and bucket = $1 and state = 'open'
      returning id, occurrence
    )
    insert into exception_notes (bucket, exception_id, noted_at, occurrence, kind, actor, words)
    select $1, id, $2, occurrence, $5, $4, $6 from closed`,
}

/** The open exceptions of these subjects that this origin raised. */
export function loadOpenExceptions(
  db: Queryable,
  bucket: number,
  origin: ExceptionOrigin,
  subjects: readonly { tenant: string; subject_kind: ExceptionSubject; subject_key: string }[],
): Promise<StandingException[]> {
  return db.query<StandingException>(LOAD, [
    bucket,
    subjects.map((subject) => subject.tenant),
    subjects.map((subject) => subject.subject_kind),
    subjects.map((subject) => subject.subject_key),
    origin,
  ])
}

/** All open exceptions of these kinds that this origin raised. */
export function loadOpenExceptionsOf(
  db: Queryable,
  bucket: number,
  origin: ExceptionOrigin,
  kinds: readonly ExceptionKind[],
): Promise<StandingException[]> {
  return db.query<StandingException>(OF_KINDS, [bucket, origin, kinds])
}

/** Who closes an exception by hand, and why. */
export interface Resolution {
  readonly actor: string
  readonly reason: string
}

/** Closes open exceptions and writes that into their history; without a resolution facts did it. */
export async function closeExceptions(
  db: Queryable,
  bucket: number,
  as_of: Date,
  ids: readonly bigint[],
  by: Resolution | null = null,
): Promise<void> {
  const kind = by ? 'resolved' : 'closed'
  await db.query(CLOSE, [bucket, as_of, ids, by?.actor ?? '', kind, by?.reason ?? ''])
}
