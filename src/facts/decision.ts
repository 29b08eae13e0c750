import type { FactOf } from './fact.ts'
import type { OrderSubject, PaymentSubject } from './subject.ts'

/**
 * What a person (or a program in their name) decided, as a statement about facts and never as "set status to". A later
 * fact that contradicts what was seen does not undo it; it asks the person again. Taking it back is another decision.
 */
export interface Decision {
  readonly id: string
  readonly decision: DecisionKind
  readonly actor: string
  readonly reason: string
  /** When it was made, ISO 8601 UTC. */
  readonly at: string
  /** Digest of the facts that the person saw. */
  readonly based_on: string
  /** Stands whatever comes later, without asking again. */
  readonly firm?: boolean | undefined
  /** The decision that this one takes back. */
  readonly supersedes?: string | undefined
  /** Provider payment id, for decisions about one payment of the order. */
  readonly payment?: string | undefined
  /** Account of that payment; left out for `default`. */
  readonly account?: string | undefined
  /** What is written off, minor units of `currency`. */
  readonly amount_minor?: bigint | undefined
  readonly currency?: string | undefined
  /** Until when access is kept, ISO 8601 UTC; left out for ever. */
  readonly until?: string | undefined
  /** The order that the payment counts for; left out for none. */
  readonly order?: string | undefined
}

export type DecisionKind =
  /** This payment pays the order in full, though it is short, too late, or in another currency or account. */
  | 'accept_payment'
  /** This payment is nobody's price: it neither pays nor do its refunds take anything. */
  | 'treat_as_surplus'
  /** This part of what the order asks for is asked for no more. */
  | 'write_off'
  /** What the order gives stays given, until a date or for ever. */
  | 'keep_access'
  /** A closed or expired order takes money again. */
  | 'reopen'
  /** Said of a payment: it counts for this order, whatever its messages name. */
  | 'assign_order'
  /** Takes another decision back and says nothing of its own. */
  | 'withdraw'

export function decision(subject: OrderSubject | PaymentSubject, content: Decision): FactOf<'decision'> {
  return { subject, key: `decision/${content.id}`, kind: 'decision', content }
}
