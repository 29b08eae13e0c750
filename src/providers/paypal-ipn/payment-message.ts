import { disputeStatus } from '../../facts/dispute.ts'
import { type PaymentMilestone, paymentMilestone } from '../../facts/payment.ts'
import { refundMilestone } from '../../facts/refund.ts'
import { subscriptionStatus } from '../../facts/subscription.ts'
import type { PaypalMoney } from '../paypal/amount.ts'
import { paymentSubject, subscriptionSubject } from '../paypal/paypal-object.ts'
import { Unreadable } from '../unreadable.ts'
import type { Form } from './form.ts'
import {
  grossOf,
  type IpnSetup,
  optionalId,
  type Reading,
  referenceOf,
  requiredId,
  requiredTime,
  sizeOf,
  timeOf,
} from './ipn-message.ts'

type PaymentReader = (setup: IpnSetup, form: Form, gross: PaypalMoney) => Reading

/** What each `payment_status` means. */
const STATUSES: Readonly<Record<string, PaymentReader>> = {
  Completed: readCompleted,
  Pending: readPending,
  'In-Progress': (setup, form, gross) => reached(setup, form, gross, 'pending'),
  Created: (setup, form, gross) => reached(setup, form, gross, 'pending'),
  Processed: readProcessed,
  Denied: (setup, form, gross) => reached(setup, form, gross, 'failed'),
  Failed: (setup, form, gross) => reached(setup, form, gross, 'failed'),
  Expired: (setup, form, gross) => reached(setup, form, gross, 'expired'),
  Voided: (setup, form, gross) => reached(setup, form, gross, 'canceled'),
  Refunded: (setup, form, gross) => refunded(setup, form, gross, 'succeeded'),
  'Partially-Refunded': (setup, form, gross) => refunded(setup, form, gross, 'succeeded'),
  Reversed: (setup, form, gross) => disputed(setup, form, gross, 'needs_response'),
  Canceled_Reversal: (setup, form, gross) => disputed(setup, form, gross, 'won'),
}

/** A message with a `payment_status`. @throws Unreadable when status or amount is not one that we know */
export function readPayment(setup: IpnSetup, form: Form): Reading {
  const status = form.text('payment_status') ?? ''
  const read = Object.hasOwn(STATUSES, status) ? STATUSES[status] : undefined
  if (read === undefined) throw new Unreadable('payment_status is not one that we know')
  return read(setup, form, grossOf(form))
}

function readCompleted(setup: IpnSetup, form: Form, gross: PaypalMoney): Reading {
  if (form.text('txn_type') === 'adjustment')
    return disputed(setup, form, gross, gross.amount_minor < 0n ? 'lost' : 'won')
  if (gross.amount_minor < 0n) throw new Unreadable('mc_gross of a completed payment is below zero')
  return reached(setup, form, gross, 'succeeded')
}

/** Money that is only held is no money yet: it needs a capture, which is a transaction of its own. */
function readPending(setup: IpnSetup, form: Form, gross: PaypalMoney): Reading {
  if (gross.amount_minor < 0n) return refunded(setup, form, gross, 'pending')
  const reason = form.text('pending_reason')
  const held = reason === 'authorization' || reason === 'order'
  return reached(setup, form, gross, held ? 'authorized' : 'pending')
}

/** "Accepted", which old material does not explain: nothing is granted on it alone. */
function readProcessed(setup: IpnSetup, form: Form, gross: PaypalMoney): Reading {
  const lookups = setup.asks ? [{ object: 'payment', id: requiredId(form, 'txn_id') }] : []
  return { ...reached(setup, form, gross, 'pending'), lookups }
}

/**
 * The transaction is told as the one attempt of its payment, so that its time may differ by seconds from what REST
 * tells of the same money. A charge of a subscription names that and no order: it carries the subscription's reference
 * each time, and would pay for the first order again and again.
 */
function reached(setup: IpnSetup, form: Form, gross: PaypalMoney, milestone: PaymentMilestone) {
  if (gross.amount_minor < 0n) throw new Unreadable('mc_gross is below zero')
  const id = requiredId(form, 'txn_id')
  const subscription = optionalId(form, 'subscr_id') ?? optionalId(form, 'recurring_payment_id')
  const succeeded = milestone === 'succeeded'
  const paid = paymentMilestone(paymentSubject(setup.account, id), {
    milestone,
    attempt: id,
    ...gross,
    moved_at: succeeded ? timeOf(form, 'payment_date') : undefined,
    order: subscription === undefined ? referenceOf(setup, form) : undefined,
    method: form.text('payment_type'),
    subscription,
    reason: succeeded ? undefined : (form.text('pending_reason') ?? form.text('reason_code')),
  })
  const at = timeOf(form, 'payment_date')
  if (!succeeded || subscription === undefined || at === undefined) return { facts: [paid] }
  const active = subscriptionStatus(subscriptionSubject(setup.account, subscription), {
    status: 'active',
    at,
    period_end: timeOf(form, 'next_payment_date'),
    product: form.text('item_number'),
  })
  return { facts: [paid, active] }
}

/** A transaction of its own that gives a part of its parent back. */
function refunded(
  setup: IpnSetup,
  form: Form,
  gross: PaypalMoney,
  milestone: 'pending' | 'succeeded',
): Reading {
  if (gross.amount_minor >= 0n) throw new Unreadable('mc_gross of a refund is not below zero')
  const content = { refund: requiredId(form, 'txn_id'), milestone, ...sizeOf(gross) }
  return {
    facts: [refundMilestone(paymentSubject(setup.account, requiredId(form, 'parent_txn_id')), content)],
  }
}

/**
 * PayPal took money back, or returned it. Both name the payment; the case ties them together, and where none is named
 * the payment does.
 */
function disputed(
  setup: IpnSetup,
  form: Form,
  gross: PaypalMoney,
  status: 'needs_response' | 'won' | 'lost',
): Reading {
  if (status === 'needs_response' && gross.amount_minor >= 0n)
    throw new Unreadable('mc_gross of a reversal is not below zero')
  const payment = requiredId(form, 'parent_txn_id')
  const verdict = disputeStatus(paymentSubject(setup.account, payment), {
    dispute: optionalId(form, 'case_id') ?? payment,
    stage: 'chargeback',
    status,
    at: requiredTime(form, 'payment_date'),
    ...sizeOf(gross),
    reason: form.text('reason_code'),
  })
  return { facts: [verdict] }
}
