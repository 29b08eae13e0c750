import { hash } from 'node:crypto'
import { Unreadable } from '../unreadable.ts'

const FORM = 'payload='
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf])
/** One field and no other, in the characters that an encoded form has. */
const ONLY_PAYLOAD = /^payload=[!-%'-~]*$/

/**
 * The JSON text of a delivery, which a hook sends either as such or as the field `payload` of a form. The signed bytes
 * themselves tell which it is, since no signature covers the content type.
 * @throws Unreadable when the form holds anything else, or its payload is no encoded UTF-8
 */
export function payloadBytes(body: Uint8Array): Buffer {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  if (bytes.subarray(0, FORM.length).toString('latin1') === FORM) return formPayload(bytes.toString('latin1'))
  return bytes.subarray(0, 3).equals(BYTE_ORDER_MARK) ? bytes.subarray(3) : bytes
}

function formPayload(form: string): Buffer {
  if (!ONLY_PAYLOAD.test(form)) throw new Unreadable('the form does not hold just one payload')
  try {
    return Buffer.from(decodeURIComponent(form.slice(FORM.length).replaceAll('+', ' ')), 'utf8')
  } catch {
    throw new Unreadable('the payload of the form is not encoded UTF-8')
  }
}

/** What stands for the payload in an event's key; the same for both encodings of one payload. */
export function payloadDigest(json: Uint8Array): string {
  return hash('sha256', json).slice(0, 32)
}
