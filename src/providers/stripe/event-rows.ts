import type { EventRow } from '../specimen.ts'
import { stripeEvents } from './sample.ts'

/** Every event of Stripe's that can concern money, as the shared suite checks it. */

const ABOUT = {
  payment: 'pi_1',
  amount_minor: 5243,
  currency: 'EUR',
  order: 'A-1001',
  event: 'evt_1',
  charged_minor: 5243,
} as const
/** Time and event that stand in the keys of what goes back and forth. */
const TOLD = '2025-10-09T08:53:20.000Z/evt_1'

type Fields = Readonly<Record<string, unknown>>

/** The event that a maker makes, under another type and with other fields of its object. */
function as(type: string, made: string, fields: Fields = {}): Buffer {
  const event = JSON.parse(made)
  return Buffer.from(
    JSON.stringify({ ...event, type, data: { object: { ...event.data.object, ...fields } } }),
  )
}

/** An event about an object of which there is no maker. */
function about(type: string, object: Fields): Buffer {
  const event = JSON.parse(stripeEvents.chargeSucceeded(ABOUT))
  return Buffer.from(JSON.stringify({ ...event, type, data: { object } }))
}

const session = (type: string, fields: Fields = {}) =>
  as(`checkout.session.${type}`, stripeEvents.checkoutCompleted(ABOUT), fields)
const intent = (type: string, fields: Fields = {}) =>
  as(`payment_intent.${type}`, stripeEvents.paymentIntentSucceeded(ABOUT), fields)
const charge = (type: string, fields: Fields = {}) =>
  as(`charge.${type}`, stripeEvents.chargeSucceeded(ABOUT), fields)
const refund = (type: string, status: string) => as(type, stripeEvents.refundCreated(ABOUT), { status })
const dispute = (type: string, status: string) =>
  as(`charge.dispute.${type}`, stripeEvents.disputeCreated(ABOUT), { status })
const moved = (type: string, made: string) => as(`charge.dispute.${type}`, made)

const INVOICE = {
  id: 'in_1',
  object: 'invoice',
  amount_paid: 5243,
  billing_reason: 'subscription_create',
  currency: 'eur',
  metadata: {},
  parent: { subscription_details: { metadata: { order_id: 'A-1001' }, subscription: 'sub_1' } },
  status_transitions: { paid_at: 1_760_000_000 },
}
const invoice = (type: string, fields: Fields = {}) => about(`invoice.${type}`, { ...INVOICE, ...fields })

const SUBSCRIPTION = {
  id: 'sub_1',
  object: 'subscription',
  items: { data: [{ current_period_end: 1_762_678_400, price: { id: 'price_1', product: 'prod_1' } }] },
  metadata: { order_id: 'A-1001' },
}
const subscription = (type: string, status: string) =>
  about(`customer.subscription.${type}`, { ...SUBSCRIPTION, status })

type Told = readonly [event: string, body: Buffer, ...facts: readonly string[]]

const NAMED: readonly Told[] = [
  ['checkout.session.completed, paid', session('completed'), 'pi_1 / payment/succeeded'],
  [
    'checkout.session.completed, unpaid',
    session('completed', { payment_status: 'unpaid' }),
    'pi_1 / payment/pending',
  ],
  [
    'checkout.session.completed, no_payment_required',
    session('completed', { payment_status: 'no_payment_required', payment_intent: null, amount_total: 0 }),
    'cs_test_1 / payment/succeeded',
  ],
  [
    'checkout.session.async_payment_succeeded',
    session('async_payment_succeeded'),
    'pi_1 / payment/succeeded',
  ],
  ['checkout.session.async_payment_failed', session('async_payment_failed'), 'pi_1 / payment/failed'],
  ['payment_intent.created', intent('created', { latest_charge: null }), 'pi_1 / payment/created'],
  ['payment_intent.requires_action', intent('requires_action'), 'pi_1 / payment/requires_action'],
  ['payment_intent.processing', intent('processing'), 'pi_1 / attempt/ch_1/pending'],
  [
    'payment_intent.amount_capturable_updated',
    intent('amount_capturable_updated'),
    'pi_1 / attempt/ch_1/authorized',
  ],
  ['payment_intent.partially_funded', intent('partially_funded'), 'pi_1 / payment/pending'],
  ['payment_intent.succeeded', intent('succeeded'), 'pi_1 / attempt/ch_1/succeeded'],
  ['payment_intent.payment_failed', intent('payment_failed'), 'pi_1 / attempt/ch_1/failed'],
  ['payment_intent.canceled', intent('canceled', { latest_charge: null }), 'pi_1 / payment/canceled'],
  ['charge.succeeded, captured', charge('succeeded'), 'pi_1 / attempt/ch_1/succeeded'],
  [
    'charge.succeeded, not captured',
    charge('succeeded', { captured: false }),
    'pi_1 / attempt/ch_1/authorized',
  ],
  ['charge.pending', charge('pending'), 'pi_1 / attempt/ch_1/pending'],
  ['charge.failed', charge('failed'), 'pi_1 / attempt/ch_1/failed'],
  ['charge.captured', charge('captured'), 'pi_1 / attempt/ch_1/succeeded'],
  ['charge.expired', charge('expired'), 'pi_1 / attempt/ch_1/expired'],
  ['charge.refunded', charge('refunded', { amount_refunded: 1500 }), 'pi_1 / refund_total/ch_1/1500'],
  ['refund.created, succeeded', refund('refund.created', 'succeeded'), 'pi_1 / refund/re_1/succeeded'],
  ['refund.created, pending', refund('refund.created', 'pending'), 'pi_1 / refund/re_1/pending'],
  [
    'refund.updated, requires_action',
    refund('refund.updated', 'requires_action'),
    'pi_1 / refund/re_1/requires_action',
  ],
  ['refund.updated, succeeded', refund('refund.updated', 'succeeded'), 'pi_1 / refund/re_1/succeeded'],
  ['refund.updated, canceled', refund('refund.updated', 'canceled'), 'pi_1 / refund/re_1/canceled'],
  ['refund.failed', refund('refund.failed', 'failed'), 'pi_1 / refund/re_1/failed'],
  ['charge.refund.updated', refund('charge.refund.updated', 'succeeded'), 'pi_1 / refund/re_1/succeeded'],
  [
    'charge.dispute.created',
    dispute('created', 'needs_response'),
    `pi_1 / dispute/du_1/chargeback/needs_response/${TOLD}`,
  ],
  [
    'charge.dispute.created, an inquiry',
    dispute('created', 'warning_needs_response'),
    `pi_1 / dispute/du_1/inquiry/needs_response/${TOLD}`,
  ],
  [
    'charge.dispute.updated',
    dispute('updated', 'under_review'),
    `pi_1 / dispute/du_1/chargeback/under_review/${TOLD}`,
  ],
  [
    'charge.dispute.updated, an appeal',
    dispute('updated', 'appeal_under_review'),
    `pi_1 / dispute/du_1/chargeback/under_review/${TOLD}`,
  ],
  ['charge.dispute.closed, won', dispute('closed', 'won'), `pi_1 / dispute/du_1/chargeback/won/${TOLD}`],
  ['charge.dispute.closed, lost', dispute('closed', 'lost'), `pi_1 / dispute/du_1/chargeback/lost/${TOLD}`],
  [
    'charge.dispute.closed, warning_closed',
    dispute('closed', 'warning_closed'),
    `pi_1 / dispute/du_1/inquiry/withdrawn/${TOLD}`,
  ],
  [
    'charge.dispute.closed, prevented',
    dispute('closed', 'prevented'),
    `pi_1 / dispute/du_1/chargeback/prevented/${TOLD}`,
  ],
  [
    'charge.dispute.funds_withdrawn',
    moved('funds_withdrawn', stripeEvents.fundsWithdrawn(ABOUT)),
    `pi_1 / dispute/du_1/chargeback/needs_response/${TOLD}`,
    'pi_1 / dispute_funds/du_1/withdrawn/txn_du_1_0',
  ],
  [
    'charge.dispute.funds_reinstated',
    moved('funds_reinstated', stripeEvents.fundsReinstated(ABOUT)),
    `pi_1 / dispute/du_1/chargeback/won/${TOLD}`,
    'pi_1 / dispute_funds/du_1/withdrawn/txn_du_1_0',
    'pi_1 / dispute_funds/du_1/reinstated/txn_du_1_1',
  ],
  [
    'radar.early_fraud_warning.created',
    about('radar.early_fraud_warning.created', {
      id: 'issfr_1',
      actionable: true,
      charge: 'ch_1',
      payment_intent: 'pi_1',
      fraud_type: 'unauthorized_use_of_card',
    }),
    `pi_1 / dispute/issfr_1/early_warning/needs_response/${TOLD}`,
  ],
  [
    'invoice.paid, out of band',
    invoice('paid', { id: 'in_2', amount_paid_off_stripe: 5243 }),
    'in_2 / payment/succeeded',
  ],
]

const LINKED: readonly Told[] = [
  [
    'checkout.session.completed, of a subscription',
    session('completed', {
      mode: 'subscription',
      payment_intent: null,
      invoice: 'in_1',
      subscription: 'sub_1',
    }),
    'in_1 / payment/created',
  ],
  ['invoice.paid', invoice('paid'), 'in_1 / payment/created'],
  ['invoice.payment_succeeded', invoice('payment_succeeded'), 'in_1 / payment/created'],
  ['invoice.payment_failed', invoice('payment_failed', { amount_paid: 0 }), 'in_1 / payment/created'],
  [
    'invoice_payment.paid',
    about('invoice_payment.paid', {
      id: 'inpay_1',
      amount_paid: 5243,
      invoice: 'in_1',
      is_default: true,
      payment: { type: 'payment_intent', payment_intent: 'pi_1' },
    }),
    'in_1 / link',
  ],
]

const PARKED: readonly Told[] = [
  [
    'checkout.session.expired',
    session('expired', { payment_intent: null, payment_status: 'unpaid', status: 'expired' }),
    'cs_test_1 / payment/expired',
  ],
]

const NO_PAYMENT: readonly Told[] = [
  ['charge.updated', charge('updated')],
  [
    'customer.subscription.created',
    subscription('created', 'incomplete'),
    `sub_1 / status/${status('incomplete')}`,
  ],
  ['customer.subscription.updated', subscription('updated', 'active'), `sub_1 / status/${status('active')}`],
  ['customer.subscription.paused', subscription('paused', 'paused'), `sub_1 / status/${status('paused')}`],
  ['customer.subscription.resumed', subscription('resumed', 'active'), `sub_1 / status/${status('active')}`],
  [
    'customer.subscription.deleted',
    subscription('deleted', 'canceled'),
    `sub_1 / status/${status('canceled')}`,
  ],
  ['payout.paid', about('payout.paid', { id: 'po_1', amount: 5243, currency: 'eur' })],
  ['payout.failed', about('payout.failed', { id: 'po_1', amount: 5243, currency: 'eur' })],
]

function status(reached: string): string {
  const [at, event] = TOLD.split('/')
  return `${at}/${reached}/${event}`
}

function rows(told: readonly Told[], payment: EventRow['payment']): readonly EventRow[] {
  return told.map(([event, body, ...facts]) => ({
    event,
    body,
    facts,
    outcome: facts.length > 0 ? 'facts' : 'ignored',
    payment,
  }))
}

export const eventRows: readonly EventRow[] = [
  ...rows(NAMED, 'named'),
  ...rows(LINKED, 'linked'),
  ...rows(PARKED, 'parked'),
  ...rows(NO_PAYMENT, 'none'),
]
