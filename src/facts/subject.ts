/**
 * What a fact is about. Every subject is one row that settling can lock.
 *
 * A `payment` subject is money from a payer at one provider. Its `id` is the provider's payment id as its sheet
 * names it (Stripe: the PaymentIntent), or, while that is unknown, the id of an object that stands in for it
 * (a Stripe invoice or session). A link fact later says which payment such a stand-in belongs to.
 */
export type Subject = PaymentSubject | OrderSubject | SubscriptionSubject

export interface PaymentSubject {
  readonly kind: 'payment'
  /** What the provider's payment ids belong to; two providers may share one (PayPal IPN and REST: `paypal`). */
  readonly namespace: string
  /** The endpoint's configured account; never read from a body. `default` when unset. */
  readonly account: string
  readonly id: string
}

export interface OrderSubject {
  readonly kind: 'order'
  /** The merchant's own order number, unique within the tenant. */
  readonly reference: string
}

export interface SubscriptionSubject {
  readonly kind: 'subscription'
  readonly namespace: string
  readonly account: string
  readonly id: string
}

export type SubjectKind = Subject['kind']

/** A string that is equal for equal subjects and different for different ones, whatever the ids contain. */
export function subjectKey(subject: Subject): string {
  return subject.kind === 'order'
    ? JSON.stringify(['order', subject.reference])
    : JSON.stringify([subject.kind, subject.namespace, subject.account, subject.id])
}
