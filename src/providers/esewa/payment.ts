import type { PaymentSubject } from '../../facts/subject.ts'
import { rupeesText } from '../rupees.ts'
import type { Secret } from '../secret.ts'

/** What everything at one eSewa merchant code has in common. */
export interface EsewaSetup {
  readonly namespace: string
  readonly account: string
  readonly productCode: string
  /** The first one signs. */
  readonly secrets: readonly Secret[]
  readonly formBaseUrl: string
  readonly statusBaseUrl: string
}

/** @param attempt our `transaction_uuid` */
export function paymentSubject({ namespace, account }: EsewaSetup, attempt: string): PaymentSubject {
  return { kind: 'payment', namespace, account, id: attempt }
}

/** Whole rupees without a fraction: the form and the status API must be given one and the same text. */
export function amountText(amount_minor: bigint): string {
  return rupeesText(amount_minor).replace(/\.00$/, '')
}
