/** What the provider's rules say about a repeat, as its capability sheet has them. */
export interface RepeatRules {
  readonly where: 'header' | 'body' | 'none'
  /** Hours; null when unknown, which is taken as 24. */
  readonly window_hours: number | null
  readonly repeat: 'same_answer' | 'same_answer_errors_too' | 'finishes_the_work' | 'runs_again' | 'unknown'
  /** The adapter looks for what an earlier request made before it sends another. */
  readonly looks_first?: boolean | undefined
  /** What the request made carries our key, and facts about it name it. */
  readonly echoes_key?: boolean | undefined
}

export interface UnknownOperation {
  readonly kind: 'refund' | 'charge'
  readonly now_ms: number
  /** When the first and the last request of this attempt were sent. */
  readonly first_sent_ms: number
  readonly last_sent_ms: number
  /** How long after a change a look-up may still show the former state; null when unknown. */
  readonly read_lag_ms: number | null
  /** The provider can list everything of a window. */
  readonly lists: boolean
}

/** What to do about an operation of which nobody knows whether it happened. */
export type UnknownStep =
  /** Send the same request under the same key. */
  | { readonly step: 'repeat' }
  /** Look through the provider's list. When it is not there, `absent` says what that means. */
  | { readonly step: 'list'; readonly absent: 'new_attempt' | 'hold' }
  | { readonly step: 'wait'; readonly until_ms: number }
  /** A person has to find out. */
  | { readonly step: 'hold' }

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
/** What is taken as the window of a key where the provider names none. */
const WINDOW_HOURS = 24
/** Part of the window that is used, so that neither clocks nor a slow request get past its end. */
const USED = 0.9
/** A request that got lost may still arrive, and what it made takes a while to show. */
const LEAST_PAUSE_MS = 2 * MINUTE_MS
const LEAST_LIST_PAUSE_MS = 15 * MINUTE_MS

/** Until when a repeat under the same key is safe, Unix milliseconds; null where a repeat never is by its key. */
export function keyEnd(rules: RepeatRules, first_sent_ms: number): number | null {
  if (rules.where === 'none' || rules.repeat === 'runs_again' || rules.repeat === 'unknown') return null
  return first_sent_ms + (rules.window_hours ?? WINDOW_HOURS) * HOUR_MS * USED
}

/** Decides by the provider's own rules whether an unknown operation is repeated, asked about, or left to a person. */
export function nextForUnknown(rules: RepeatRules, operation: UnknownOperation): UnknownStep {
  const { now_ms, first_sent_ms, last_sent_ms, read_lag_ms, lists, kind } = operation
  const end_ms = keyEnd(rules, first_sent_ms)
  if (end_ms !== null && now_ms < end_ms) return { step: 'repeat' }
  const lag_ms = 2 * (read_lag_ms ?? 0)
  if (rules.looks_first === true)
    return after(last_sent_ms + Math.max(lag_ms, LEAST_PAUSE_MS), now_ms, { step: 'repeat' })
  if (rules.echoes_key === true && lists) {
    // A charge may exist without standing in the list: one that failed, or waits for its payer.
    const absent = kind === 'refund' ? 'new_attempt' : 'hold'
    return after(last_sent_ms + Math.max(lag_ms, LEAST_LIST_PAUSE_MS), now_ms, { step: 'list', absent })
  }
  return { step: 'hold' }
}

function after(until_ms: number, now_ms: number, step: UnknownStep): UnknownStep {
  return now_ms < until_ms ? { step: 'wait', until_ms } : step
}
