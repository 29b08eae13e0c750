import { createHmac } from 'node:crypto'
import type { Refusal } from '../../facts/refusal.ts'
import { refusal } from '../../facts/refusal.ts'
import type { Delivery, Verified } from '../contract.ts'
import { headerLines } from '../header.ts'
import type { Secret } from '../secret.ts'
import { digestBytes, hexBytes, matchingSecret } from '../signature.ts'
import { outsideWindow } from '../time-window.ts'

const HEADER = 'paddle-signature'
const DIGEST_BYTES = 32
// A proxy may repeat the header, but each further stamp costs a digest over the whole body.
const MOST_SIGNATURES = 2

interface Signature {
  readonly stamp: string
  readonly digests: readonly Buffer[]
}

/**
 * `Paddle-Signature: ts=<unix seconds>;h1=<hex>[;h1=<hex>]`, HMAC-SHA256 over `<ts>:<body bytes>`, the key being the
 * secret's whole text. Any h1 may match any secret, as in Paddle's Python SDK.
 */
export function verifyPaddle(
  secrets: readonly Secret[],
  tolerance_s: number,
  delivery: Delivery,
  now_ms: number,
): Verified | Refusal {
  const lines = headerLines(delivery, HEADER)
  if (lines.length === 0) return refusal('signature_missing', `no ${HEADER} header`)
  const signatures = readSignatures(lines)
  if (signatures.length === 0 || signatures.length > MOST_SIGNATURES) {
    return refusal('signature_malformed', `${HEADER} has no usable ts and h1, or too many of them`)
  }
  for (const { stamp, digests } of signatures) {
    const digestWith = (key: Buffer) =>
      digestBytes(createHmac('sha256', key).update(`${stamp}:`).update(delivery.body))
    const secret = matchingSecret(secrets, digestWith, digests)
    if (secret === null) continue
    const signed_at_ms = Number(stamp) * 1000
    const outside = outsideWindow(signed_at_ms, now_ms, tolerance_s)
    return outside ?? { refused: false, secret_label: secret.label, signed_at_ms, signed_id: null }
  }
  return refusal('signature_wrong', `no h1 of ${HEADER} matches any of ${secrets.length} secret(s)`)
}

/** Nearly every header has this form, and one regular expression reads it faster than taking it apart. */
const USUAL = /^ts=(0|[1-9][0-9]{0,11});h1=([0-9a-fA-F]{64})$/

function readSignatures(lines: readonly string[]): readonly Signature[] {
  const [, stamp, digest] = (lines.length === 1 && USUAL.exec(lines[0]!)) || []
  if (stamp !== undefined && digest !== undefined) return [{ stamp, digests: [Buffer.from(digest, 'hex')] }]
  // A comma never stands inside one signature; it is how HTTP joins repeated headers.
  return lines.flatMap((line) => line.split(',')).flatMap((text) => readSignature(text) ?? [])
}

/** One stamp and at least one digest of exactly the documented form; entries of other names are passed over. */
function readSignature(text: string): Signature | null {
  const stamps: string[] = []
  const digests: Buffer[] = []
  for (const entry of text.split(';')) {
    const [, name, value = ''] = /^[ \t]*([a-z0-9]+)=([^ \t]*)[ \t]*$/.exec(entry) ?? []
    if (name === 'ts') stamps.push(value)
    const digest = name === 'h1' ? hexBytes(value, DIGEST_BYTES) : null
    if (digest !== null) digests.push(digest)
  }
  const [stamp, ...more] = stamps
  if (stamp === undefined || more.length > 0 || digests.length === 0) return null
  return /^(?:0|[1-9][0-9]{0,11})$/.test(stamp) ? { stamp, digests } : null
}
