import type { ExceptionKind } from '../../facts/exception.ts'
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

const LOAD: Statement = {
  name: 'load-open-exceptions',
  text: `
    select e.id, e.tenant, e.subject_kind, e.subject_id, e.subject_key, e.kind, e.cause, e.occurrence
    from unnest($2::text[], $3::text[], $4::text[]) as k(tenant, subject_kind, subject_key),
      lateral (
        select * from exceptions
        where subject_key = k.subject_key and subject_kind = k.subject_kind and tenant = k.tenant and bucket = $1
          and state = 'open' and origin = $5
        offset 0
      ) e`,
}

const CLOSE: Statement = {
  name: 'close-exceptions',
  text: `update exceptions set state = 'closed', closed_at = $2 where id = any($3::bigint[]) and bucket = $1 and state = 'open'`,
}

/** The open exceptions of these subjects that this origin raised. */
export function loadOpenExceptions(
  db: Queryable,
  bucket: number,
  origin: ExceptionOrigin,
  subjects: readonly { tenant: string; subject_kind: ExceptionSubject; subject_key: string }[],
): Promise<OpenException[]> {
  return db.query<OpenException>(LOAD, [
    bucket,
    subjects.map((subject) => subject.tenant),
    subjects.map((subject) => subject.subject_kind),
    subjects.map((subject) => subject.subject_key),
    origin,
  ])
}

export async function closeExceptions(
  db: Queryable,
  bucket: number,
  as_of: Date,
  ids: readonly bigint[],
): Promise<void> {
  await db.query(CLOSE, [bucket, as_of, ids])
}
