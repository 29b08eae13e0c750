import type { ExceptionKind, Severity } from '../../facts/exception.ts'
import type { Queryable, Statement } from '../database.ts'

export type ExceptionOrigin =
  | 'rules'
  | 'receive'
  | 'settle'
  | 'effects'
  | 'operator'
  | 'watch'
  | 'operations'
  | 'reconcile'
export type ExceptionSubject =
  | 'payment'
  | 'order'
  | 'subscription'
  | 'event'
  | 'endpoint'
  | 'effect'
  | 'installation'
  | 'operation'

export interface NewException {
  readonly tenant: string
  readonly subject_kind: ExceptionSubject
  /** Id of the payment, order or subscription; 0 for other subjects. */
  readonly subject_id: bigint
  readonly subject_key: string
  readonly kind: ExceptionKind
  readonly cause: string
  readonly origin: ExceptionOrigin
  readonly severity: Severity
  readonly message: string
  readonly alert_at: Date
}

export interface RaisedException {
  readonly id: bigint
  readonly tenant: string
  readonly subject_kind: ExceptionSubject
  readonly subject_key: string
  readonly kind: ExceptionKind
  readonly cause: string
  readonly occurrence: number
}

// An exception that is open already is left as it is: no row comes back, and nobody is told twice. Whoever had it keeps it
// when it opens again, but has to see it anew.
const RAISE: Statement = {
  name: 'raise-exceptions',
  text: `
    with raised as (
      insert into exceptions (bucket, opened_at, state, tenant, subject_kind, subject_id, subject_key, kind, cause, origin,
        severity, message, alert_at)
      select $1, $2, 'open', e.tenant, e.subject_kind, e.subject_id, e.subject_key, e.kind, e.cause, e.origin, e.severity,
        e.message, e.alert_at
      from unnest($3::text[], $4::text[], $5::bigint[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[],
        $11::text[], $12::timestamptz[])
        as e(tenant, subject_kind, subject_id, subject_key, kind, cause, origin, severity, message, alert_at)
      on conflict (subject_key, subject_kind, kind, cause, tenant, bucket) do update set
        state = 'open', opened_at = excluded.opened_at, closed_at = null, alert_at = excluded.alert_at,
        message = excluded.message, severity = excluded.severity, occurrence = exceptions.occurrence + 1,
        acknowledged_at = null, acknowledged_by = '', closed_by = ''
        where exceptions.state = 'closed'
      returning id, tenant, subject_kind, subject_key, kind, cause, occurrence, message
    ), noted as (
      insert into exception_notes (bucket, exception_id, noted_at, occurrence, kind, words)
      select $1, id, $2, occurrence, case when occurrence = 1 then 'opened' else 'reopened' end, message from raised
    )
    select id, tenant, subject_kind, subject_key, kind, cause, occurrence from raised`,
}

/** Opens exceptions, or opens closed ones again. Gives those that were not open before. */
export function raiseExceptions(
  db: Queryable,
  bucket: number,
  as_of: Date,
  raised: readonly NewException[],
): Promise<RaisedException[]> {
  return db.query<RaisedException>(RAISE, [
    bucket,
    as_of,
    raised.map((exception) => exception.tenant),
    raised.map((exception) => exception.subject_kind),
    raised.map((exception) => exception.subject_id),
    raised.map((exception) => exception.subject_key),
    raised.map((exception) => exception.kind),
    raised.map((exception) => exception.cause),
    raised.map((exception) => exception.origin),
    raised.map((exception) => exception.severity),
    raised.map((exception) => exception.message),
    raised.map((exception) => exception.alert_at),
  ])
}
