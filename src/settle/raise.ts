import type { ExceptionDue } from '../facts/exception.ts'
import { closeOpenExceptions, openExceptions, restateExceptions } from '../store/exception-alerts.ts'
import { loadOpenExceptions } from '../store/queries/close-exceptions.ts'
import type { NewException } from '../store/queries/raise-exceptions.ts'
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
 * longer so, restates what says something else now. Each opened one leaves one alert in the outbox, and another if it
 * gets worse; a closed one takes its alert back if nobody got it yet.
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
  const restated = open.flatMap((exception) => {
    const now = due.get(name(exception, exception))
    return now === undefined ? [] : [{ open: exception, now: asNew(work, now.subject, now.exception) }]
  })
  for (const exception of open) due.delete(name(exception, exception))
  const fresh = [...due.values()].map(({ subject, exception }) => asNew(work, subject, exception))
  await Promise.all([
    closeOpenExceptions(work.tx, work.bucket, work.as_of, stale),
    openExceptions(work.tx, work.bucket, work.as_of, [...fresh, ...others]),
    restateExceptions(work.tx, work.bucket, work.as_of, restated),
  ])
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
