import type { OrderStanding } from './order-standing.ts'
import type { RefundDue } from './order-state.ts'
import { netOf } from './order-sums.ts'
import type { PaymentSummary } from './payment-state.ts'

/**
 * What policies give back without asking anyone: money that came after the order's end (`paid_after_close: 'refund'`), and
 * what is more than was asked for (`surplus: 'refund'`). Taken from the payments that people set aside first, then from the
 * newest, so that the first ones go on paying. A payment that is disputed gives nothing: it may go back that way. What is
 * on its way back already is not given twice.
 */
export function refundsDue(standing: OrderStanding): RefundDue[] {
  const { terms, payments } = standing
  if (payments.conflicted.length > 0) return []
  const late = terms.policy.paid_after_close === 'refund' ? payments.late : []
  return [
    ...late.flatMap((payment) => dueOf(standing, 'late', payment, freeOf(payment))),
    ...surplusOf(standing, terms.policy.paid_after_close === 'refund'),
  ]
}

function surplusOf(standing: OrderStanding, without_late: boolean): RefundDue[] {
  const { terms, payments, surplus_minor } = standing
  if (terms.policy.surplus !== 'refund' || surplus_minor === 0n) return []
  const counted = [...payments.timely, ...(without_late ? [] : payments.late)]
  const own = [...payments.set_aside, ...counted.reverse()].filter(
    (payment) => payment.currency?.toUpperCase() === terms.currency.toUpperCase(),
  )
  const late_minor = without_late
    ? payments.late.reduce((sum, payment) => sum + netOf(payment) - payment.disputed_minor, 0n)
    : 0n
  const on_its_way = own.reduce((sum, payment) => sum + payment.refund_pending_minor, 0n)
  let left = surplus_minor - late_minor - on_its_way
  return own.flatMap((payment) => {
    const amount = left < freeOf(payment) ? left : freeOf(payment)
    if (amount <= 0n) return []
    left -= amount
    return dueOf(standing, 'surplus', payment, amount)
  })
}

/** What can be given back of a payment. */
function freeOf(payment: PaymentSummary): bigint {
  if (payment.disputed_minor > 0n || payment.status !== 'succeeded') return 0n
  const free = netOf(payment) - payment.refund_pending_minor
  return free > 0n ? free : 0n
}

function dueOf(
  { terms }: OrderStanding,
  reason: 'late' | 'surplus',
  payment: PaymentSummary,
  amount_minor: bigint,
): RefundDue[] {
  const { automatic_refund_max_minor: most, automatic_refund_after_ms: delay_ms } = terms.policy
  if (amount_minor <= 0n || (most !== null && amount_minor > most)) return []
  const { namespace, account, id, refunded_minor, refund_pending_minor } = payment
  return [
    {
      cause: `${reason}/${namespace}/${account}/${id}`,
      namespace,
      account,
      payment: id,
      amount_minor,
      currency: terms.currency,
      refunded_after_minor: refunded_minor + refund_pending_minor + amount_minor,
      delay_ms,
    },
  ]
}
