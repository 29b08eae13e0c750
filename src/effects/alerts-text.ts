import { EXCEPTION_GUIDE } from '../facts/exception-guide.ts'
import type { OutgoingEffect } from './outgoing-effect.ts'

/** What an alert about one exception says; the payload of an `exception.opened`. */
export interface Alert {
  /** Its number, for `paidonce exceptions show`. */
  readonly exception: string
  readonly kind: string
  readonly severity: string
  readonly subject_kind: string
  readonly subject: string
  readonly message: string
}

/** The topic under which several alerts leave as one message; its payload is `{ exceptions: Alert[] }`. */
export const DIGEST_TOPIC = 'exception.digest'

/** So many of a digest are told in full; the rest is counted. */
const TOLD_MAX = 20

export interface AlertText {
  /** One line. */
  readonly title: string
  readonly body: string
}

/** An effect as people read it: an alert, a digest of them, or anything else by its name. */
export function alertText(effect: OutgoingEffect): AlertText {
  const alerts = alertsOf(effect)
  const [first] = alerts
  if (first === undefined) {
    return { title: oneLine(`${effect.topic}: ${effect.subject.kind} ${effect.subject.key}`), body: '' }
  }
  return alerts.length === 1 ? single(first) : digest(alerts)
}

/** The alerts that an effect carries; none for another topic. */
export function alertsOf({ topic, payload }: OutgoingEffect): readonly Alert[] {
  if (topic === DIGEST_TOPIC) return payload.exceptions as readonly Alert[]
  return topic === 'exception.opened' ? [payload as unknown as Alert] : []
}

function single(alert: Alert): AlertText {
  const body = [alert.message, nextStep(alert), `More: paidonce exceptions show ${alert.exception}`]
  return { title: head(alert), body: body.filter((line) => line !== '').join('\n') }
}

function digest(alerts: readonly Alert[]): AlertText {
  const urgent = alerts.filter(({ severity }) => severity === 'urgent').length
  const sorted = [...alerts].sort((a, b) => Number(b.severity === 'urgent') - Number(a.severity === 'urgent'))
  const told = sorted.slice(0, TOLD_MAX).map((alert) => `${head(alert)}\n  ${alert.message}`)
  const rest = sorted.length - told.length
  return {
    title: `${alerts.length} exceptions${urgent > 0 ? `, ${urgent} of them urgent` : ''}: ${byKind(alerts)}`,
    body: [
      ...told,
      ...(rest > 0 ? [`... and ${rest} more.`] : []),
      'All that is open: paidonce exceptions',
    ].join('\n'),
  }
}

function head({ severity, kind, subject_kind, subject }: Alert): string {
  return oneLine(`${severity}: ${kind.replaceAll('_', ' ')}, ${subject_kind} ${subject}`)
}

/** A row that an older or newer release wrote may be of a kind that this one does not know. */
function nextStep({ kind }: Alert): string {
  const guides: Readonly<Record<string, { readonly next: string }>> = EXCEPTION_GUIDE
  return Object.hasOwn(guides, kind) ? `Next: ${guides[kind]!.next}` : ''
}

function byKind(alerts: readonly Alert[]): string {
  const counts = new Map<string, number>()
  for (const { kind } of alerts) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  return [...counts]
    .sort((a, b) => b[1] - a[1])
    .slice(0, 5)
    .map(([kind, count]) => `${count} ${kind.replaceAll('_', ' ')}`)
    .join(', ')
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').slice(0, 300)
}
