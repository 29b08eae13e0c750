import type { Deliverer } from './outcome.ts'
import type { OutgoingEffect } from './outgoing-effect.ts'

/**
 * Delivers by writing one line of JSON per effect; what is used when nothing is configured.
 * @param write gets the line, with its line feed; it may be asynchronous, and throws when it could not write
 */
export function log(write: (line: string) => unknown): Deliverer {
  return async (effect) => {
    await write(`${JSON.stringify(asJson(effect))}\n`)
  }
}

/** An effect as JSON: times in ISO 8601, the epoch and the id as text, since they may exceed what JSON readers keep. */
export function asJson(effect: OutgoingEffect) {
  return { ...effect, id: String(effect.id), epoch: String(effect.epoch) }
}
