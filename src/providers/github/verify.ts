import type { Refusal } from '../../facts/refusal.ts'
import type { Delivery, Verified } from '../contract.ts'
import type { HmacScheme } from '../hmac/scheme.ts'
import { verifyHmac } from '../hmac/verify.ts'
import type { Secret } from '../secret.ts'

/**
 * `X-Hub-Signature-256: sha256=<hex>`, HMAC-SHA256 over the body as sent, in a form-encoded delivery over the form. No
 * time and no id is signed. GitHub leaves the header out where the hook has no secret, and `X-Hub-Signature` (SHA-1) is
 * kept for old receivers only: neither is ever taken for a proof.
 */
export const SCHEME: HmacScheme = {
  header: 'x-hub-signature-256',
  algorithm: 'sha256',
  encoding: 'hex',
  prefix: 'sha256=',
}

export function verifyGitHub(
  secrets: readonly Secret[],
  delivery: Delivery,
  now_ms: number,
): Verified | Refusal {
  return verifyHmac({ scheme: SCHEME, parts: ['body'], secrets }, delivery, now_ms)
}
