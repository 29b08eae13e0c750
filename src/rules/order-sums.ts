import { AFTERMATH_AMOUNTS, type Aftermath, NO_AFTERMATH } from './aftermath.ts'
import type { Ruling } from './apply-decisions.ts'
import { compareInstants, compareText, earliest, instantOf } from './instant.ts'
import type { OrderBook } from './order-state.ts'
import type { PaymentSummary } from './payment-state.ts'

/** Money of several payments added up, in the order's currency. */
export interface Sums extends Aftermath {
  readonly captured_minor: bigint
  readonly refunded_minor: bigint
  readonly lost_minor: bigint
  readonly reversed_minor: bigint
  readonly disputed_minor: bigint
  readonly refund_pending_minor: bigint
  /** captured - refunded - lost - reversed. */
  readonly net_minor: bigint
}

export function addUp(payments: readonly PaymentSummary[]): Sums {
  const sum = (field: Exclude<keyof Sums, 'net_minor' | keyof Aftermath>) =>
    payments.reduce((total, payment) => total + payment[field], 0n)
  return {
    ...aftermathsTogether(payments),
    captured_minor: sum('captured_minor'),
    refunded_minor: sum('refunded_minor'),
    lost_minor: sum('lost_minor'),
    reversed_minor: sum('reversed_minor'),
    disputed_minor: sum('disputed_minor'),
    refund_pending_minor: sum('refund_pending_minor'),
    net_minor: payments.reduce((total, payment) => total + netOf(payment), 0n),
  }
}

function aftermathsTogether(payments: readonly PaymentSummary[]): Aftermath {
  const known = payments.flatMap(({ aftermath }) => aftermath ?? [])
  if (known.length === 0) return NO_AFTERMATH
  const amounts = AFTERMATH_AMOUNTS.map(
    (name) => [name, known.reduce((sum, aftermath) => sum + aftermath[name], 0n)] as const,
  )
  const reversed_at = earliest(known.map((aftermath) => aftermath.reversed_at))
  return { ...NO_AFTERMATH, ...Object.fromEntries(amounts), reversed_at }
}

export function netOf(payment: PaymentSummary): bigint {
  return payment.captured_minor - payment.refunded_minor - payment.lost_minor - payment.reversed_minor
}

/** The order's payments, sorted into what each may do for it. */
export interface SortedPayments {
  /** Right currency, right account, money moved in time: these fulfil. First by when the money moved, then by id. */
  readonly timely: readonly PaymentSummary[]
  /** Those among them that came after the end and count because the policy reopens the order. */
  readonly reopening: readonly PaymentSummary[]
  /** As above, but the money moved after the order was closed or had expired, or nobody told when. */
  readonly late: readonly PaymentSummary[]
  readonly wrong_currency: readonly PaymentSummary[]
  readonly wrong_account: readonly PaymentSummary[]
  /** A person decided that these count for nothing. */
  readonly set_aside: readonly PaymentSummary[]
  readonly conflicted: readonly PaymentSummary[]
}

/** Compares each payment with the terms. Times are the provider's, so when a message came does not matter. */
export function sortPayments(
  terms: NonNullable<OrderBook['terms']>,
  ruling: Ruling,
  payments: readonly PaymentSummary[],
): SortedPayments {
  const last_instant = instantOf(ruling.open_until)
  const sorted: { [K in keyof SortedPayments]: PaymentSummary[] } = {
    timely: [],
    reopening: [],
    late: [],
    wrong_currency: [],
    wrong_account: [],
    set_aside: [],
    conflicted: [],
  }
  for (const payment of [...payments].sort(byMoved)) {
    if (payment.status === 'linked') continue
    if (payment.status === 'conflicted') sorted.conflicted.push(payment)
    else if (ruling.set_aside(payment)) sorted.set_aside.push(payment)
    else if (ruling.accepted(payment)) sorted.timely.push(payment)
    else if (terms.account !== null && payment.account !== terms.account) sorted.wrong_account.push(payment)
    else if (!sameCurrency(payment.currency, terms.currency)) sorted.wrong_currency.push(payment)
    else if (instantOf(payment.moved_at) <= last_instant) sorted.timely.push(payment)
    else if (ruling.reopens) {
      sorted.timely.push(payment)
      sorted.reopening.push(payment)
    } else sorted.late.push(payment)
  }
  return sorted
}

function byMoved(a: PaymentSummary, b: PaymentSummary): number {
  return (
    compareInstants(a.moved_at, b.moved_at) || compareText(a.id, b.id) || compareText(a.account, b.account)
  )
}

export function sameCurrency(a: string | null, b: string): boolean {
  return a !== null && a.toUpperCase() === b.toUpperCase()
}

/**
 * The most that was surely held at one time. When each refund or loss happened is not told, so each is taken to follow
 * its own payment at once: 60.00 paid and given back, then 60.00 paid again, was never 120.00.
 */
export function surelyHeld(payments: readonly PaymentSummary[]): bigint {
  let held = 0n
  let most = 0n
  for (const payment of payments) {
    if (held + payment.captured_minor > most) most = held + payment.captured_minor
    held += netOf(payment)
  }
  return most
}
