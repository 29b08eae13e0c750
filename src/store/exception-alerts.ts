import type { Queryable } from './database.ts'
import { closeExceptions } from './queries/close-exceptions.ts'
import { insertEffects, type NewEffect } from './queries/insert-effects.ts'
import {
  type ExceptionSubject,
  type NewException,
  type RaisedException,
  raiseExceptions,
} from './queries/raise-exceptions.ts'
import { withdrawEffects } from './queries/withdraw-effects.ts'

/** The topic of the effect that tells a person of an exception. */
export const ALERT_TOPIC = 'exception.opened'

interface Named {
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
  const once = new Map(raised.map((exception) => [tenantName(exception), exception]))
  const fresh = await raiseExceptions(db, bucket, as_of, [...once.values()])
  if (fresh.length === 0 || !options.alerts) return
  const by = new Map([...once.values()].map((exception) => [name(exception), exception]))
  await insertEffects(
    db,
    bucket,
    as_of,
    fresh.map((row) => alert(by.get(name(row))!, row)),
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
): Promise<void> {
  if (open.length === 0) return
  await Promise.all([
    closeExceptions(
      db,
      bucket,
      as_of,
      open.map((exception) => exception.id),
    ),
    withdrawEffects(
      db,
      bucket,
      as_of,
      open.map((exception) => ({
        subject_id: exception.subject_id,
        topic: ALERT_TOPIC,
        item: '-',
        cause: alertCause(exception),
      })),
    ),
  ])
}

function name(exception: Named): string {
  return [exception.subject_kind, exception.subject_key, exception.kind, exception.cause].join('\n')
}

function tenantName(exception: NewException): string {
  return `${exception.tenant}\n${name(exception)}`
}

function alertCause(exception: Named & { readonly occurrence: number }): string {
  return `${exception.subject_kind}:${exception.subject_key}/${exception.kind}/${exception.cause}/${exception.occurrence}`
}

function alert(exception: NewException, raised: RaisedException): NewEffect {
  return {
    tenant: exception.tenant,
    subject_kind: exception.subject_kind,
    subject_id: exception.subject_id,
    subject_key: exception.subject_key,
    seq: 0n,
    revision: 0n,
    topic: ALERT_TOPIC,
    item: '-',
    cause: alertCause(raised),
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
