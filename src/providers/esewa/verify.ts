import type { Refusal } from '../../facts/refusal.ts'
import { refusal } from '../../facts/refusal.ts'
import type { Verified } from '../contract.ts'
import type { ReturnFields } from '../return-fields.ts'
import type { Secret } from '../secret.ts'
import { matchingSecret } from '../signature.ts'
import { unreadableReason } from '../unreadable.ts'
import type { ReturnData } from './return-data.ts'
import { readReturnData } from './return-data.ts'
import { digestOf } from './signed-text.ts'

/**
 * Checks the `data` of a success redirect: HMAC-SHA256 over the fields that it names itself, base64. A good signature
 * says that eSewa wrote this text once; it has no time and can be shown again for ever, so it is a hint all the same.
 */
export function verifyEsewa(secrets: readonly Secret[], fields: ReturnFields): Verified | Refusal {
  const data = fields.get('data')
  if (data === undefined) return refusal('signature_missing', 'no data, or several')
  let read: ReturnData
  try {
    read = readReturnData(data)
  } catch (error) {
    return refusal('signature_malformed', unreadableReason(error))
  }
  const secret = matchingSecret(secrets, (key) => digestOf(read.signed, key), [read.signature])
  if (secret === null) return refusal('signature_wrong', `data matches none of ${secrets.length} secret(s)`)
  return { refused: false, secret_label: secret.label, signed_at_ms: null, signed_id: null }
}
