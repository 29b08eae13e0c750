import { fieldIn } from '../field.ts'
import type { Hint } from '../hint.ts'
import { parseJsonLexemes } from '../json-lexeme.ts'
import type { ReturnFields } from '../return-fields.ts'
import { namedByAddress } from '../return-fields.ts'
import { Unreadable } from '../unreadable.ts'
import type { Attempt } from './payment.ts'
import { attemptIn, attemptOf, paymentId } from './payment.ts'

const LONGEST_DATA = 2048
const CANCELED = '3'

/**
 * Which payment a return is about: `data` with seven parts, form fields of the same names, or the cancel address that
 * `start` handed out. Anybody can type any of it.
 * @throws Unreadable when it names no payment
 */
export function readReturn(fields: ReturnFields): Hint {
  const data = fields.get('data')
  if (data !== undefined) return readData(data)
  if (fields.has('RefId'))
    return hintOf(attemptOf(fields.get('RefId'), fields.get('TokenId')), fields.get('ResponseCode'))
  return hintOf(attemptIn(namedByAddress(fields)), CANCELED)
}

/** `ResponseCode|ResponseDescription|Msisdn|TransactionId|RefId|TranAmount|TokenId`, in base64. */
function readData(data: string): Hint {
  if (data.length > LONGEST_DATA) throw new Unreadable(`data is longer than ${LONGEST_DATA} characters`)
  const parts = Buffer.from(data, 'base64').toString('utf8').split('|')
  if (parts.length !== 7) throw new Unreadable(`data has ${parts.length} parts instead of 7`)
  const [code, , , , refId, , tokenId] = parts
  return hintOf(attemptOf(refId, tokenId), code)
}

/**
 * What IME Pay's server tells a shop that uses the mobile SDK ("delivery service"). Its names are given out to merchants
 * only; those of the web checkout and of the SDK are understood, in a form or in JSON.
 */
export function readDelivery(body: Uint8Array, fields: ReturnFields): Hint {
  if (body[0] !== 0x7b) return readReturn(fields)
  const payload = parseJsonLexemes(body)
  const refId = fieldIn(payload, 'RefId') ?? fieldIn(payload, 'ReferenceId')
  return hintOf(attemptOf(refId, fieldIn(payload, 'TokenId')), fieldIn(payload, 'ResponseCode'))
}

function hintOf(attempt: Attempt, code: unknown): Hint {
  const known = typeof code === 'string' && /^[0-9]{1,3}$/.test(code)
  return {
    type: known ? `response.${code}` : 'response',
    lookup: { object: 'payment', id: paymentId(attempt) },
    canceled: code === CANCELED,
  }
}
