import type { Fact } from '../facts/fact.ts'
import type { LookupAnswer } from '../providers/lookup.ts'
import type { LeasedLookup } from '../store/queries/lease-lookups.ts'

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** What follows from an answer: when to ask again (null for never), and whether a person has to hear of it. */
export interface NextAsking {
  readonly due_at: Date | null
  readonly alarming: boolean
}

/** A payment that is still under way is asked about for so long; bank debits stay pending for days. */
const PENDING_LIMIT_MS = 30 * DAY_MS
/** A buyer who was sent away to pay and never did is asked about for so long. */
const STARTED_LIMIT_MS = 2 * DAY_MS
/** After these pauses something that must exist, since an authentic message named it, is missing. */
const MISSING_PAUSES_MS = [10 * SECOND_MS, MINUTE_MS, 10 * MINUTE_MS]
/** Failed tries after which a person is told; it goes on asking. */
const ALARM_AFTER = 6

/**
 * Decides when an object is asked about again.
 * @param read_lag_ms for so long an answer may show the provider's former state: until then nothing that it does not find
 *   contradicts the message that named it
 */
export function nextAsking(
  question: Pick<LeasedLookup, 'asked_by' | 'asked_for_at' | 'attempts'>,
  answer: LookupAnswer,
  now_ms: number,
  read_lag_ms = 0,
): NextAsking {
  const age_ms = Math.max(0, now_ms - question.asked_for_at.getTime())
  const after = (delay_ms: number) => new Date(now_ms + delay_ms)
  switch (answer.outcome) {
    case 'found': {
      if (answer.facts.length === 0 || answer.facts.some(isFinal) || age_ms > PENDING_LIMIT_MS)
        return { due_at: null, alarming: false }
      return { due_at: after(growing(age_ms)), alarming: false }
    }
    case 'not_found': {
      if (question.asked_by === 'start' || question.asked_by === 'return') {
        const over = age_ms > STARTED_LIMIT_MS
        return { due_at: over ? null : after(growing(age_ms)), alarming: false }
      }
      if (age_ms < read_lag_ms) return { due_at: after(growing(age_ms)), alarming: false }
      const pause_ms = MISSING_PAUSES_MS[question.attempts - 1]
      return pause_ms === undefined
        ? { due_at: null, alarming: true }
        : { due_at: after(pause_ms), alarming: false }
    }
    case 'unavailable': {
      const pause_ms = Math.min(5 * SECOND_MS * 2 ** Math.min(question.attempts - 1, 20), HOUR_MS)
      return {
        due_at: after(Math.max(pause_ms, answer.retry_after_ms ?? 0)),
        alarming: question.attempts >= ALARM_AFTER,
      }
    }
    // Credentials and mappings are mended by people; after that it must go on by itself.
    case 'refused':
    case 'unreadable':
      return { due_at: after(15 * MINUTE_MS), alarming: true }
  }
}

/** Half as long again as it has taken so far. */
function growing(age_ms: number): number {
  return Math.min(Math.max(age_ms / 2, 30 * SECOND_MS), 6 * HOUR_MS)
}

const UNDER_WAY: ReadonlySet<string> = new Set([
  'created',
  'requires_action',
  'pending',
  'authorized',
  'requested',
])

/** True for a statement after which nothing more is expected by itself. */
function isFinal(fact: Fact): boolean {
  if (fact.kind === 'payment_milestone' || fact.kind === 'refund_milestone')
    return !UNDER_WAY.has(fact.content.milestone)
  return fact.kind !== 'payment_link'
}
