import type { Fact } from '../../facts/fact.ts'
import type { LookupRequest } from '../../facts/lookup.ts'
import type { PaymentSubject, SubscriptionSubject } from '../../facts/subject.ts'
import { parseDecimal } from '../../money/amount.ts'
import type { Token } from '../../money/currency.ts'
import { exponentOf } from '../../money/currency.ts'
import type { JsonRecord } from '../field.ts'
import { fieldIn, textIn } from '../field.ts'
import type { NamedOrder } from '../order-candidates.ts'
import { namedOrder } from '../order-candidates.ts'
import { Unreadable } from '../unreadable.ts'

/** Where our order reference stands in Yolfi's objects, and what one of ours looks like. */
export interface OrderReferenceOption {
  /** Metadata key that is looked at where there is no `merchantOrderId`. Default `order_id`. */
  readonly metadataKey?: string
  /**
   * Whether `clientReferenceId` is the order reference where there is no other. Default false, since it most often
   * holds a user.
   */
  readonly clientReferenceId?: boolean
  /** What our references look like, for example `/^ORD-\d+$/`. References that do not match are another system's. */
  readonly pattern?: RegExp
}

/** What the translation needs to know of the endpoint. */
export interface YolfiSetup {
  readonly namespace: string
  readonly account: string
  readonly orderReference: OrderReferenceOption
  /** Prices in tokens. */
  readonly tokens: readonly Token[]
}

/** One native message, opened. */
export interface YolfiEvent {
  readonly id: string
  readonly type: string
  /** The envelope's `created`, in whole seconds. */
  readonly created: string
  /** Made by the dashboard to try the endpoint; nothing exists behind it. */
  readonly is_trial: boolean
  readonly data: JsonRecord
  readonly setup: YolfiSetup
}

/** What one event says. */
export type Reading =
  | { readonly facts: readonly Fact[]; readonly lookups?: readonly LookupRequest[] }
  | { readonly ignored: string }
  | { readonly not_ours: string }

export const FOREIGN: Reading = { not_ours: 'its order reference does not match the pattern of ours' }

export function paymentSubject(setup: YolfiSetup, id: string): PaymentSubject {
  return { kind: 'payment', namespace: setup.namespace, account: setup.account, id }
}

export function subscriptionSubject(setup: YolfiSetup, id: string): SubscriptionSubject {
  return { kind: 'subscription', namespace: setup.namespace, account: setup.account, id }
}

/** A paylink names neither a buyer nor an order, so it is not among the candidates. */
export function orderIn({ orderReference }: YolfiSetup, data: unknown): NamedOrder {
  const { metadataKey = 'order_id', clientReferenceId = false, pattern } = orderReference
  const found = [fieldIn(data, 'merchantOrderId'), fieldIn(data, 'metadata', metadataKey)]
  if (clientReferenceId)
    found.push(fieldIn(data, 'customer', 'clientReferenceId'), fieldIn(data, 'clientReferenceId'))
  return namedOrder(pattern, found)
}

export interface Money {
  readonly amount_minor: bigint
  readonly currency: string
}

/**
 * What was asked for: `sourceAmount` in `currency`. `amount` is what we receive, after fees and in a token, and
 * `amountUsd` is information, so neither ever stands in.
 * @returns null when the object does not tell it
 * @throws Unreadable when it tells it inexactly
 */
export function askedFor(setup: YolfiSetup, data: unknown): Money | null {
  const amount = fieldIn(data, 'sourceAmount')
  const code = fieldIn(data, 'currency')
  if (nothing(amount) || nothing(code)) return null
  const currency = textIn(data, 'currency') ?? ''
  const exponent = exponentOf(currency, setup.tokens)
  if (exponent === null) throw new Unreadable('data.currency is not a currency that we know')
  const parsed = parseDecimal(amount, exponent)
  if (!parsed.ok) throw new Unreadable(`data.sourceAmount is not an exact amount (${parsed.problem})`)
  return { amount_minor: parsed.amount_minor, currency }
}

function nothing(value: unknown): boolean {
  return value === undefined || value === null
}
