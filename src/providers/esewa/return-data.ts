import type { JsonRecord } from '../field.ts'
import { fieldIn } from '../field.ts'
import { parseJsonLexemes } from '../json-lexeme.ts'
import { base64Bytes } from '../signature.ts'
import { Unreadable } from '../unreadable.ts'
import { signedText } from './signed-text.ts'

/** What the `data` of a success redirect says, and what its signature has to match. */
export interface ReturnData {
  readonly transaction_uuid: string
  readonly product_code: string
  readonly status: string
  readonly signed: string
  readonly signature: Buffer
}

const LONGEST_DATA = 4096
const DIGEST_BYTES = 32
const AMOUNT = 'total_amount'
const LIST = 'signed_field_names'
/** What eSewa signs in a redirect; the list names itself. */
export const RETURN_NAMES = ['transaction_code', 'status', AMOUNT, 'transaction_uuid', 'product_code', LIST]

/**
 * Opens `data`: base64 of JSON whose values are signed in the form in which they stand there, so `1000.0` stays `1000.0`
 * and `1,000.0` keeps its comma.
 * @throws Unreadable
 */
export function readReturnData(data: string): ReturnData {
  const payload = parseJsonLexemes(decodedData(data))
  const names = signedNames(payload)
  const values = Object.fromEntries(names.map((name) => [name, signedValue(payload, name)]))
  const signature = fieldIn(payload, 'signature')
  const bytes = typeof signature === 'string' ? base64Bytes(signature, DIGEST_BYTES) : null
  if (bytes === null) throw new Unreadable('signature is not the base64 of a SHA-256 digest')
  return {
    transaction_uuid: values.transaction_uuid!,
    product_code: values.product_code!,
    status: values.status!,
    signed: signedText(names, values),
    signature: bytes,
  }
}

/** Either alphabet, with or without padding, a plus sign that a form turned into a space; no bits left over. */
function decodedData(data: string): Buffer {
  if (data.length > LONGEST_DATA) throw new Unreadable(`data is longer than ${LONGEST_DATA} characters`)
  const text = data.replace(/[ -]/g, '+').replaceAll('_', '/').replace(/=+$/, '')
  const bytes = Buffer.from(text, 'base64')
  if (text === '' || bytes.toString('base64').replace(/=+$/, '') !== text) {
    throw new Unreadable('data is not base64')
  }
  return bytes
}

/** The list comes with the message, so it must hold at least what eSewa signs: else one signed field would do. */
function signedNames(payload: unknown): readonly string[] {
  const list = fieldIn(payload, LIST)
  const names = typeof list === 'string' ? list.split(',') : []
  const missing = RETURN_NAMES.find((name) => !names.includes(name))
  if (missing !== undefined) throw new Unreadable(`${LIST} lacks ${missing}`)
  if (new Set(names).size < names.length) throw new Unreadable(`${LIST} repeats a name`)
  return names
}

function signedValue(payload: unknown, name: string): string {
  const value = fieldIn(payload as JsonRecord, name)
  if (typeof value !== 'string') throw new Unreadable(`${name} is signed and is no text`)
  // Nothing is escaped in the signed text: a comma in another value could stand for the border between two.
  const form = name === AMOUNT ? /^[0-9,.]+$/ : name === LIST ? /^[a-z0-9_,]+$/ : /^[^,=]*$/
  if (!form.test(value)) throw new Unreadable(`${name} has characters that could shift what is signed`)
  return value
}
