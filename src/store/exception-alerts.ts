import type { Severity } from '../facts/exception.ts'
import type { Queryable } from './database.ts'
import { closeExceptions, type Resolution, type StandingException } from './queries/close-exceptions.ts'
import { insertEffects, type NewEffect } from './queries/insert-effects.ts'
import {
  type ExceptionSubject,
  type NewException,
  type RaisedException,
  raiseExceptions,
} from './queries/raise-exceptions.ts'
import { updateExceptions } from './queries/update-exceptions.ts'
import { withdrawEffects } from './queries/withdraw-effects.ts'

/** The topic of the effect that tells a person of an exception. */
export const ALERT_TOPIC = 'exception.opened'

interface Named {
  readonly tenant: string
  readonly subject_kind: ExceptionSubject
  readonly subject_key: string
  readonly kind: string
  readonly cause: string
}

/**
 * Opens exceptions and writes one alert for each that was not open before. Raising one that is open already changes
 * nothing. Runs in the caller's transaction. With `alerts: false` nobody is told; the exception just stands there.
 */
export async function openExceptions(
  db: Queryable,
  bucket: number,
  as_of: Date,
  raised: readonly NewException[],
  options: { readonly alerts: boolean } = { alerts: true },
): Promise<void> {
  if (raised.length === 0) return
  // One row per cause in one statement; two items of a batch may raise the same.
  const once = new Map(raised.map((exception) => [name(exception), exception]))
  const fresh = await raiseExceptions(db, bucket, as_of, [...once.values()])
  if (fresh.length === 0 || !options.alerts) return
  await insertEffects(
    db,
    bucket,
    as_of,
    fresh.map((row) => alert(once.get(name(row))!, row)),
  )
}

/** Closes open exceptions; an alert that nobody got yet is taken back. Runs in the caller's transaction. */
export async function closeOpenExceptions(
  db: Queryable,
  bucket: number,
  as_of: Date,
  open: readonly (Named & {
    readonly id: bigint
    readonly subject_id: bigint
    readonly occurrence: number
  })[],
  by: Resolution | null = null,
): Promise<void> {
  if (open.length === 0) return
  await Promise.all([
    closeExceptions(
      db,
      bucket,
      as_of,
      open.map((exception) => exception.id),
      by,
    ),
    withdrawEffects(
      db,
      bucket,
      as_of,
      open.flatMap((exception) =>
        ['', '/warning', '/urgent'].map((worse) => ({
          subject_id: exception.subject_id,
          topic: ALERT_TOPIC,
          item: '-',
          cause: `${alertCause(exception, exception.subject_id)}${worse}`,
        })),
      ),
    ),
  ])
}

const SEVERITY_RANK: Readonly<Record<Severity, number>> = { notice: 0, warning: 1, urgent: 2 }

/**
 * Brings open exceptions in line with what they say now. One that got worse is told once more, under a cause of its own;
 * one that got milder is not. Runs in the caller's transaction.
 */
export async function restateExceptions(
  db: Queryable,
  bucket: number,
  as_of: Date,
  restated: readonly { readonly open: StandingException; readonly now: NewException }[],
): Promise<void> {
  const changed = restated.filter(
    ({ open, now }) => open.message !== now.message || open.severity !== now.severity,
  )
  if (changed.length === 0) return
  const worse = changed.filter(({ open, now }) => SEVERITY_RANK[now.severity] > SEVERITY_RANK[open.severity])
  const writes = changed.map(({ open, now }) => ({
    id: open.id,
    severity: now.severity,
    message: now.message,
    escalated: SEVERITY_RANK[now.severity] > SEVERITY_RANK[open.severity],
  }))
  const running: Promise<unknown>[] = [updateExceptions(db, bucket, as_of, writes)]
  if (worse.length > 0) {
    const alerts = worse.map(({ open, now }) => {
      const told = alert({ ...now, alert_at: as_of }, open)
      return { ...told, cause: `${told.cause}/${now.severity}` }
    })
    running.push(insertEffects(db, bucket, as_of, alerts))
  }
  await Promise.all(running)
}

function name(exception: Named): string {
  const { tenant, subject_kind, subject_key, kind, cause } = exception
  return [tenant, subject_kind, subject_key, kind, cause].join('\n')
}

/** Subjects without an id of ours (an endpoint, the installation) may have the same name at another tenant. */
function alertCause(exception: Named & { readonly occurrence: number }, subject_id: bigint): string {
  const whose = subject_id === 0n ? `${exception.tenant}/` : ''
  return `${whose}${exception.subject_kind}:${exception.subject_key}/${exception.kind}/${exception.cause}/${exception.occurrence}`
}

function alert(exception: NewException, raised: Pick<RaisedException, 'id' | 'occurrence'>): NewEffect {
  return {
    tenant: exception.tenant,
    subject_kind: exception.subject_kind,
    subject_id: exception.subject_id,
    subject_key: exception.subject_key,
    seq: 0n,
    revision: 0n,
    topic: ALERT_TOPIC,
    item: '-',
    cause: alertCause({ ...exception, occurrence: raised.occurrence }, exception.subject_id),
    lane: 'alerts',
    available_at: exception.alert_at,
    payload: JSON.stringify({
      exception: String(raised.id),
      kind: exception.kind,
      severity: exception.severity,
      subject_kind: exception.subject_kind,
      subject: exception.subject_key,
      message: exception.message,
    }),
  }
}
