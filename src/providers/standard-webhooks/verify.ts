import { createHmac } from 'node:crypto'
import type { Refusal } from '../../facts/refusal.ts'
import { refusal } from '../../facts/refusal.ts'
import type { Delivery, Verified } from '../contract.ts'
import { headerLines, singleHeader } from '../header.ts'
import type { Secret } from '../secret.ts'
import { base64Bytes, digestBytes, matchingSecret } from '../signature.ts'
import { outsideWindow } from '../time-window.ts'

const DIGEST_BYTES = 32
// Printable ASCII without the point, which separates the signed parts: with one inside, parts could be shifted.
const ID = /^[!-\-/-~]{1,255}$/
const TIMESTAMP = /^[1-9][0-9]{0,11}$/

export interface VerifySetup {
  readonly secrets: readonly Secret[]
  readonly tolerance_s: number
  /** Header families to look for; the first that is complete counts alone. */
  readonly families: readonly ('webhook' | 'svix')[]
}

/** HMAC-SHA256 over `<id>.<timestamp>.<body bytes>`; `v1` entries only, so that unknown schemes never count. */
export function verifyStandardWebhook(
  setup: VerifySetup,
  delivery: Delivery,
  now_ms: number,
): Verified | Refusal {
  const family = setup.families.find((name) => isComplete(delivery, name))
  if (family === undefined)
    return refusal('signature_missing', `no complete set of ${setup.families.join(' or ')} headers`)
  const id = singleHeader(delivery, `${family}-id`)
  const timestamp = singleHeader(delivery, `${family}-timestamp`)
  if (!id || !ID.test(id))
    return refusal('signature_malformed', `${family}-id is repeated or has forbidden characters`)
  if (!timestamp || !TIMESTAMP.test(timestamp)) {
    return refusal('signature_malformed', `${family}-timestamp is not one Unix time in seconds`)
  }
  const given = readSignatures(headerLines(delivery, `${family}-signature`))
  if (given.length === 0) return refusal('signature_malformed', `${family}-signature has no usable v1 entry`)
  const digestWith = (key: Buffer) =>
    digestBytes(createHmac('sha256', key).update(`${id}.${timestamp}.`).update(delivery.body))
  const secret = matchingSecret(setup.secrets, digestWith, given)
  if (secret === null)
    return refusal('signature_wrong', `no v1 entry matches any of ${setup.secrets.length} secret(s)`)
  const signed_at_ms = Number(timestamp) * 1000
  const outside = outsideWindow(signed_at_ms, now_ms, setup.tolerance_s)
  return outside ?? { refused: false, secret_label: secret.label, signed_at_ms, signed_id: id }
}

function isComplete(delivery: Delivery, family: string): boolean {
  return ['id', 'timestamp', 'signature'].every(
    (part) => headerLines(delivery, `${family}-${part}`).length > 0,
  )
}

/** Entries stand between blanks; a repeated header arrives joined by a comma and a blank, or as several lines. */
function readSignatures(lines: readonly string[]): readonly Buffer[] {
  const entries = lines.join(' ').split(/,?[ \t]+/)
  return entries.flatMap((entry) =>
    entry.startsWith('v1,') ? (base64Bytes(entry.slice(3), DIGEST_BYTES) ?? []) : [],
  )
}
