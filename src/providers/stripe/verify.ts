import { createHmac } from 'node:crypto'
import type { Refusal } from '../../facts/refusal.ts'
import { refusal } from '../../facts/refusal.ts'
import type { Delivery, Verified } from '../contract.ts'
import { headerLines } from '../header.ts'
import type { Secret } from '../secret.ts'
import { digestBytes, hexBytes, matchingSecret } from '../signature.ts'
import { outsideWindow } from '../time-window.ts'

const HEADER = 'stripe-signature'
const DIGEST_BYTES = 32
// A header may be repeated by a proxy, but each further stamp costs a digest over the whole body.
const MOST_STAMPS = 2

/** Signature entries by the stamp that stands before them. */
type Signed = ReadonlyMap<string, readonly Buffer[]>

/**
 * `Stripe-Signature: t=<unix seconds>,v1=<hex>[,v1=<hex>]`, HMAC-SHA256 over `<t>.<body bytes>`, the key being the
 * secret's whole text. Schemes other than v1 never count, so that nobody can downgrade to the decoy v0.
 */
export function verifyStripe(
  secrets: readonly Secret[],
  tolerance_s: number,
  delivery: Delivery,
  now_ms: number,
): Verified | Refusal {
  const lines = headerLines(delivery, HEADER)
  if (lines.length === 0) return refusal('signature_missing', `no ${HEADER} header`)
  const signed = readSignatures(lines.join(','))
  if (signed.size === 0 || signed.size > MOST_STAMPS) {
    return refusal('signature_malformed', `${HEADER} has no usable stamp and v1 entry, or too many stamps`)
  }
  for (const [stamp, given] of signed) {
    const digestWith = (key: Buffer) =>
      digestBytes(createHmac('sha256', key).update(`${stamp}.`).update(delivery.body))
    const secret = matchingSecret(secrets, digestWith, given)
    if (secret === null) continue
    const signed_at_ms = Number(stamp) * 1000
    const outside = outsideWindow(signed_at_ms, now_ms, tolerance_s)
    return outside ?? { refused: false, secret_label: secret.label, signed_at_ms, signed_id: null }
  }
  return refusal('signature_wrong', `no v1 entry of ${HEADER} matches any of ${secrets.length} secret(s)`)
}

/** Entries that are not exactly of the documented form are passed over; only whole and strict ones count. */
function readSignatures(header: string): Signed {
  const signed = new Map<string, Buffer[]>()
  let stamp: string | undefined
  for (const entry of header.split(',')) {
    const [, name, value = ''] = /^[ \t]*([a-z0-9]+)=([^ \t]*)[ \t]*$/.exec(entry) ?? []
    if (name === 't') stamp = /^(?:0|[1-9][0-9]{0,11})$/.test(value) ? value : undefined
    const digest = name === 'v1' ? hexBytes(value, DIGEST_BYTES) : null
    if (stamp === undefined || digest === null) continue
    signed.set(stamp, [...(signed.get(stamp) ?? []), digest])
  }
  return signed
}
