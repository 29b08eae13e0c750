import { applyDecisions, asWholePrice, type Ruling } from './apply-decisions.ts'
import type { OrderBook } from './order-state.ts'
import {
  addUp,
  type SortedPayments,
  type Sums,
  sameCurrency,
  sortPayments,
  surelyHeld,
} from './order-sums.ts'
import type { PaymentSummary } from './payment-state.ts'

/** What the order's own facts and sorted payments amount to; what status, rights and exceptions are read from. */
export interface OrderStanding {
  readonly reference: string
  readonly terms: NonNullable<OrderBook['terms']>
  readonly closed: OrderBook['closed']
  readonly payments: SortedPayments
  readonly ruling: Ruling
  /** Money that fulfils; a payment that a person accepted counts as the whole price. */
  readonly timely: Sums
  /** All money in the order's currency, as it came: late and set aside too, which is ours to account for but fulfils nothing. */
  readonly all: Sums
  readonly late: Sums
  /** What suffices: what is asked for, less what the policy tolerates. */
  readonly enough_minor: bigint
  /** At some time the whole price was held, in time. */
  readonly paid_in_full: boolean
  /** Against what it is weighed what the order gives: the whole price, or by policy the part that was paid. Null: gives nothing. */
  readonly gives_for_minor: bigint | null
  /** And it still is: nothing below it has gone back for good. An open dispute does not count. */
  readonly covered: boolean
  readonly surplus_minor: bigint
}

/** Compares the payments with the terms and the decisions, and adds them up. */
export function standingOf(
  reference: string,
  terms: NonNullable<OrderBook['terms']>,
  { closed, decisions }: Pick<OrderBook, 'closed' | 'decisions'>,
  all_payments: readonly PaymentSummary[],
): OrderStanding {
  const ruling = applyDecisions(terms, closed, decisions)
  const payments = sortPayments(terms, ruling, all_payments)
  const { due_minor } = ruling
  const fulfilling = payments.timely.map((payment) =>
    ruling.accepted(payment) ? asWholePrice(payment, terms.currency, due_minor) : payment,
  )
  const timely = addUp(fulfilling)
  const late = addUp(payments.late)
  const own = [...payments.timely, ...payments.set_aside].filter((payment) =>
    sameCurrency(payment.currency, terms.currency),
  )
  const all = addUp([...own, ...payments.late])
  // An order that costs nothing still needs someone to say so: a payment of nothing that succeeded.
  const confirmed = payments.timely.some(
    (payment) => payment.status === 'succeeded' || payment.captured_minor > 0n,
  )
  const { tolerance_minor, partial_payments } = terms.policy
  const enough_minor = enoughOf(due_minor, tolerance_minor)
  const held_minor = surelyHeld(fulfilling)
  const paid_in_full = confirmed && held_minor >= enough_minor
  const beyond = all.net_minor - all.disputed_minor - due_minor
  const covered = paid_in_full && timely.net_minor >= enough_minor
  const surplus_minor = covered && beyond > tolerance_minor ? beyond : 0n
  const in_part = partial_payments === 'grant' && held_minor > 0n ? held_minor : null
  return {
    reference,
    terms,
    closed,
    payments,
    ruling,
    timely,
    all,
    late,
    enough_minor,
    paid_in_full,
    gives_for_minor: paid_in_full ? enough_minor : in_part,
    covered,
    surplus_minor,
  }
}

/** A tolerance never makes something that costs anything free. */
function enoughOf(due_minor: bigint, tolerance_minor: bigint): bigint {
  if (due_minor === 0n || tolerance_minor === 0n) return due_minor
  return due_minor > tolerance_minor ? due_minor - tolerance_minor : 1n
}
