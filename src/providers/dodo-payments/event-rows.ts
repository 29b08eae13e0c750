import type { EventRow } from '../specimen.ts'
import { messageBody, paymentObject, subscriptionObject } from './objects.ts'
import { makeDodoSample } from './sample.ts'

/** Every event of Dodo's that can concern money, as the shared suite checks it. */

const SECRET = 'whsec_qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq'
const AT = '2025-10-09T08:53:20.000000Z'
/** Time that stands in the keys of what goes back and forth. */
const TOLD = '2025-10-09T08:53:20.000Z'

function made(event: string): Buffer {
  const wish = { event, order: 'A-1001', amount_minor: 2165n, currency: 'USD', payment: 'pay_1', live: false }
  return Buffer.from(makeDodoSample({ ...wish, at_s: 1_760_000_000 }, SECRET, 0).body)
}

function about(event: string, object: object): Buffer {
  return Buffer.from(messageBody(event, AT, object))
}

function row(
  event: string,
  fact: string | null,
  payment: EventRow['payment'],
  body: Buffer = made(event),
): EventRow {
  const facts = fact === null ? [] : [fact]
  return { event, body, facts, outcome: fact === null ? 'ignored' : 'facts', payment }
}

const PAYMENT = {
  payment: 'pay_1',
  amount: 2165,
  currency: 'USD',
  order: 'A-1001',
  status: 'succeeded',
  created_at: AT,
}
const SUBSCRIPTION = {
  subscription: 'sub_1',
  amount: 2000,
  currency: 'USD',
  order: 'A-1001',
  status: 'active',
  created_at: AT,
  next_billing_date: '2025-11-09T08:53:20.000000Z',
}
const shown = (event: string) => about(event, subscriptionObject(SUBSCRIPTION))

const IGNORED = [
  'license_key.created',
  'payout.created',
  'payout.on_hold',
  'payout.in_progress',
  'payout.success',
  'payout.failed',
  'dunning.started',
  'dunning.recovered',
  'abandoned_checkout.detected',
  'abandoned_checkout.recovered',
  'credit.added',
  'credit.deducted',
  'entitlement_grant.created',
  'entitlement_grant.revoked',
]

const dispute = (event: string, status: string) =>
  row(event, `pay_1 / dispute/dp_1/chargeback/${status}/${TOLD}`, 'named')
const subscription = (event: string, status: string) => row(event, `sub_1 / status/${TOLD}/${status}`, 'none')

export const eventRows: readonly EventRow[] = [
  row('payment.processing', 'pay_1 / payment/pending', 'named'),
  row('payment.succeeded', 'pay_1 / payment/succeeded', 'named'),
  {
    ...row(
      'payment.succeeded of a payment that is under way again',
      'pay_1 / payment/pending',
      'named',
      about('payment.succeeded', paymentObject({ ...PAYMENT, status: 'processing' })),
    ),
    lookups: [{ object: 'payment', id: 'pay_1' }],
  },
  row(
    'payment.processing of a payment that has succeeded meanwhile',
    'pay_1 / payment/succeeded',
    'named',
    about('payment.processing', paymentObject(PAYMENT)),
  ),
  row(
    'payment.succeeded for a change of the payment method',
    null,
    'none',
    about('payment.succeeded', {
      ...paymentObject({ ...PAYMENT, amount: 0, subscription: 'sub_1' }),
      is_update_payment_method: true,
    }),
  ),
  row('payment.failed', 'pay_1 / payment/failed', 'named'),
  row('payment.cancelled', 'pay_1 / payment/canceled', 'named'),
  row('refund.succeeded', 'pay_1 / refund/ref_1/succeeded', 'named'),
  row('refund.failed', 'pay_1 / refund/ref_1/failed', 'named'),
  dispute('dispute.opened', 'needs_response'),
  dispute('dispute.challenged', 'under_review'),
  dispute('dispute.accepted', 'accepted'),
  dispute('dispute.expired', 'lost'),
  dispute('dispute.cancelled', 'withdrawn'),
  dispute('dispute.won', 'won'),
  dispute('dispute.lost', 'lost'),
  subscription('subscription.active', 'active'),
  subscription('subscription.renewed', 'active'),
  subscription('subscription.past_due', 'past_due'),
  subscription('subscription.on_hold', 'unpaid'),
  subscription('subscription.paused', 'paused'),
  subscription('subscription.unpaused', 'active'),
  subscription('subscription.cancelled', 'canceled'),
  subscription('subscription.failed', 'expired'),
  subscription('subscription.expired', 'expired'),
  ...['subscription.plan_changed', 'subscription.updated', 'subscription.update_payment_method'].map(
    (event) => row(event, `sub_1 / status/${TOLD}/active`, 'none', shown(event)),
  ),
  ...IGNORED.map((event) => row(event, null, 'none', about(event, { payment_id: 'pay_1' }))),
]
