import type { Refusal } from '../../facts/refusal.ts'
import { refusal } from '../../facts/refusal.ts'
import type { Delivery, Verified } from '../contract.ts'
import { verifyHint } from '../hint.ts'
import { returnFields } from '../return-fields.ts'
import { readDelivery } from './translate.ts'

/** A handful of short fields; reading more of what anybody can send would only cost time. */
const LARGEST = 16 * 1024

/** IME Pay signs nothing: what names a payment is taken as a hint, everything else is refused. */
export function verifyImePay(delivery: Delivery): Verified | Refusal {
  const size = delivery.body.byteLength
  if (size > LARGEST)
    return refusal('signature_malformed', `the body has ${size} bytes, more than any of IME Pay`)
  return verifyHint(() => readDelivery(delivery.body, returnFields(delivery)))
}
