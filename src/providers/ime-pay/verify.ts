import type { Refusal } from '../../facts/refusal.ts'
import type { Delivery, Verified } from '../contract.ts'
import { verifyHint } from '../hint.ts'
import { returnFields } from '../return-fields.ts'
import { readDelivery } from './translate.ts'

/** IME Pay signs nothing: what names a payment is taken as a hint, everything else is refused. */
export function verifyImePay(delivery: Delivery): Verified | Refusal {
  return verifyHint(() => readDelivery(delivery.body, returnFields(delivery)))
}
