import type { OutgoingEffect } from './outgoing-effect.ts'

const OUTCOME = Symbol.for('paidonce.effect-outcome')

/** What a handler may return instead of nothing; made by `discard`, `retryAfter`, `giveUp` and `hold`. */
export type Outcome = { readonly [OUTCOME]: true } & (
  | { readonly type: 'discard'; readonly reason: string }
  | { readonly type: 'retry_after'; readonly delay_ms: number; readonly reason: string }
  | { readonly type: 'give_up'; readonly reason: string }
  | { readonly type: 'hold'; readonly delay_ms: number }
)

/** It need not be done, and nobody need hear of it. It will not be tried again. */
export function discard(reason: string): Outcome {
  return { [OUTCOME]: true, type: 'discard', reason }
}

/**
 * Not yet: try again after this long instead of the usual back-off. Counts as an attempt. At most a day is waited.
 * @param delay_ms milliseconds
 */
export function retryAfter(delay_ms: number, reason = 'asked to try again later'): Outcome {
  return { [OUTCOME]: true, type: 'retry_after', delay_ms, reason }
}

/** Trying again cannot help: dead at once, and a person is told. */
export function giveUp(reason: string): Outcome {
  return { [OUTCOME]: true, type: 'give_up', reason }
}

/**
 * Its time has not come, and nothing was tried: it is free again after this long, and it does not count as an attempt.
 * At most a day is waited.
 * @param delay_ms milliseconds
 */
export function hold(delay_ms: number): Outcome {
  return { [OUTCOME]: true, type: 'hold', delay_ms }
}

/** Anything else that a handler returns means that it is done. */
export function isOutcome(value: unknown): value is Outcome {
  return typeof value === 'object' && value !== null && OUTCOME in value
}

export interface DeliveryContext {
  /** Aborted when the attempt's time is over, its lease is lost, or the worker stops without waiting longer. */
  readonly signal: AbortSignal
}

/**
 * Does what an effect says. Returning means done, whatever is returned, unless it is an `Outcome`; throwing means try
 * again later. It may be called more than once for one effect, always with the same `effect.key`.
 */
export type Deliverer = (
  effect: OutgoingEffect,
  context: DeliveryContext,
) => Promise<Outcome | unknown> | Outcome | unknown
