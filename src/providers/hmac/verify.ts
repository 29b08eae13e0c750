import { createHmac } from 'node:crypto'
import type { Refusal } from '../../facts/refusal.ts'
import { refusal } from '../../facts/refusal.ts'
import type { Delivery, Verified } from '../contract.ts'
import { headerLines, singleHeader } from '../header.ts'
import type { Secret } from '../secret.ts'
import { base64Bytes, digestBytes, hexBytes, matchingSecret } from '../signature.ts'
import { outsideWindow } from '../time-window.ts'
import type { HmacScheme, SignedPart } from './scheme.ts'
import { DIGEST_BYTES } from './scheme.ts'

// No point, blank or comma, so that a joined repetition or a shifted part can be no value.
const ID = /^[!-+\-/-~]{1,255}$/
const TIME = { s: /^[1-9][0-9]{0,11}$/, ms: /^[1-9][0-9]{12,14}$/ } as const

export interface VerifySetup {
  readonly scheme: HmacScheme
  readonly parts: readonly SignedPart[]
  readonly secrets: readonly Secret[]
}

/** Computes the HMAC over the configured parts and the raw body. The unit of the time is configured, never guessed. */
export function verifyHmac(
  { scheme, parts, secrets }: VerifySetup,
  delivery: Delivery,
  now_ms: number,
): Verified | Refusal {
  const header = scheme.header.toLowerCase()
  const lines = headerLines(delivery, header)
  if (lines.length === 0) return refusal('signature_missing', `no ${header} header`)
  const given = readDigests(scheme, lines)
  if (given.length === 0)
    return refusal('signature_malformed', `${header} has no ${scheme.encoding} ${scheme.algorithm}`)
  const time = scheme.time && headerText(delivery, scheme.time.header, TIME[scheme.time.unit])
  if (time === null)
    return refusal('signature_malformed', `${scheme.time?.header} is not one time in ${scheme.time?.unit}`)
  const id = scheme.id && headerText(delivery, scheme.id.header, ID)
  if (id === null) return refusal('signature_malformed', `${scheme.id?.header} is not one id`)
  const digestWith = (key: Buffer) => digest(scheme, parts, key, { time, id, body: delivery.body })
  const secret = matchingSecret(secrets, digestWith, given)
  if (secret === null)
    return refusal('signature_wrong', `${header} matches none of ${secrets.length} secret(s)`)
  const signed_at_ms = time === undefined ? null : Number(time) * (scheme.time?.unit === 's' ? 1000 : 1)
  const outside =
    signed_at_ms === null || scheme.time === undefined
      ? null
      : outsideWindow(signed_at_ms, now_ms, scheme.time.tolerance_s)
  return outside ?? { refused: false, secret_label: secret.label, signed_at_ms, signed_id: id ?? null }
}

/** The values that stand in the signed text. */
export interface SignedValues {
  readonly body: string | Uint8Array
  readonly time: string | undefined
  readonly id: string | undefined
}

export function digest(
  scheme: HmacScheme,
  parts: readonly SignedPart[],
  key: Buffer,
  values: SignedValues,
): Buffer {
  const hmac = createHmac(scheme.algorithm, key)
  for (const part of parts) hmac.update(typeof part === 'object' ? part.text : (values[part] ?? ''))
  return digestBytes(hmac)
}

function readDigests(scheme: HmacScheme, lines: readonly string[]): readonly Buffer[] {
  const [line = '', ...more] = lines
  // Nearly always there is one, and splitting it would take longer than all the rest but the digest.
  const entries = more.length === 0 && !line.includes(',') ? [line] : lines.join(',').split(',')
  const given: Buffer[] = []
  for (const entry of entries) {
    const bytes = readDigest(scheme, entry.trim())
    if (bytes !== null) given.push(bytes)
  }
  return given
}

function readDigest({ prefix = '', encoding, algorithm }: HmacScheme, entry: string): Buffer | null {
  if (!entry.startsWith(prefix)) return null
  const decode = encoding === 'hex' ? hexBytes : base64Bytes
  return decode(entry.slice(prefix.length), DIGEST_BYTES[algorithm])
}

function headerText(delivery: Delivery, name: string, form: RegExp): string | null {
  const value = singleHeader(delivery, name.toLowerCase())
  return value && form.test(value) ? value : null
}
