import { decimalText } from '../money/format.ts'
import { hmacSample, signHmac } from '../providers/hmac/sample.ts'
import { signStandardWebhook, standardWebhookSample } from '../providers/standard-webhooks/sample.ts'
import { signStripe, stripeEvents } from '../providers/stripe/sample.ts'
import { WrongUsage } from './command.ts'

/** What a sample is about. */
export interface SampleWish {
  readonly type: string | undefined
  readonly order: string | undefined
  readonly amount_minor: bigint
  readonly currency: string
  readonly payment: string
  readonly live: boolean
}

export interface SampleMessage {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

type MakeSample = (wish: SampleWish, secret: string, now_ms: number) => SampleMessage

/** Signed samples by the name of their provider. */
export const SAMPLES: Readonly<Record<string, MakeSample>> = {
  stripe: stripeMessage,
  'standard-webhooks': (wish, secret, now_ms) => {
    const { type, order, ...rest } = wish
    const body = standardWebhookSample({
      ...rest,
      ...(type === undefined ? {} : { type }),
      ...(order === undefined ? {} : { order }),
      occurred_at: new Date(now_ms).toISOString(),
    })
    return { headers: signStandardWebhook(body, secret, `msg_${wish.payment}`, now_ms), body }
  },
  hmac: ({ order, amount_minor, currency, payment }, secret, now_ms) => {
    const body = hmacSample({
      payment,
      amount: decimalText(amount_minor, 2),
      currency,
      ...(order === undefined ? {} : { order }),
    })
    // The plainest scheme: the digest of the body in hex. Others are the gateway's own and need its own sender.
    const scheme = { header: 'x-signature', algorithm: 'sha256', encoding: 'hex' } as const
    return { headers: signHmac(scheme, body, secret, now_ms), body }
  },
}

/** Stripe's event types, by the name of the sample that makes them. */
const STRIPE = {
  'checkout.session.completed': 'checkoutCompleted',
  'payment_intent.created': 'paymentIntentCreated',
  'payment_intent.processing': 'paymentIntentProcessing',
  'payment_intent.succeeded': 'paymentIntentSucceeded',
  'payment_intent.canceled': 'paymentIntentCanceled',
  'payment_intent.payment_failed': 'paymentFailed',
  'charge.succeeded': 'chargeSucceeded',
  'charge.failed': 'chargeFailed',
  'refund.created': 'refundCreated',
  'refund.updated': 'refundUpdated',
  'refund.failed': 'refundFailed',
  'charge.dispute.created': 'disputeCreated',
  'charge.dispute.updated': 'disputeUpdated',
  'charge.dispute.closed': 'disputeClosed',
  'charge.dispute.funds_withdrawn': 'fundsWithdrawn',
  'charge.dispute.funds_reinstated': 'fundsReinstated',
} as const

function stripeMessage(wish: SampleWish, secret: string, now_ms: number): SampleMessage {
  const type = wish.type ?? 'charge.succeeded'
  if (!(type in STRIPE)) {
    throw new WrongUsage(`there is no sample of ${type}; there are ${Object.keys(STRIPE).join(', ')}`)
  }
  const { payment, amount_minor, currency, order, live } = wish
  const body = stripeEvents[STRIPE[type as keyof typeof STRIPE]]({
    payment,
    amount_minor,
    currency,
    live,
    at_s: Math.floor(now_ms / 1000),
    ...(order === undefined ? {} : { order }),
  })
  return { headers: signStripe(body, secret, now_ms), body }
}
