import { hash } from 'node:crypto'
import type { Decision } from './decision.ts'
import type { DisputeFunds, DisputeStatusReached } from './dispute.ts'
import type { OrderClosed, OrderTerms } from './order.ts'
import type { PaymentLink, PaymentMilestoneReached } from './payment.ts'
import type { PriceItems } from './price-items.ts'
import type { RefundMilestoneReached, RefundTotal } from './refund.ts'
import type { Subject } from './subject.ts'
import type { SubscriptionStatusReached } from './subscription.ts'

/** Every kind of statement that the rules understand, with the shape of its content. */
export interface FactContent {
  payment_milestone: PaymentMilestoneReached
  payment_link: PaymentLink
  refund_milestone: RefundMilestoneReached
  refund_total: RefundTotal
  dispute_status: DisputeStatusReached
  dispute_funds: DisputeFunds
  order_terms: OrderTerms
  order_closed: OrderClosed
  price_items: PriceItems
  subscription_status: SubscriptionStatusReached
  decision: Decision
}

export type FactKind = keyof FactContent

/**
 * One canonical statement taken from an event, a look-up, an operation's answer or a person.
 *
 * Insert-only; the same for everyone who tells it. Several facts of one key unite field by field: a field that is
 * left out is no information, two different values of one field are a conflict and both are kept.
 * Facts hold no personal data: ids, amounts, states and times only.
 */
export type Fact = { [K in FactKind]: FactOf<K> }[FactKind]

export interface FactOf<K extends FactKind> {
  readonly subject: Subject
  /** Identity of the statement within its subject, for example `attempt/ch_1/succeeded`. Made by the functions beside each content type. */
  readonly key: string
  readonly kind: K
  readonly content: FactContent[K]
}

type Encodable =
  | string
  | number
  | boolean
  | bigint
  | null
  | undefined
  | Encodable[]
  | { [name: string]: Encodable }

/**
 * The stored form of a fact's content: JSON with sorted names, no nulls, and amounts (names ending in `_minor`)
 * as decimal strings. Equal statements have equal text, so its digest can be the lock.
 */
export function encodeContent(content: FactContent[FactKind]): string {
  return encode(content as unknown as Encodable)
}

function encode(value: Encodable): string {
  if (typeof value === 'bigint') return `"${value}"`
  if (Array.isArray(value)) return `[${value.map((entry) => encode(entry ?? null)).join(',')}]`
  if (typeof value === 'object' && value !== null) {
    const parts: string[] = []
    for (const name of Object.keys(value).sort()) {
      const entry = value[name]
      if (entry !== null && entry !== undefined) parts.push(`${JSON.stringify(name)}:${encode(entry)}`)
    }
    return `{${parts.join(',')}}`
  }
  return JSON.stringify(value ?? null)
}

/** Reads what `encodeContent` wrote (text, or the object a JSON column gives). */
export function decodeContent<K extends FactKind>(_kind: K, stored: string | object): FactContent[K] {
  return revive(typeof stored === 'string' ? JSON.parse(stored) : stored) as FactContent[K]
}

function revive(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(revive)
  if (typeof value !== 'object' || value === null) return value
  const revived: Record<string, unknown> = {}
  for (const [name, entry] of Object.entries(value)) {
    revived[name] = name.endsWith('_minor') && typeof entry === 'string' ? BigInt(entry) : revive(entry)
  }
  return revived
}

/** Sixteen bytes that stand for the content in the unique key of the facts table. */
export function contentDigest(kind: FactKind, encoded: string): Buffer {
  return hash('sha256', `${kind}\n${encoded}`, 'buffer').subarray(0, 16)
}
