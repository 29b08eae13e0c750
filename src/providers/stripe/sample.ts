import { createHash, createHmac } from 'node:crypto'
import type { SampleMaker } from '../sample-maker.ts'
import type {
  DisputeSample,
  FailureSample,
  RefundedSample,
  RefundSample,
  SessionSample,
  StripeSample,
} from './sample-object.ts'
import {
  charge,
  DEFAULT_TIME_S,
  dispute,
  failedCharge,
  failedIntent,
  intent,
  refund,
  refundedCharge,
  session,
  units,
} from './sample-object.ts'

export type { DisputeSample, FailureSample, RefundedSample, RefundSample, SessionSample, StripeSample }

/** Makes the JSON text of realistic events, API version 2026-10-28. Sign it with `signStripe`. */
export const stripeEvents = {
  checkoutCompleted: (sample: SessionSample) =>
    envelope('checkout.session.completed', sample, session(sample, sample.payment_status ?? 'paid')),
  checkoutAsyncSucceeded: (sample: SessionSample) =>
    envelope('checkout.session.async_payment_succeeded', sample, session(sample, 'paid')),
  checkoutAsyncFailed: (sample: SessionSample) =>
    envelope('checkout.session.async_payment_failed', sample, session(sample, 'unpaid')),
  paymentIntentCreated: (sample: StripeSample) =>
    envelope(
      'payment_intent.created',
      sample,
      intent(sample, 'requires_payment_method', { latest_charge: null }),
    ),
  paymentIntentProcessing: (sample: StripeSample) =>
    envelope('payment_intent.processing', sample, intent(sample, 'processing', {})),
  paymentIntentSucceeded: (sample: StripeSample) =>
    envelope(
      'payment_intent.succeeded',
      sample,
      intent(sample, 'succeeded', { amount_received: units(sample) }),
    ),
  paymentIntentCanceled: (sample: StripeSample) =>
    envelope(
      'payment_intent.canceled',
      sample,
      intent(sample, 'canceled', { cancellation_reason: 'abandoned', latest_charge: null }),
    ),
  paymentFailed: (sample: FailureSample) =>
    envelope('payment_intent.payment_failed', sample, failedIntent(sample)),
  chargeSucceeded: (sample: StripeSample) =>
    envelope('charge.succeeded', sample, charge(sample, { amount_captured: units(sample) })),
  chargeFailed: (sample: FailureSample) => envelope('charge.failed', sample, failedCharge(sample)),
  chargeRefunded: (sample: RefundedSample) => envelope('charge.refunded', sample, refundedCharge(sample)),
  refundCreated: (sample: RefundSample) => envelope('refund.created', sample, refund(sample, 'succeeded')),
  refundUpdated: (sample: RefundSample) => envelope('refund.updated', sample, refund(sample, 'succeeded')),
  refundFailed: (sample: RefundSample) => envelope('refund.failed', sample, refund(sample, 'failed')),
  disputeCreated: (sample: DisputeSample) =>
    envelope('charge.dispute.created', sample, dispute(sample, 'needs_response', [])),
  disputeUpdated: (sample: DisputeSample) =>
    envelope('charge.dispute.updated', sample, dispute(sample, 'under_review', [])),
  disputeClosed: (sample: DisputeSample) =>
    envelope('charge.dispute.closed', sample, dispute(sample, 'lost', [])),
  fundsWithdrawn: (sample: DisputeSample) =>
    envelope(
      'charge.dispute.funds_withdrawn',
      sample,
      dispute(sample, 'needs_response', [-BigInt(sample.amount_minor)]),
    ),
  fundsReinstated: (sample: DisputeSample) =>
    envelope(
      'charge.dispute.funds_reinstated',
      sample,
      dispute(sample, 'won', [-BigInt(sample.amount_minor), BigInt(sample.amount_minor)]),
    ),
}

/** The headers with which Stripe would send this body at that time. */
export function signStripe(
  body: string | Uint8Array,
  secret: string,
  now_ms: number,
): Record<string, string> {
  const t = Math.floor(now_ms / 1000)
  const digest = createHmac('sha256', secret).update(`${t}.`).update(body).digest('hex')
  return { 'content-type': 'application/json; charset=utf-8', 'stripe-signature': `t=${t},v1=${digest}` }
}

/** The JSON text of one snapshot event. */
export function envelope(
  type: string,
  sample: StripeSample,
  object: Readonly<Record<string, unknown>>,
): string {
  const created = sample.at_s ?? DEFAULT_TIME_S
  const { status } = object
  const identity = JSON.stringify([type, sample.payment, object.id, status ?? null, created])
  return JSON.stringify({
    id: sample.event ?? `evt_${createHash('sha256').update(identity).digest('hex').slice(0, 24)}`,
    object: 'event',
    ...(sample.account === undefined ? {} : { account: sample.account }),
    api_version: '2026-10-28.endive',
    created,
    data: { object },
    livemode: sample.live ?? false,
    pending_webhooks: 1,
    request: { id: null, idempotency_key: null },
    type,
  })
}

/** Event types by the sample that makes them, the commonest first. */
const MAKERS = {
  'charge.succeeded': stripeEvents.chargeSucceeded,
  'payment_intent.succeeded': stripeEvents.paymentIntentSucceeded,
  'checkout.session.completed': stripeEvents.checkoutCompleted,
  'checkout.session.async_payment_succeeded': stripeEvents.checkoutAsyncSucceeded,
  'checkout.session.async_payment_failed': stripeEvents.checkoutAsyncFailed,
  'payment_intent.created': stripeEvents.paymentIntentCreated,
  'payment_intent.processing': stripeEvents.paymentIntentProcessing,
  'payment_intent.canceled': stripeEvents.paymentIntentCanceled,
  'payment_intent.payment_failed': stripeEvents.paymentFailed,
  'charge.failed': stripeEvents.chargeFailed,
  'charge.refunded': stripeEvents.chargeRefunded,
  'refund.created': stripeEvents.refundCreated,
  'refund.updated': stripeEvents.refundUpdated,
  'refund.failed': stripeEvents.refundFailed,
  'charge.dispute.created': stripeEvents.disputeCreated,
  'charge.dispute.updated': stripeEvents.disputeUpdated,
  'charge.dispute.closed': stripeEvents.disputeClosed,
  'charge.dispute.funds_withdrawn': stripeEvents.fundsWithdrawn,
  'charge.dispute.funds_reinstated': stripeEvents.fundsReinstated,
} as const satisfies Readonly<Record<string, (sample: RefundedSample) => string>>

export const samples: SampleMaker = {
  events: Object.keys(MAKERS),
  steps: {
    paid: ['payment_intent.succeeded', 'charge.succeeded', 'checkout.session.completed'],
    failed: ['payment_intent.payment_failed', 'charge.failed'],
    refunded: ['refund.created'],
    dispute_opened: ['charge.dispute.created', 'charge.dispute.funds_withdrawn'],
    dispute_lost: ['charge.dispute.closed'],
    dispute_won: ['charge.dispute.funds_reinstated'],
  },
  currency: 'USD',
  payment: (seed) => `pi_${seed}`,
  make: (wish, secret, now_ms) => {
    const event = wish.event ?? 'charge.succeeded'
    const make = Object.hasOwn(MAKERS, event) ? MAKERS[event as keyof typeof MAKERS] : undefined
    if (make === undefined) throw new RangeError(`There is no sample of ${event}.`)
    const { payment, amount_minor, paid_minor, currency, live, at_s, order } = wish
    const about = { payment, amount_minor, currency, live, at_s, charged_minor: paid_minor ?? amount_minor }
    const body = make(order === undefined ? about : { ...about, order })
    return { method: 'POST', query: '', headers: signStripe(body, secret, now_ms), body }
  },
}
