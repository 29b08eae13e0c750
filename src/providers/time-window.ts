import { Fault } from '../facts/fault.ts'
import type { Refusal } from '../facts/refusal.ts'
import { refusal } from '../facts/refusal.ts'

/**
 * Checks a signed time against ours, both ways, in whole seconds.
 * @returns null inside the window, else the refusal. Ask only after the signature matched: then a stale one is a
 * matter of clocks, not of forgery.
 */
export function outsideWindow(signed_at_ms: number, now_ms: number, tolerance_s: number): Refusal | null {
  const age_s = Math.floor(now_ms / 1000) - Math.floor(signed_at_ms / 1000)
  if (age_s > tolerance_s)
    return refusal('signature_stale', `signed ${age_s} s ago, ${tolerance_s} s allowed`)
  if (age_s < -tolerance_s) {
    return refusal('signature_ahead', `signed ${-age_s} s in the future, ${tolerance_s} s allowed`)
  }
  return null
}

/** @throws Fault `config_invalid` unless it is a whole number of seconds above 0: no value switches the check off. */
export function checkTolerance(provider: string, tolerance_s: number): number {
  if (!Number.isSafeInteger(tolerance_s) || tolerance_s < 1) {
    throw new Fault(
      'config_invalid',
      `${provider}: tolerance_s must be a whole number of seconds above 0, for example 300.`,
    )
  }
  return tolerance_s
}
