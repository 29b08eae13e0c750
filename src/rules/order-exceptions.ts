import type { ExceptionDue } from '../facts/exception.ts'
import { strictest, verdictsOf } from './entitlement-policy.ts'
import type { OrderStanding } from './order-standing.ts'
import { netOf } from './order-sums.ts'
import { UNTOLD_MONEY_ALERT_AFTER_MS } from './payment-exceptions.ts'
import type { PaymentSummary } from './payment-state.ts'
import type { Policy } from './policy.ts'
import { amountText, raise } from './raise.ts'
import { refundsDue } from './refunds-due.ts'

/** How long money for an order that nobody registered may wait: the order is usually about to be committed. */
export const UNKNOWN_ORDER_ALERT_AFTER_MS = 600_000

/** What a person should look at on this order. What is wrong inside one payment is that payment's own exception. */
export function orderExceptions(standing: OrderStanding): ExceptionDue[] {
  const late = [...lateMoney(standing), ...reopenedBy(standing)]
  return [
    ...misplacedMoney(standing),
    ...late,
    ...tooLittle(standing),
    ...tooMuch(standing),
    ...underReview(standing),
  ]
}

/** Money for an order that nobody has registered. */
export function unknownOrder(reference: string, payments: readonly PaymentSummary[]): ExceptionDue[] {
  const paid = payments.filter((payment) => payment.status !== 'linked' && payment.captured_minor > 0n)
  if (paid.length === 0) return []
  const amounts = paid.map(
    (payment) => `${amountText(payment.captured_minor, payment.currency)} (${payment.id})`,
  )
  const message = `Money came for order ${reference}, which is not registered: ${amounts.sort().join(', ')}. It is kept and settles by itself once the order is registered: register it, or refund the payment.`
  return [raise('unknown_order', '-', 'urgent', message, UNKNOWN_ORDER_ALERT_AFTER_MS)]
}

function misplacedMoney({ reference, terms, payments }: OrderStanding): ExceptionDue[] {
  const currency = payments.wrong_currency
    // A currency that nobody told is the payment's own exception.
    .filter((payment) => payment.captured_minor > 0n && payment.currency !== null)
    .map((payment) => {
      const paid = amountText(payment.captured_minor, payment.currency)
      const message = `Payment ${payment.id} brought ${paid}, and order ${reference} asks for ${amountText(terms.amount_minor, terms.currency)}. It does not count towards the order: refund it, or agree with the buyer.`
      return raise('currency_mismatch', payment.id, 'urgent', message)
    })
  const account = payments.wrong_account
    .filter((payment) => payment.captured_minor > 0n)
    .map((payment) => {
      const message = `Payment ${payment.id} came through account ${payment.account}, and order ${reference} may be paid only through ${terms.account}. It does not count towards the order: find out who used its reference, or refund the payment.`
      return raise('account_mismatch', payment.id, 'urgent', message)
    })
  return [...currency, ...account]
}

/** Where late money is surplus, it is told as such and not twice. */
function lateMoney(standing: OrderStanding): ExceptionDue[] {
  const { payments, surplus_minor } = standing
  if (surplus_minor > 0n) return []
  const by_itself = goingBack(standing)
  return payments.late
    .filter((payment) => netOf(payment) > 0n)
    .map((payment) => {
      const next = by_itself(payment)
        ? 'by policy it is given back by itself. Decide before that if the order is to be honoured'
        : 'reopen the order, or refund the payment'
      const message = `${cameLate(standing, payment)} Nothing is granted: ${next}.`
      return raise('paid_after_close', payment.id, by_itself(payment) ? 'warning' : 'urgent', message)
    })
}

/** By policy the order was reopened. A person hears of it, since what it gave may be gone meanwhile. */
function reopenedBy(standing: OrderStanding): ExceptionDue[] {
  const { payments, ruling, surplus_minor } = standing
  if (ruling.reopened || surplus_minor > 0n) return []
  return payments.reopening
    .filter((payment) => netOf(payment) > 0n)
    .map((payment) => {
      const message = `${cameLate(standing, payment)} By policy it counts, and the order is open again: decide to reopen it if that is well, or refund the payment if it cannot be fulfilled any more.`
      return raise('paid_after_close', payment.id, 'notice', message)
    })
}

function cameLate({ reference, terms, closed }: OrderStanding, payment: PaymentSummary): string {
  const ended = closed === null ? `expired at ${terms.expires_at}` : `was ${closed.how} at ${closed.at}`
  const moved = payment.moved_at === null ? 'at a time that no message tells' : `at ${payment.moved_at}`
  return `Payment ${payment.id} of ${amountText(netOf(payment), payment.currency)} moved ${moved}; order ${reference} ${ended}.`
}

/** Whether a policy gives money of this payment back. */
function goingBack(standing: OrderStanding): (payment: PaymentSummary) => boolean {
  const due = refundsDue(standing)
  return ({ namespace, account, id }) =>
    due.some((one) => one.payment === id && one.account === account && one.namespace === namespace)
}

function tooLittle(standing: OrderStanding): ExceptionDue[] {
  const { reference, terms, payments, timely, paid_in_full, gives_for_minor } = standing
  if (paid_in_full) return []
  // A function, since formatting costs more than deriving and most orders raise nothing.
  const due = () => amountText(terms.amount_minor, terms.currency)
  if (timely.net_minor > 0n) {
    const given = gives_for_minor === null ? 'Nothing is granted' : 'By policy it is granted all the same'
    const message = `Order ${reference} asks for ${due()} and has ${amountText(timely.net_minor, terms.currency)}. ${given}: ask the buyer for the rest, or refund what came.`
    return [raise('underpayment', '-', 'warning', message)]
  }
  return payments.timely
    .filter((payment) => payment.status === 'succeeded' && payment.captured_minor === 0n)
    .map((payment) => {
      const message = `Payment ${payment.id} succeeded without collecting anything, and order ${reference} asks for ${due()}. Nothing is granted: find out why nothing was charged.`
      return raise('amount_mismatch', payment.id, 'warning', message, UNTOLD_MONEY_ALERT_AFTER_MS)
    })
}

/**
 * Names what could be refunded. Surplus is an amount, not a payment, so every payment beyond the first that still holds
 * undisputed money is a candidate; which one it is, a person decides.
 */
function tooMuch(standing: OrderStanding): ExceptionDue[] {
  const { reference, terms, payments, surplus_minor } = standing
  if (surplus_minor === 0n) return []
  const by_itself = goingBack(standing)
  const surplus = amountText(surplus_minor, terms.currency)
  const due = amountText(terms.amount_minor, terms.currency)
  const holding = [...payments.timely, ...payments.late].filter(
    (payment) => netOf(payment) - payment.disputed_minor > 0n,
  )
  const set_aside = payments.set_aside.filter((payment) => netOf(payment) > 0n).map(setAside(reference))
  const [first, ...beyond] = holding
  // What people set aside already is not looked for a second time.
  const left = surplus_minor - payments.set_aside.reduce((sum, payment) => sum + netOf(payment), 0n)
  if (first === undefined || left <= 0n) return set_aside
  if (beyond.length === 0) {
    const next = by_itself(first)
      ? 'by policy the difference is given back by itself'
      : 'refund the difference, or agree with the buyer'
    const message = `Payment ${first.id} brought ${surplus} more than the ${due} that order ${reference} asks for. The order is granted: ${next}.`
    return [...set_aside, raise('amount_mismatch', first.id, 'warning', message)]
  }
  const candidates = beyond.map((payment) => {
    const repeated = payment.captured_minor === first.captured_minor
    const came = repeated ? 'looks like the same purchase paid again' : 'came on top'
    const message = `Order ${reference} asks for ${due} and has ${surplus} too much. Payment ${payment.id} of ${amountText(payment.captured_minor, payment.currency)} ${came}: ${by_itself(payment) ? 'by policy it is given back by itself' : 'it is a candidate for a refund'}, which does not touch what the order gives.`
    const severity = by_itself(payment) ? 'warning' : 'urgent'
    return raise(repeated ? 'duplicate_payment' : 'surplus_payment', payment.id, severity, message)
  })
  return [...set_aside, ...candidates]
}

function setAside(reference: string): (payment: PaymentSummary) => ExceptionDue {
  return (payment) => {
    const message = `Payment ${payment.id} was decided to be surplus of order ${reference} and still holds ${amountText(netOf(payment), payment.currency)}: refund it. That does not touch what the order gives.`
    return raise('surplus_payment', payment.id, 'urgent', message)
  }
}

const REVIEWED: Readonly<Partial<Record<keyof Policy, string>>> = {
  refund_failed: 'a refund came back to us',
  external_refund: "a refund was made in the provider's dashboard",
  dispute_won: 'a dispute was decided for us',
  dispute_partial: 'a dispute was decided in part',
}

/** The policy wants a person to say what the order still gives, and until they do it is suspended. */
function underReview({ reference, terms, timely, ruling, gives_for_minor }: OrderStanding): ExceptionDue[] {
  if (gives_for_minor === null || ruling.kept_until !== null) return []
  const verdicts = verdictsOf(timely, gives_for_minor, terms.policy, LONG_AFTER)
  if (!verdicts.some(({ review }) => review) || strictest(verdicts) !== 'suspended') return []
  return verdicts
    .filter(({ review }) => review)
    .map(({ option }) => {
      const message = `What order ${reference} gives is suspended, since ${REVIEWED[option]} and the policy \`${option}\` asks for a review: decide to keep access if it is to come back, or leave it and close this.`
      return raise('right_under_review', option, 'warning', message)
    })
}

/** When every grace is over; what is to be reviewed does not depend on the time. */
const LONG_AFTER = '9999-12-31T00:00:00Z'
