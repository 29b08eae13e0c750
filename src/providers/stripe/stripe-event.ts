import type { Fact } from '../../facts/fact.ts'
import type { PaymentSubject, SubscriptionSubject } from '../../facts/subject.ts'
import type { JsonRecord } from '../field.ts'
import { idIn } from '../field.ts'
import { Unreadable } from '../unreadable.ts'
import type { OrderReferenceOption } from './order-reference.ts'

/** What the translation needs to know of the endpoint. */
export interface StripeSetup {
  readonly namespace: string
  readonly account: string
  readonly orderReference: OrderReferenceOption
}

/** One snapshot event, opened. */
export interface StripeEvent {
  readonly id: string | undefined
  readonly type: string
  /** The envelope's `created`: when the event was made, in whole seconds. */
  readonly created: string | undefined
  /** `data.object` */
  readonly object: JsonRecord
  readonly setup: StripeSetup
}

/** What one event says. */
export type Reading =
  | { readonly facts: readonly Fact[] }
  | { readonly ignored: string }
  | { readonly not_ours: string }

export const FOREIGN: Reading = { not_ours: 'its order reference does not match the pattern of ours' }

export function paymentSubject(setup: StripeSetup, id: string): PaymentSubject {
  return { kind: 'payment', namespace: setup.namespace, account: setup.account, id }
}

export function subscriptionSubject(setup: StripeSetup, id: string): SubscriptionSubject {
  return { kind: 'subscription', namespace: setup.namespace, account: setup.account, id }
}

/** @throws Unreadable when the object has no id */
export function ownId(event: StripeEvent): string {
  const id = idIn(event.object, 'id')
  if (id === undefined) throw new Unreadable('data.object.id is missing')
  return id
}

/** @throws Unreadable when the envelope has no time */
export function eventTime(event: StripeEvent): string {
  if (event.created === undefined) throw new Unreadable('created is missing or no Unix time')
  return event.created
}
