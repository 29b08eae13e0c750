import type { PaymentSubject } from '../../facts/subject.ts'

/** What everything at one Khalti merchant has in common. */
export interface KhaltiSetup {
  readonly namespace: string
  readonly account: string
  readonly websiteUrl: string
  /** Without path: the two APIs that are used lie under different ones. */
  readonly baseUrl: string
  /** Headers of every request. */
  readonly headers: Readonly<Record<string, string>>
}

/** `pidx`: Khalti's id of one attempt to pay. */
export const PIDX = /^[A-Za-z0-9_-]{6,64}$/

export function paymentSubject({ namespace, account }: KhaltiSetup, pidx: string): PaymentSubject {
  return { kind: 'payment', namespace, account, id: pidx }
}

/** Khalti gives refunds no id; what it says of them is said of all that went back of one payment. */
export function refundOf(pidx: string): string {
  return `${pidx}-refund`
}
