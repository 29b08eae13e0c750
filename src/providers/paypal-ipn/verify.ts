import type { Refusal } from '../../facts/refusal.ts'
import { refusal } from '../../facts/refusal.ts'
import type { Delivery, Unconfirmed } from '../contract.ts'
import { headerLines } from '../header.ts'
import { splitForm } from './form.ts'

const FORM = /^application\/x-www-form-urlencoded\s*(?:;|$)/i
/** Every message of PayPal has some of these; what has none is not worth asking about. */
const MARKS = ['txn_id', 'txn_type', 'payment_status', 'case_id', 'verify_sign', 'ipn_track_id']

/** Messages have a few kilobytes, also for a full cart. Strangers' are stored until PayPal has disowned them. */
const LARGEST = 128 * 1024

/** Nothing in an IPN can be checked here; only what is no IPN at all is refused at once. */
export function verifyIpn(delivery: Delivery): Unconfirmed | Refusal {
  const types = headerLines(delivery, 'content-type')
  if (types.length > 0 && !types.every((type) => FORM.test(type)))
    return refusal('signature_malformed', 'the message is not a form')
  const size = delivery.body.byteLength
  if (size > LARGEST) return refusal('signature_malformed', `the body has ${size} bytes, more than any IPN`)
  const fields = splitForm(delivery.body)
  if (fields === null) return refusal('signature_malformed', 'the body is not a form')
  if (!MARKS.some((name) => fields.has(name)))
    return refusal('signature_missing', 'the form has no field of an IPN')
  return { refused: false, unconfirmed: true }
}
