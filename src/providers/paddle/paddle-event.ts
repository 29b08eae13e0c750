import type { Fact } from '../../facts/fact.ts'
import type { LookupRequest } from '../../facts/lookup.ts'
import type { PaymentSubject, SubscriptionSubject } from '../../facts/subject.ts'
import type { JsonRecord } from '../field.ts'
import { textIn, utcTime } from '../field.ts'
import { Unreadable } from '../unreadable.ts'
import type { AmountKind } from './amount.ts'
import type { OrderReferenceOption } from './order-reference.ts'

/** What reading an object needs to know of the endpoint. */
export interface PaddleSetup {
  readonly account: string
  readonly orderReference: OrderReferenceOption
  readonly amounts: AmountKind
}

/** One event, opened; or one object that was looked up, which then has no type. */
export interface PaddleEvent {
  readonly id: string | undefined
  readonly type: string
  /** When it is told: the envelope's `occurred_at`, or the time of the look-up. */
  readonly told_at: string | undefined
  readonly data: JsonRecord
  readonly setup: PaddleSetup
}

/** What one event says. */
export type Reading =
  | { readonly facts: readonly Fact[]; readonly lookups?: readonly LookupRequest[] }
  | { readonly ignored: string }
  | { readonly not_ours: string }

export const NAMESPACE = 'paddle'

export const FOREIGN: Reading = { not_ours: 'its order reference does not match the pattern of ours' }

export function paymentSubject(setup: PaddleSetup, id: string): PaymentSubject {
  return { kind: 'payment', namespace: NAMESPACE, account: setup.account, id }
}

export function subscriptionSubject(setup: PaddleSetup, id: string): SubscriptionSubject {
  return { kind: 'subscription', namespace: NAMESPACE, account: setup.account, id }
}

/** @throws Unreadable when the object has no id */
export function ownId(event: PaddleEvent): string {
  const id = textIn(event.data, 'id')
  if (id === undefined) throw new Unreadable('data.id is missing')
  return id
}

/** @throws Unreadable when the envelope has no time */
export function toldAt(event: PaddleEvent): string {
  if (event.told_at === undefined) throw new Unreadable('occurred_at is missing or no time')
  return event.told_at
}

/** A time of Paddle's (RFC 3339, 0 to 6 digits after the point) as ISO 8601 UTC in milliseconds. */
export function timeIn(parent: unknown, ...path: readonly string[]): string | undefined {
  return utcTime(textIn(parent, ...path)) ?? undefined
}
