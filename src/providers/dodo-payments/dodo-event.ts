import type { Fact } from '../../facts/fact.ts'
import type { LookupRequest } from '../../facts/lookup.ts'
import type { PaymentSubject, SubscriptionSubject } from '../../facts/subject.ts'
import { exponentOf } from '../../money/currency.ts'
import type { JsonRecord } from '../field.ts'
import { fieldIn, textIn } from '../field.ts'
import type { NamedOrder } from '../order-candidates.ts'
import { namedOrder } from '../order-candidates.ts'
import { Unreadable } from '../unreadable.ts'

/** Metadata in which our own operations leave their key, since Dodo takes no idempotency key. */
export const REFUND_KEY = 'paidonce_refund'
export const CHARGE_KEY = 'paidonce_charge'

/** Where our order reference stands in Dodo's objects, and what one of ours looks like. */
export interface OrderReferenceOption {
  /** Metadata key that we set when creating the checkout session. Default `order_id`. */
  readonly metadataKey?: string
  /** What our references look like, for example `/^ORD-\d+$/`. References that do not match are another system's. */
  readonly pattern?: RegExp
}

/** Which of the amounts of a payment an order's total is compared with. */
export type OrderTotals = 'charged' | 'charged_without_tax' | 'settled' | 'settled_without_tax'

/** What the translation needs to know of the endpoint. */
export interface DodoSetup {
  readonly namespace: string
  readonly account: string
  readonly orderReference: OrderReferenceOption
  readonly orderTotals: OrderTotals
}

/** One message, opened. */
export interface DodoEvent {
  readonly type: string
  /** The envelope's `timestamp`: when it happened. */
  readonly at: string | undefined
  /** `data`: the object as it is when the message is sent, not as it was when it happened. */
  readonly object: JsonRecord
  readonly setup: DodoSetup
}

/** What one event or one object says. */
export type Reading =
  | { readonly facts: readonly Fact[]; readonly lookups?: readonly LookupRequest[] }
  | { readonly ignored: string }
  | { readonly not_ours: string }

export const FOREIGN: Reading = { not_ours: 'its order reference does not match the pattern of ours' }

export function paymentSubject(setup: DodoSetup, id: string): PaymentSubject {
  return { kind: 'payment', namespace: setup.namespace, account: setup.account, id }
}

export function subscriptionSubject(setup: DodoSetup, id: string): SubscriptionSubject {
  return { kind: 'subscription', namespace: setup.namespace, account: setup.account, id }
}

export function orderIn(setup: DodoSetup, object: unknown): NamedOrder {
  const { metadataKey = 'order_id', pattern } = setup.orderReference
  return namedOrder(pattern, [fieldIn(object, 'metadata', metadataKey)])
}

/** @throws Unreadable when it is missing */
export function requiredId(object: unknown, field: string): string {
  const id = textIn(object, field)
  if (id === undefined) throw new Unreadable(`data.${field} is missing`)
  return id
}

/** @throws Unreadable when the envelope has no time */
export function eventTime({ at }: DodoEvent): string {
  if (at === undefined) throw new Unreadable('timestamp is missing or no time')
  return at
}

/** @throws Unreadable when it is missing or no ISO 4217 code */
export function currencyIn(object: unknown, field: string): string {
  const currency = textIn(object, field)
  if (currency === undefined) throw new Unreadable(`data.${field} is missing`)
  if (exponentOf(currency) === null) throw new Unreadable(`data.${field} is not a currency that we know`)
  return currency
}

/** Codes for machines; Dodo also has sentences beside them, which may name people. */
export function codeIn(object: unknown, field: string): string | undefined {
  const code = textIn(object, field)
  return code !== undefined && /^[A-Za-z0-9_.-]{1,64}$/.test(code) ? code : undefined
}
