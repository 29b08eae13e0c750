/** When a failed effect is tried again. */
export interface BackoffPolicy {
  /** Pause after the first failure, milliseconds; it doubles with each further one. Default 5,000. */
  readonly first_ms: number
  /** The longest pause, milliseconds; a handler's own `retryAfter` may ask for up to a day. Default 3,600,000 (an hour). */
  readonly longest_ms: number
}

export const BACKOFF_DEFAULTS: BackoffPolicy = { first_ms: 5_000, longest_ms: 3_600_000 }

/** The longest that a handler or a receiver may put an effect off, milliseconds: a day. */
export const PUT_OFF_MAX_MS = 86_400_000

/**
 * The pause before the next attempt, milliseconds: doubling, and spread over its upper half so that what failed together
 * does not come back together.
 * @param attempt the attempt that failed, from 1
 * @param random a number from 0 up to but not including 1
 */
export function backoff_ms(
  attempt: number,
  random: number,
  policy: BackoffPolicy = BACKOFF_DEFAULTS,
): number {
  const full = Math.min(policy.longest_ms, policy.first_ms * 2 ** Math.min(attempt - 1, 40))
  return Math.round(full / 2 + (full / 2) * random)
}

/** A pause that someone asked for, brought within 0 and a day; null when it is no number. */
export function putOff_ms(delay_ms: number): number | null {
  return Number.isNaN(delay_ms) ? null : Math.round(Math.min(PUT_OFF_MAX_MS, Math.max(0, delay_ms)))
}

/**
 * The number of an attempt within its round. A person who retries a dead effect gives it another full round, while
 * attempts go on counting: what may have gone out before is not forgotten.
 */
export function attemptInRound(attempts: number, attempts_max: number): number {
  return ((attempts - 1) % attempts_max) + 1
}
