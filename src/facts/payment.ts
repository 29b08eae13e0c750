import type { FactOf } from './fact.ts'
import type { PaymentSubject } from './subject.ts'

/**
 * How far a payment, or one attempt inside it, has come. Milestones are monotone: each is a fact of its own and
 * none takes another back. `captured` is not here: what the provider captured has `succeeded`.
 */
export type PaymentMilestone =
  | 'created'
  | 'requires_action'
  | 'pending'
  | 'authorized'
  | 'succeeded'
  | 'failed'
  | 'canceled'
  | 'expired'
  /** Taken back by bank or scheme after success, without a dispute (ACH return). */
  | 'reversed'

/** "Attempt ch_1 of this payment reached succeeded, 19.99 USD, for order A-17." */
export interface PaymentMilestoneReached {
  readonly milestone: PaymentMilestone
  /** The provider's id of the attempt (Stripe: the charge); left out where the payment as a whole is meant. */
  readonly attempt?: string | undefined
  /** What this milestone moved, held or asked for; minor units of `currency`. */
  readonly amount_minor?: bigint | undefined
  /** ISO 4217 code in upper case, or a token's code. */
  readonly currency?: string | undefined
  /** When the money moved by the provider's clock, ISO 8601 UTC. */
  readonly moved_at?: string | undefined
  /** The merchant's order reference that the provider carries for us. */
  readonly order?: string | undefined
  /** Payment method family (`card`, `us_bank_account`), which decides how late a failure can come. */
  readonly method?: string | undefined
  /** The provider's own code for a failure or cancellation; a code, never free text. */
  readonly reason?: string | undefined
  /** The provider's id of the subscription whose period this pays. */
  readonly subscription?: string | undefined
  /** The key under which we asked for this charge, where the provider gives it back. */
  readonly operation?: string | undefined
}

/** "This stand-in object and that payment are the same money." The fact's subject is the stand-in. */
export interface PaymentLink {
  /** Payment id in the same namespace and account. */
  readonly payment: string
}

export function paymentMilestone(
  subject: PaymentSubject,
  content: PaymentMilestoneReached,
): FactOf<'payment_milestone'> {
  const key =
    content.attempt === undefined
      ? `payment/${content.milestone}`
      : `attempt/${content.attempt}/${content.milestone}`
  return { subject, key, kind: 'payment_milestone', content }
}

export function paymentLink(subject: PaymentSubject, payment: string): FactOf<'payment_link'> {
  return { subject, key: 'link', kind: 'payment_link', content: { payment } }
}
