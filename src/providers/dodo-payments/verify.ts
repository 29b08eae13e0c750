import type { Refusal } from '../../facts/refusal.ts'
import type { Delivery, Verified } from '../contract.ts'
import type { Secret } from '../secret.ts'
import { verifyStandardWebhook } from '../standard-webhooks/verify.ts'

/**
 * Standard Webhooks over the raw bytes. Dodo's own adapters verify a body that was parsed and written again, and its
 * SDK's `unwrap` verifies nothing when it is given no headers; neither is used.
 */
export function verifyDodo(
  secrets: readonly Secret[],
  tolerance_s: number,
  delivery: Delivery,
  now_ms: number,
): Verified | Refusal {
  return verifyStandardWebhook({ secrets, tolerance_s, families: ['webhook'] }, delivery, now_ms)
}
