import { createHmac } from 'node:crypto'
import type { Refusal } from '../../facts/refusal.ts'
import { refusal } from '../../facts/refusal.ts'
import type { Delivery, Verified } from '../contract.ts'
import { textIn } from '../field.ts'
import { headerLines, singleHeader } from '../header.ts'
import { parseJsonBody } from '../json-body.ts'
import type { Secret } from '../secret.ts'
import { base64Bytes, digestBytes, matchingSecret } from '../signature.ts'

const SIGNATURE = 'x-yolfi-signature'
const EVENT_ID = 'x-yolfi-event-id'
const DIGEST_BYTES = 32

/**
 * `X-Yolfi-Signature`: standard base64 with padding, in its one spelling, of HMAC-SHA256 over the raw body. No time is
 * signed. `X-Yolfi-Event-ID` is a copy that no signature covers: it counts for nothing and may only agree.
 */
export function verifyYolfi(secrets: readonly Secret[], delivery: Delivery): Verified | Refusal {
  const header = singleHeader(delivery, SIGNATURE)
  if (header === undefined) return refusal('signature_missing', `no ${SIGNATURE} header`)
  const given = header === null ? null : base64Bytes(header, DIGEST_BYTES)
  if (given === null)
    return refusal('signature_malformed', `${SIGNATURE} is repeated or not the base64 of 32 bytes`)
  const digestWith = (key: Buffer) => digestBytes(createHmac('sha256', key).update(delivery.body))
  const secret = matchingSecret(secrets, digestWith, [given])
  if (secret === null)
    return refusal('signature_wrong', `${SIGNATURE} matches none of ${secrets.length} secret(s)`)
  return (
    otherId(delivery) ?? {
      refused: false,
      secret_label: secret.label,
      signed_at_ms: null,
      signed_id: null,
    }
  )
}

function otherId(delivery: Delivery): Refusal | null {
  const lines = headerLines(delivery, EVENT_ID)
  if (lines.length === 0) return null
  if (lines.length === 1 && lines[0] === signedId(delivery.body)) return null
  return refusal('signature_malformed', `${EVENT_ID} is repeated or not the id that the signature covers`)
}

function signedId(body: Uint8Array): string | undefined {
  try {
    return textIn(parseJsonBody(body), 'id')
  } catch {
    return undefined
  }
}
