import type { OrderBook } from './order-state.ts'
import { addUp, type SortedPayments, type Sums, sortPayments, surelyHeld } from './order-sums.ts'
import type { PaymentSummary } from './payment-state.ts'

/** What the order's own facts and sorted payments amount to; what status, rights and exceptions are read from. */
export interface OrderStanding {
  readonly reference: string
  readonly terms: NonNullable<OrderBook['terms']>
  readonly closed: OrderBook['closed']
  readonly payments: SortedPayments
  /** Money that fulfils. */
  readonly timely: Sums
  /** The same with late money, which is ours to account for but fulfils nothing. */
  readonly all: Sums
  readonly late: Sums
  /** At some time the whole price was held, in time. */
  readonly paid_in_full: boolean
  /** And it still is: nothing below it has gone back for good. An open dispute does not count. */
  readonly covered: boolean
  readonly surplus_minor: bigint
}

/** Compares the payments with the terms and adds them up. */
export function standingOf(
  reference: string,
  terms: NonNullable<OrderBook['terms']>,
  closed: OrderBook['closed'],
  all_payments: readonly PaymentSummary[],
): OrderStanding {
  const payments = sortPayments(terms, closed, all_payments)
  const timely = addUp(payments.timely)
  const late = addUp(payments.late)
  const all = addUp([...payments.timely, ...payments.late])
  const due_minor = terms.amount_minor
  // An order that costs nothing still needs someone to say so: a payment of nothing that succeeded.
  const confirmed = payments.timely.some(
    (payment) => payment.status === 'succeeded' || payment.captured_minor > 0n,
  )
  const paid_in_full = confirmed && surelyHeld(payments.timely) >= due_minor
  const beyond = all.net_minor - all.disputed_minor - due_minor
  const covered = paid_in_full && timely.net_minor >= due_minor
  const surplus_minor = covered && beyond > 0n ? beyond : 0n
  return { reference, terms, closed, payments, timely, all, late, paid_in_full, covered, surplus_minor }
}
