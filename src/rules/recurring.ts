import type { EntitlementState } from '../facts/entitlement.ts'
import type { ExceptionDue } from '../facts/exception.ts'
import { compareInstants, compareText, earliest } from './instant.ts'
import { paidAt } from './item-end.ts'
import { itemTargets } from './item-targets.ts'
import { orderExceptions } from './order-exceptions.ts'
import { type OrderStanding, standingOf } from './order-standing.ts'
import type { OrderBook, OrderState, OrderStatus } from './order-state.ts'
import type { PaymentSummary } from './payment-state.ts'
import { pricedItems, restOf, unmappedPrices } from './priced-items.ts'
import { raise } from './raise.ts'
import { subscriptionRight, type TimedRight, together } from './subscription-right.ts'
import type { SubscriptionSummary } from './subscription-state.ts'

/** How an order of one purchase is read; a period is read the same way. */
export interface PeriodReading {
  statusOf(standing: OrderStanding): OrderStatus
  targetState(standing: OrderStanding): EntitlementState | 'held'
  /** A person decided that what the order gives stays given now. */
  keptAt(standing: OrderStanding): boolean
  /** When time alone will change what the standing gives. */
  wakeups(standing: OrderStanding): readonly (string | null)[]
}

/** True for orders that are paid again and again: registered so, or settled by a subscription all the same. */
export function isRecurring(
  terms: NonNullable<OrderBook['terms']>,
  subscriptions: readonly SubscriptionSummary[],
): boolean {
  return terms.recurring !== undefined || subscriptions.length > 0
}

/**
 * The state of a recurring order. Each payment is one period and is compared with the terms like an order of its own, so
 * that renewals are no surplus and what goes back of one period takes nothing of another. What the order gives is what its
 * subscription gives, as far as the newest period that was paid allows it.
 */
export function deriveRecurring(
  reference: string,
  book: OrderBook,
  all_payments: readonly PaymentSummary[],
  subscriptions: readonly SubscriptionSummary[],
  as_of: string,
  reading: PeriodReading,
): Omit<OrderState, 'due_minor' | 'currency'> {
  const periods = periodsOf(reference, book, all_payments)
  const paid = periods.filter((period) => period.paid_in_full)
  const present = presentOf(periods) ?? standingOf(reference, book.terms!, book, [])
  const told = subscriptions.filter(({ status }) => status !== 'unknown')
  const rights = rightsOf(book, told, paid, as_of)
  const right = rights.length > 0 ? together(rights) : null
  const money = moneyOf(present, periods, reading)
  const kept = !book.conflicted && reading.keptAt(present)
  const state = book.conflicted ? 'held' : kept ? 'granted' : allowed(right, money)
  const spent = reading.targetState(present)
  const deciding = told.filter((_, place) => rights[place]!.state === right?.state)
  const priced = pricedItems(book, deciding)
  const some_held = right?.state !== 'held' && rights.some((own) => own.state === 'held')
  const rest = restOf(book, priced, state, some_held)
  // What was bought and never given is asked for even when the subscription is over.
  const owed =
    (right?.state === 'granted' && state === 'granted') || (money === 'granted' && book.prices === undefined)
  const items = itemTargets({ items: priced.items, state, spent, kept, standings: paid }, as_of)
  const status = reading.statusOf(present)
  const open = status === 'awaiting_payment' && book.closed === null && right?.state !== 'granted'
  const { kept_until, open_until } = present.ruling
  return {
    status,
    paid_minor: sum(periods, (period) => period.all.captured_minor),
    net_minor: sum(periods, (period) => period.all.net_minor),
    surplus_minor: sum(periods, (period) => period.surplus_minor),
    entitlements: items.entitlements,
    ...(rest === undefined ? {} : { rest }),
    exceptions: [
      ...periodExceptions(periods, right),
      ...severalOrders(reference, subscriptions),
      ...(owed ? unmappedPrices(reference, priced, deciding) : []),
    ],
    next_wakeup: earliest([
      ...items.wakeups,
      ...reading.wakeups(present),
      right?.until,
      open ? open_until : null,
      kept && kept_until !== 'for_ever' ? kept_until : null,
    ]),
  }
}

/** Active subscriptions of an order that nobody registered give nothing yet; told only where no money says it already. */
export function unknownSubscriptions(
  reference: string,
  subscriptions: readonly SubscriptionSummary[],
  alert_after_ms: number,
): ExceptionDue[] {
  const living = subscriptions.filter(({ status }) => status === 'active' || status === 'trialing')
  if (living.length === 0) return []
  const ids = living.map(({ id }) => id).sort(compareText)
  const message = `Subscription ${ids.join(', ')} is running for order ${reference}, which is not registered. It gives nothing yet and settles by itself once the order is registered: register it, or end the subscription.`
  return [raise('unknown_order', '-', 'urgent', message, alert_after_ms)]
}

/** First by when the money moved. The time by which an order must be paid concerns its first period alone. */
function periodsOf(reference: string, book: OrderBook, payments: readonly PaymentSummary[]): OrderStanding[] {
  const own = payments
    .filter((payment) => payment.status !== 'linked')
    .sort(
      (a, b) =>
        compareInstants(a.moved_at, b.moved_at) ||
        compareText(a.id, b.id) ||
        compareText(a.account, b.account),
    )
  const inTime = own.map((payment) => standingOf(reference, book.terms!, book, [payment]))
  if (book.terms!.expires_at === null || !inTime.some((period) => period.paid_in_full)) return inTime
  const begun = { ...book.terms!, expires_at: null }
  return own.map((payment) => standingOf(reference, begun, book, [payment]))
}

/**
 * The period that speaks for the order now: the newest one that was paid in full, unless what is told of a newer payment
 * contradicts itself; while none was paid, the newest that brought anything, or the newest of all.
 */
function presentOf(periods: readonly OrderStanding[]): OrderStanding | undefined {
  const paid = periods.findLastIndex((period) => period.paid_in_full)
  const unclear = periods.findLast((period, index) => index > paid && period.payments.conflicted.length > 0)
  return unclear ?? periods[paid] ?? periods.findLast(broughtMoney) ?? periods.at(-1)
}

function broughtMoney({ all, late }: OrderStanding): boolean {
  return all.captured_minor > 0n || late.captured_minor > 0n
}

type MoneyWord = EntitlementState | 'held' | 'short' | null

/** What the present period's money allows; `short`: money came, and never the price. Null where none was told. */
function moneyOf(
  present: OrderStanding,
  periods: readonly OrderStanding[],
  reading: PeriodReading,
): MoneyWord {
  if (present.payments.conflicted.length > 0) return 'held'
  if (present.paid_in_full) return reading.targetState(present)
  return periods.some(broughtAnything) ? 'short' : null
}

/** In whatever currency, through whatever account. */
function broughtAnything({ payments }: OrderStanding): boolean {
  const { timely, late, wrong_account, wrong_currency } = payments
  return [...timely, ...late, ...wrong_account, ...wrong_currency].some(
    (payment) => payment.captured_minor > 0n,
  )
}

function rightsOf(
  book: OrderBook,
  subscriptions: readonly SubscriptionSummary[],
  paid: readonly OrderStanding[],
  as_of: string,
): TimedRight[] {
  const { policy, recurring } = book.terms!
  const last = paid.at(-1)
  const terms = {
    grace_ms: recurring?.grace_ms ?? policy.past_due_grace_ms,
    canceled: policy.subscription_canceled,
    paid_at: last === undefined ? null : paidAt(last),
  }
  return subscriptions.map((subscription) => subscriptionRight(subscription, terms, as_of))
}

/** What the subscription gives, as far as the money allows it. Where no subscription is told, the money alone decides. */
function allowed(right: TimedRight | null, money: MoneyWord): EntitlementState | 'held' {
  if (right === null) return money === 'short' || money === null ? 'none' : money
  if (right.state !== 'granted')
    return money === 'revoked' && right.state !== 'held' ? 'revoked' : right.state
  if (money === null) return 'granted'
  if (money === 'short') return right.trial ? 'granted' : 'none'
  return money
}

/** Each period's own, under the id of its payment. */
function periodExceptions(periods: readonly OrderStanding[], right: TimedRight | null): ExceptionDue[] {
  const free = right?.trial === true || periods.some((period) => period.paid_in_full)
  return periods.flatMap((period) => {
    // A period that costs nothing (a trial, a credit note) is nothing to ask about beside one that was paid.
    if (free && !broughtAnything(period) && period.payments.conflicted.length === 0) return []
    const [payment] = Object.values(period.payments).flat() as PaymentSummary[]
    return orderExceptions(period).map((due) => (payment === undefined ? due : ofPeriod(due, payment.id)))
  })
}

/** Two periods may each ask the same; told apart, neither answers for the other. */
function ofPeriod(due: ExceptionDue, payment: string): ExceptionDue {
  if (due.cause.includes(payment)) return due
  return { ...due, cause: due.cause === '-' ? payment : `${due.cause}/${payment}` }
}

function severalOrders(reference: string, subscriptions: readonly SubscriptionSummary[]): ExceptionDue[] {
  return subscriptions
    .filter(({ orders }) => orders.length > 1)
    .map(({ id, orders }) => {
      const message = `Subscription ${id} is told to be for several orders (${orders.join(', ')}). What order ${reference} gives stays as it is: find out which one is right, and correct its messages at the provider.`
      return raise('fact_conflict', `subscription/${id}`, 'urgent', message)
    })
}

function sum(periods: readonly OrderStanding[], amountOf: (period: OrderStanding) => bigint): bigint {
  return periods.reduce((total, period) => total + amountOf(period), 0n)
}
