import type { ExceptionDue } from '../facts/exception.ts'
import { closeExceptions, loadOpenExceptions, type OpenException } from '../store/queries/close-exceptions.ts'
import { insertEffects, type NewEffect } from '../store/queries/insert-effects.ts'
import {
  type NewException,
  type RaisedException,
  raiseExceptions,
} from '../store/queries/raise-exceptions.ts'
import { withdrawEffects } from '../store/queries/withdraw-effects.ts'
import type { Work } from './work.ts'

/** What the rules say about one subject now, and how many exceptions its row counted as open before. */
export interface Judged {
  readonly tenant: string
  readonly subject_kind: 'payment' | 'order' | 'subscription'
  readonly subject_id: bigint
  readonly subject_key: string
  readonly due: readonly ExceptionDue[]
  readonly open_before: number
}

/**
 * Brings the exceptions of the judged subjects in line with what the rules say: opens what is new, closes what is no
 * longer so. Each opened one leaves one alert in the outbox; a closed one takes its alert back if nobody got it yet.
 */
export async function raiseJudged(
  work: Work,
  judged: readonly Judged[],
  others: readonly NewException[],
): Promise<void> {
  const standing = judged.filter((subject) => subject.open_before > 0)
  const open = standing.length > 0 ? await loadOpenExceptions(work.tx, work.bucket, 'rules', standing) : []
  const due = new Map(
    judged.flatMap((subject) =>
      subject.due.map((exception) => [name(subject, exception), { subject, exception }] as const),
    ),
  )
  const stale = open.filter((exception) => !due.has(name(exception, exception)))
  for (const exception of open) due.delete(name(exception, exception))
  const fresh = [...due.values()].map(({ subject, exception }) => asNew(work, subject, exception))
  await Promise.all([closeStale(work, stale), openFresh(work, [...fresh, ...others])])
}

function name(
  subject: { tenant: string; subject_kind: string; subject_key: string },
  exception: { kind: string; cause: string },
): string {
  return [subject.tenant, subject.subject_kind, subject.subject_key, exception.kind, exception.cause].join(
    '\n',
  )
}

function asNew(work: Work, subject: Judged, exception: ExceptionDue): NewException {
  return {
    tenant: subject.tenant,
    subject_kind: subject.subject_kind,
    subject_id: subject.subject_id,
    subject_key: subject.subject_key,
    kind: exception.kind,
    cause: exception.cause,
    origin: 'rules',
    severity: exception.severity,
    message: exception.message,
    alert_at: new Date(work.as_of.getTime() + exception.alert_after_ms),
  }
}

async function closeStale(work: Work, stale: readonly OpenException[]): Promise<void> {
  if (stale.length === 0) return
  await Promise.all([
    closeExceptions(
      work.tx,
      work.bucket,
      work.as_of,
      stale.map((exception) => exception.id),
    ),
    withdrawEffects(
      work.tx,
      work.bucket,
      work.as_of,
      stale.map((exception) => ({
        subject_id: exception.subject_id,
        topic: ALERT,
        item: '-',
        cause: alertCause(exception),
      })),
    ),
  ])
}

/** Opens exceptions and writes their alerts. Raising one that is open already changes nothing. */
export async function openFresh(work: Work, fresh: readonly NewException[]): Promise<void> {
  if (fresh.length === 0) return
  // One row per cause in one statement; two items of a batch may raise the same.
  const once = [...new Map(fresh.map((exception) => [name(exception, exception), exception])).values()]
  const raised = await raiseExceptions(work.tx, work.bucket, work.as_of, once)
  if (raised.length === 0) return
  const by = new Map(once.map((exception) => [short(exception), exception]))
  await insertEffects(
    work.tx,
    work.bucket,
    work.as_of,
    raised.map((row) => alert(by.get(short(row))!, row)),
  )
}

const ALERT = 'exception.opened'

function short(exception: {
  subject_kind: string
  subject_key: string
  kind: string
  cause: string
}): string {
  return [exception.subject_kind, exception.subject_key, exception.kind, exception.cause].join('\n')
}

function alertCause(exception: {
  subject_kind: string
  subject_key: string
  kind: string
  cause: string
  occurrence: number
}): string {
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
    topic: ALERT,
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
