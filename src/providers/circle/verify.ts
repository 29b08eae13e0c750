import type { KeyObject } from 'node:crypto'
import { verify } from 'node:crypto'
import type { Refusal } from '../../facts/refusal.ts'
import { refusal } from '../../facts/refusal.ts'
import type { Delivery, Verdict, Verified } from '../contract.ts'
import { singleHeader } from '../header.ts'
import type { KeyCache } from './key-cache.ts'
import { uuidOf } from './uuid.ts'

const SIGNATURE = 'x-circle-signature'
const KEY_ID = 'x-circle-key-id'
// Two numbers of up to 33 bytes, each with two bytes before it, and two bytes before both.
const LONGEST_DER = 72

/**
 * `X-Circle-Signature`: base64 of a DER-encoded ECDSA signature on P-256 with SHA-256, over the raw body and nothing
 * else, with the key that `X-Circle-Key-Id` names. Answers at once when that key is known.
 */
export function verifyNotification(
  keys: KeyCache<KeyObject>,
  delivery: Delivery,
  now_ms: number,
): Verdict | Promise<Verdict> {
  const text = singleHeader(delivery, SIGNATURE)
  const named = singleHeader(delivery, KEY_ID)
  if (text === undefined || named === undefined) {
    return refusal('signature_missing', `no ${text === undefined ? SIGNATURE : KEY_ID} header`)
  }
  const id = uuidOf(named)
  if (id === null) return refusal('signature_malformed', `${KEY_ID} is not one uuid`)
  const signature = derSignature(text)
  if (signature === null) return refusal('signature_malformed', `${SIGNATURE} is not one signature in base64`)
  const key = keys.get(id, now_ms)
  if (!(key instanceof Promise)) return judged(key, id, delivery.body, signature)
  return key.then((fetched) => judged(fetched, id, delivery.body, signature))
}

function judged(key: KeyObject | null, id: string, body: Uint8Array, signature: Buffer): Verified | Refusal {
  if (key === null) return refusal('signature_wrong', `${KEY_ID} names no key of Circle's`)
  return verify('sha256', body, { key, dsaEncoding: 'der' }, signature)
    ? { refused: false, secret_label: id, signed_at_ms: null, signed_id: null }
    : refusal('signature_wrong', `${SIGNATURE} does not match the body`)
}

/** In the one spelling that an encoder gives. */
function derSignature(text: string | null): Buffer | null {
  if (text === null || text.length > 100 || !/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return null
  const bytes = Buffer.from(text, 'base64')
  const whole =
    bytes.length > 2 && bytes.length <= LONGEST_DER && bytes[0] === 0x30 && bytes[1] === bytes.length - 2
  return whole && bytes.toString('base64') === text ? bytes : null
}
