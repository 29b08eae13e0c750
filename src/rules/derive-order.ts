import type { EntitlementState, EntitlementTarget } from '../facts/entitlement.ts'
import { entitlementOf, shortfallOf } from './entitlement-policy.ts'
import { instantOf } from './instant.ts'
import { orderExceptions, unknownOrder } from './order-exceptions.ts'
import { type OrderStanding, standingOf } from './order-standing.ts'
import type { OrderBook, OrderState, OrderStatus } from './order-state.ts'
import type { PaymentSummary } from './payment-state.ts'
import { raise, sortExceptions } from './raise.ts'

/**
 * The state of an order, from sums over its payments and never from which of them came first.
 * @param payments every payment that names this order, stand-ins and conflicted ones included
 * @param as_of the present time, ISO 8601 UTC; only decides whether an unpaid order has expired
 */
export function deriveOrder(
  reference: string,
  book: OrderBook,
  payments: readonly PaymentSummary[],
  as_of: string,
): OrderState {
  if (book.terms === null) return withoutTerms(reference, book, payments)
  const standing = standingOf(reference, book.terms, book.closed, payments)
  const status = statusOf(standing, book, as_of)
  return {
    status,
    due_minor: standing.terms.amount_minor,
    currency: standing.terms.currency,
    paid_minor: standing.all.captured_minor,
    net_minor: standing.all.net_minor,
    surplus_minor: standing.surplus_minor,
    entitlements: targetsOf(standing, book),
    exceptions: sortExceptions([...orderExceptions(standing), ...bookConflict(reference, book)]),
    next_wakeup: status === 'awaiting_payment' && book.closed === null ? book.terms.expires_at : null,
  }
}

function withoutTerms(reference: string, book: OrderBook, payments: readonly PaymentSummary[]): OrderState {
  return {
    status: book.conflicted || payments.some(isConflicted) ? 'on_hold' : 'awaiting_terms',
    due_minor: 0n,
    currency: null,
    paid_minor: 0n,
    net_minor: 0n,
    surplus_minor: 0n,
    entitlements: [],
    exceptions: book.conflicted ? bookConflict(reference, book) : unknownOrder(reference, payments),
    next_wakeup: null,
  }
}

function isConflicted(payment: PaymentSummary): boolean {
  return payment.status === 'conflicted'
}

function statusOf(standing: OrderStanding, book: OrderBook, as_of: string): OrderStatus {
  if (book.conflicted || standing.payments.conflicted.length > 0) return 'on_hold'
  if (standing.covered) return standing.surplus_minor > 0n ? 'overpaid' : 'paid'
  // Money that came too late waits for a person; it neither pays nor is it anyone's surplus.
  if (standing.late.net_minor > 0n) return 'on_hold'
  return standing.paid_in_full ? givenBackStatus(standing, as_of) : owingStatus(standing, as_of)
}

function givenBackStatus(standing: OrderStanding, as_of: string): OrderStatus {
  const { timely, terms } = standing
  const missing = shortfallOf(timely, terms.amount_minor)
  if (missing.lost_minor > 0n) return 'charged_back'
  if (missing.refunded_minor > 0n) return timely.net_minor <= 0n ? 'refunded' : 'partially_refunded'
  // Only a bank took money back: the buyer owes it again.
  return owingStatus(standing, as_of)
}

function owingStatus({ timely, terms, closed }: OrderStanding, as_of: string): OrderStatus {
  if (timely.net_minor > 0n) return 'underpaid'
  if (closed !== null) return closed.how
  return instantOf(as_of) >= instantOf(terms.expires_at) && terms.expires_at !== null
    ? 'expired'
    : 'awaiting_payment'
}

/** Every item of the terms follows the order's sums; none follows a single payment. */
function targetsOf(standing: OrderStanding, book: OrderBook): EntitlementTarget[] {
  const state = targetState(standing, book)
  return standing.terms.items.map(({ item, quantity }) => ({ item, quantity, state }))
}

function targetState(
  { timely, terms, payments, paid_in_full }: OrderStanding,
  book: OrderBook,
): EntitlementState | 'held' {
  if (book.conflicted || payments.conflicted.length > 0) return 'held'
  if (!paid_in_full) return 'none'
  return entitlementOf(timely, terms.amount_minor, terms.policy)
}

function bookConflict(reference: string, book: OrderBook) {
  if (!book.conflicted) return []
  const message = `Order ${reference} was registered or decided upon in two ways that contradict each other. Nothing is granted or taken until they agree: find out which is right and withdraw the other.`
  return [raise('fact_conflict', 'terms', 'urgent', message)]
}
