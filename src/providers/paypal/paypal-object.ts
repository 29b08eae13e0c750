import type { Fact } from '../../facts/fact.ts'
import type { LookupRequest } from '../../facts/lookup.ts'
import type { PaymentSubject, SubscriptionSubject } from '../../facts/subject.ts'
import { listIn, textIn, utcTime } from '../field.ts'
import { Unreadable } from '../unreadable.ts'
import type { OrderReferenceOption } from './order-reference.ts'

/** What captures, sales and IPN transactions belong to: they are the same money under the same ids. */
export const NAMESPACE = 'paypal'

/** What reading an object needs to know of the endpoint. */
export interface PaypalSetup {
  readonly account: string
  readonly orderReference: OrderReferenceOption
  /** Our own merchant id, where it is configured: money of others is not ours. */
  readonly merchantId: string | undefined
}

/** What one object of the API says, and what else has to be asked. */
export interface Reading {
  readonly facts: readonly Fact[]
  readonly lookups?: readonly LookupRequest[]
}

export function paymentSubject(account: string, id: string): PaymentSubject {
  return { kind: 'payment', namespace: NAMESPACE, account, id }
}

export function subscriptionSubject(account: string, id: string): SubscriptionSubject {
  return { kind: 'subscription', namespace: NAMESPACE, account, id }
}

/** @throws Unreadable when the object has no id */
export function requiredId(object: unknown, ...path: readonly string[]): string {
  const id = idOf(textIn(object, ...path))
  if (id === undefined) throw new Unreadable(`${path.join('.')} is missing or no id`)
  return id
}

/** An id as it may stand in an address of the API; undefined for anything else. */
export function idOf(text: string | undefined): string | undefined {
  return text !== undefined && /^[A-Za-z0-9-]{1,64}$/.test(text) ? text : undefined
}

/** The id of the object that a link of this relation leads to, for example the capture that a refund belongs to. */
export function linkedId(object: unknown, relation: string, collection: string): string | undefined {
  for (const link of listIn(object, 'links')) {
    if (textIn(link, 'rel') !== relation) continue
    const [, id] = new RegExp(`/${collection}/([A-Za-z0-9-]{1,64})$`).exec(textIn(link, 'href') ?? '') ?? []
    if (id !== undefined) return id
  }
  return undefined
}

/** The time in a field, ISO 8601 UTC; PayPal also writes offsets. */
export function timeIn(object: unknown, ...path: readonly string[]): string | undefined {
  return utcTime(textIn(object, ...path)) ?? undefined
}

/** @throws Unreadable for money that was paid to somebody else */
export function checkPayee(setup: PaypalSetup, merchant: string | undefined): void {
  if (setup.merchantId !== undefined && merchant !== undefined && merchant !== setup.merchantId)
    throw new Unreadable('it was paid to another merchant')
}
