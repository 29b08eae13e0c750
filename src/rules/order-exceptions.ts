import type { ExceptionDue } from '../facts/exception.ts'
import type { OrderStanding } from './order-standing.ts'
import { netOf } from './order-sums.ts'
import { UNTOLD_MONEY_ALERT_AFTER_MS } from './payment-exceptions.ts'
import type { PaymentSummary } from './payment-state.ts'
import { DEFAULT_POLICY } from './policy.ts'
import { amountText, raise } from './raise.ts'

/** What a person should look at on this order. What is wrong inside one payment is that payment's own exception. */
export function orderExceptions(standing: OrderStanding): ExceptionDue[] {
  return [...misplacedMoney(standing), ...lateMoney(standing), ...tooLittle(standing), ...tooMuch(standing)]
}

/** Money for an order that nobody has registered. The order is usually about to be committed, so the alert waits. */
export function unknownOrder(reference: string, payments: readonly PaymentSummary[]): ExceptionDue[] {
  const paid = payments.filter((payment) => payment.status !== 'linked' && payment.captured_minor > 0n)
  if (paid.length === 0) return []
  const amounts = paid.map(
    (payment) => `${amountText(payment.captured_minor, payment.currency)} (${payment.id})`,
  )
  const message = `Money came for order ${reference}, which is not registered: ${amounts.sort().join(', ')}. It is kept and settles by itself once the order is registered: register it, or refund the payment.`
  return [raise('unknown_order', '-', 'urgent', message, DEFAULT_POLICY.unknown_order_alert_after_ms)]
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
function lateMoney({ reference, terms, closed, payments, surplus_minor }: OrderStanding): ExceptionDue[] {
  if (surplus_minor > 0n) return []
  return payments.late
    .filter((payment) => netOf(payment) > 0n)
    .map((payment) => {
      const ended = closed === null ? `expired at ${terms.expires_at}` : `was ${closed.how} at ${closed.at}`
      const moved = payment.moved_at === null ? 'at a time that no message tells' : `at ${payment.moved_at}`
      const message = `Payment ${payment.id} of ${amountText(netOf(payment), payment.currency)} moved ${moved}; order ${reference} ${ended}. Nothing is granted: register the order anew, or refund the payment.`
      return raise('paid_after_close', payment.id, 'urgent', message)
    })
}

function tooLittle({ reference, terms, payments, timely, paid_in_full }: OrderStanding): ExceptionDue[] {
  if (paid_in_full) return []
  // A function, since formatting costs more than deriving and most orders raise nothing.
  const due = () => amountText(terms.amount_minor, terms.currency)
  if (timely.net_minor > 0n) {
    const message = `Order ${reference} asks for ${due()} and has ${amountText(timely.net_minor, terms.currency)}. Nothing is granted: ask the buyer for the rest, or refund what came.`
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
function tooMuch({ reference, terms, payments, surplus_minor }: OrderStanding): ExceptionDue[] {
  if (surplus_minor === 0n) return []
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
    const message = `Payment ${first.id} brought ${surplus} more than the ${due} that order ${reference} asks for. The order is granted: refund the difference, or agree with the buyer.`
    return [...set_aside, raise('amount_mismatch', first.id, 'warning', message)]
  }
  const candidates = beyond.map((payment) => {
    const repeated = payment.captured_minor === first.captured_minor
    const came = repeated ? 'looks like the same purchase paid again' : 'came on top'
    const message = `Order ${reference} asks for ${due} and has ${surplus} too much. Payment ${payment.id} of ${amountText(payment.captured_minor, payment.currency)} ${came}: it is a candidate for a refund, which does not touch what the order gives.`
    return raise(repeated ? 'duplicate_payment' : 'surplus_payment', payment.id, 'urgent', message)
  })
  return [...set_aside, ...candidates]
}

function setAside(reference: string): (payment: PaymentSummary) => ExceptionDue {
  return (payment) => {
    const message = `Payment ${payment.id} was decided to be surplus of order ${reference} and still holds ${amountText(netOf(payment), payment.currency)}: refund it. That does not touch what the order gives.`
    return raise('surplus_payment', payment.id, 'urgent', message)
  }
}
