import type { Refusal } from '../../facts/refusal.ts'
import type { Delivery, Verified } from '../contract.ts'
import { verifyHint } from '../hint.ts'
import { returnFields } from '../return-fields.ts'
import { readReturn } from './translate.ts'

/** Khalti signs nothing: what names a payment is taken as a hint, everything else is refused. */
export function verifyKhalti(delivery: Delivery): Verified | Refusal {
  return verifyHint(() => readReturn(returnFields(delivery)))
}
