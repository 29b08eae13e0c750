import type { OrderBook, OrderStatus } from '../../rules/order-state.ts'

/** One row of `orders` as settling reads it. */
export interface OrderRow {
  readonly id: bigint
  readonly facts_rev: bigint
  readonly effect_seq: bigint
  readonly open_exceptions: number
  readonly has_entitlements: boolean
  readonly tenant: string
  readonly reference: string
  readonly status: OrderStatus
  readonly payment_ids: readonly bigint[]
  readonly subscription_ids: readonly bigint[]
  /** As stored; `readStoredBook` (rules/stored-book.ts) reads it. Null for a placeholder. */
  readonly book: object | null
}

export interface OrderKey {
  readonly tenant: string
  readonly reference: string
}

/** A string that is equal exactly for orders under one lock. */
export function orderLock(key: OrderKey): string {
  return `${key.tenant}\n${key.reference}`
}

export const ORDER_COLUMNS =
  'id, facts_rev, effect_seq, open_exceptions, has_entitlements, tenant, reference, status, payment_ids, subscription_ids, book'

/** The stored form of an order's book: amounts as decimal text. */
export function encodeBook(book: OrderBook): string {
  return JSON.stringify(book, (_name, value) => (typeof value === 'bigint' ? String(value) : value))
}
