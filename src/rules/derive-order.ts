import type { EntitlementState } from '../facts/entitlement.ts'
import type { ExceptionDue } from '../facts/exception.ts'
import { orderBasis } from './basis.ts'
import { shortfallOf, strictest, verdictsOf } from './entitlement-policy.ts'
import { earliest, instantOf } from './instant.ts'
import { type ItemTargets, itemTargets } from './item-targets.ts'
import { orderExceptions, UNKNOWN_ORDER_ALERT_AFTER_MS, unknownOrder } from './order-exceptions.ts'
import { type OrderStanding, standingOf } from './order-standing.ts'
import type { OrderBook, OrderState, OrderStatus } from './order-state.ts'
import type { PaymentSummary } from './payment-state.ts'
import { raise, sortExceptions } from './raise.ts'
import { deriveRecurring, isRecurring, unknownSubscriptions } from './recurring.ts'
import { refundsDue } from './refunds-due.ts'
import type { SubscriptionSummary } from './subscription-state.ts'

/**
 * The state of an order, from sums over its payments and never from which of them came first.
 * @param payments every payment that names this order, stand-ins and conflicted ones included
 * @param as_of the present time, ISO 8601 UTC; only decides whether an unpaid order, or what an order gives, has expired
 * @param subscriptions every subscription that settles this order
 */
export function deriveOrder(
  reference: string,
  book: OrderBook,
  payments: readonly PaymentSummary[],
  as_of: string,
  subscriptions: readonly SubscriptionSummary[] = [],
): OrderState {
  if (book.terms === null) return withoutTerms(reference, book, payments, subscriptions)
  const of_the_book = [...bookConflict(reference, book), ...outdatedDecisions(reference, book, payments)]
  if (isRecurring(book.terms, subscriptions)) {
    const { amount_minor, currency } = book.terms
    const derived = deriveRecurring(reference, book, payments, subscriptions, as_of, {
      statusOf: (period) => statusOf(period, book, as_of),
      targetState: (period) => targetState(period, book, as_of),
      keptAt: (period) => keptAt(period, as_of),
      wakeups: (period) => graceEnds(period, as_of),
    })
    const exceptions = sortExceptions([...derived.exceptions, ...of_the_book])
    return { ...derived, due_minor: amount_minor, currency, exceptions }
  }
  const standing = standingOf(reference, book.terms, book, payments)
  const status = statusOf(standing, book, as_of)
  const items = targetsOf(standing, book, as_of)
  const refunds_due = book.conflicted ? [] : refundsDue(standing)
  return {
    status,
    due_minor: standing.terms.amount_minor,
    currency: standing.terms.currency,
    paid_minor: standing.all.captured_minor,
    net_minor: standing.all.net_minor,
    surplus_minor: standing.surplus_minor,
    entitlements: items.entitlements,
    exceptions: sortExceptions([...orderExceptions(standing), ...of_the_book]),
    ...(refunds_due.length > 0 ? { refunds_due } : {}),
    next_wakeup: earliest([
      ...items.wakeups,
      ...graceEnds(standing, as_of),
      status === 'awaiting_payment' && book.closed === null ? standing.ruling.open_until : null,
      keptAt(standing, as_of) && standing.ruling.kept_until !== 'for_ever'
        ? standing.ruling.kept_until
        : null,
    ]),
  }
}

function withoutTerms(
  reference: string,
  book: OrderBook,
  payments: readonly PaymentSummary[],
  subscriptions: readonly SubscriptionSummary[],
): OrderState {
  const money = unknownOrder(reference, payments)
  const unknown =
    money.length > 0 ? money : unknownSubscriptions(reference, subscriptions, UNKNOWN_ORDER_ALERT_AFTER_MS)
  return {
    status: book.conflicted || payments.some(isConflicted) ? 'on_hold' : 'awaiting_terms',
    due_minor: 0n,
    currency: null,
    paid_minor: 0n,
    net_minor: 0n,
    surplus_minor: 0n,
    entitlements: [],
    exceptions: book.conflicted ? bookConflict(reference, book) : unknown,
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
  const { timely, enough_minor } = standing
  const missing = shortfallOf(timely, enough_minor)
  if (missing.lost_minor > 0n) return 'charged_back'
  if (missing.refunded_minor > 0n) return timely.net_minor <= 0n ? 'refunded' : 'partially_refunded'
  // Only a bank took money back: the buyer owes it again.
  return owingStatus(standing, as_of)
}

function owingStatus({ timely, closed, ruling }: OrderStanding, as_of: string): OrderStatus {
  if (timely.net_minor > 0n) return 'underpaid'
  const { open_until } = ruling
  if (open_until === null) return 'awaiting_payment'
  if (closed !== null) return closed.how
  return instantOf(as_of) >= instantOf(open_until) ? 'expired' : 'awaiting_payment'
}

/** Every item of the terms follows the order's sums; none follows a single payment. */
function targetsOf(standing: OrderStanding, book: OrderBook, as_of: string): ItemTargets {
  const state = targetState(standing, book, as_of)
  const kept = !book.conflicted && keptAt(standing, as_of)
  const { items } = standing.terms
  return itemTargets({ items, state, spent: state, kept, standings: [standing] }, as_of)
}

function targetState(standing: OrderStanding, book: OrderBook, as_of: string): EntitlementState | 'held' {
  const { timely, terms, payments, gives_for_minor } = standing
  if (book.conflicted) return 'held'
  if (keptAt(standing, as_of)) return 'granted'
  if (payments.conflicted.length > 0) return 'held'
  if (gives_for_minor === null) return 'none'
  return strictest(verdictsOf(timely, gives_for_minor, terms.policy, as_of))
}

/** When a policy's patience ends. */
function graceEnds({ timely, terms, gives_for_minor }: OrderStanding, as_of: string): (string | null)[] {
  if (gives_for_minor === null) return []
  return verdictsOf(timely, gives_for_minor, terms.policy, as_of).map(({ until }) => until)
}

/** A person decided that what the order gives stays given, and their date has not come. */
function keptAt({ ruling }: OrderStanding, as_of: string): boolean {
  const { kept_until } = ruling
  return kept_until === 'for_ever' || (kept_until !== null && instantOf(as_of) < instantOf(kept_until))
}

/** A decision rests on what was seen. When that has changed it still stands, and whoever made it is asked again. */
function outdatedDecisions(
  reference: string,
  book: OrderBook,
  payments: readonly PaymentSummary[],
): ExceptionDue[] {
  const asking = book.decisions.filter((decision) => decision.firm !== true)
  if (asking.length === 0) return []
  const basis = orderBasis(book, payments)
  return asking
    .filter((decision) => decision.based_on !== basis)
    .map((decision) => {
      const message = `${decision.actor} decided "${decision.decision.replaceAll('_', ' ')}" on order ${reference} (${decision.reason}), and what they saw has changed since. The decision stands: confirm it with \`paidonce decide\`, or withdraw it.`
      return raise('decision_outdated', decision.id, 'warning', message)
    })
}

function bookConflict(reference: string, book: OrderBook) {
  if (!book.conflicted) return []
  const message = `Order ${reference} was registered or decided upon in two ways that contradict each other. Nothing is granted or taken until they agree: find out which is right and withdraw the other.`
  return [raise('fact_conflict', 'terms', 'urgent', message)]
}
