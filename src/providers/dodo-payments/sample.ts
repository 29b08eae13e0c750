import { createHash } from 'node:crypto'
import type { SampleMaker, SampleMessage, SampleWish } from '../sample-maker.ts'
import { signStandardWebhook } from '../standard-webhooks/sample.ts'
import {
  disputeObject,
  messageBody,
  partOf,
  paymentObject,
  refundObject,
  subscriptionObject,
} from './objects.ts'

/** What each event's object says of its state. */
const STATES: Readonly<Record<string, string>> = {
  'payment.succeeded': 'succeeded',
  'payment.processing': 'processing',
  'payment.failed': 'failed',
  'payment.cancelled': 'cancelled',
  'refund.succeeded': 'succeeded',
  'refund.failed': 'failed',
  'dispute.opened': 'dispute_opened',
  'dispute.challenged': 'dispute_challenged',
  'dispute.accepted': 'dispute_accepted',
  'dispute.expired': 'dispute_expired',
  'dispute.cancelled': 'dispute_cancelled',
  'dispute.won': 'dispute_won',
  'dispute.lost': 'dispute_lost',
  'subscription.active': 'active',
  'subscription.renewed': 'active',
  'subscription.past_due': 'past_due',
  'subscription.on_hold': 'on_hold',
  'subscription.paused': 'paused',
  'subscription.unpaused': 'active',
  'subscription.cancelled': 'cancelled',
  'subscription.failed': 'failed',
  'subscription.expired': 'expired',
}

/** Messages as Dodo Payments sends them. Live and test look alike: the secret tells them apart. */
export const samples: SampleMaker = {
  events: Object.keys(STATES),
  steps: {
    paid: ['payment.succeeded'],
    failed: ['payment.failed'],
    refunded: ['refund.succeeded'],
    dispute_opened: ['dispute.opened'],
    dispute_lost: ['dispute.lost'],
    dispute_won: ['dispute.won'],
  },
  currency: 'USD',
  payment: (seed) => `pay_${createHash('sha256').update(seed).digest('hex').slice(0, 20)}`,
  make: makeDodoSample,
}

/**
 * @param secret the endpoint's, `whsec_...`
 * @throws RangeError for an event that is none of `samples.events`
 */
export function makeDodoSample(wish: SampleWish, secret: string, now_ms: number): SampleMessage {
  const type = wish.event ?? 'payment.succeeded'
  const body = messageBody(type, isoOf(wish.at_s), objectOf(type, wish))
  const identity = JSON.stringify([type, wish.payment, `${wish.amount_minor}`, wish.at_s])
  const id = `msg_${createHash('sha256').update(identity).digest('hex').slice(0, 24)}`
  return { method: 'POST', query: '', headers: signStandardWebhook(body, secret, id, now_ms), body }
}

function objectOf(type: string, wish: SampleWish): object {
  const status = STATES[type]
  if (status === undefined) throw new RangeError(`Dodo Payments has no sample of "${type}".`)
  const { payment, currency, order } = wish
  const amount = Number(wish.amount_minor)
  const common = { payment, amount, currency, order, status, created_at: isoOf(wish.at_s - 20) }
  switch (type.split('.')[0]) {
    case 'refund': {
      const partial = wish.amount_minor !== (wish.paid_minor ?? wish.amount_minor)
      return refundObject({ ...common, refund: partOf(payment, 'ref'), partial })
    }
    case 'dispute':
      return disputeObject({
        ...common,
        dispute: partOf(payment, 'dp'),
        amount: `${amount}`,
        stage: 'dispute',
      })
    case 'subscription':
      return subscriptionObject({
        ...common,
        subscription: partOf(payment, 'sub'),
        next_billing_date: isoOf(wish.at_s + 30 * 86_400),
      })
    default:
      return paymentObject(common)
  }
}

/** As Dodo writes times: microseconds. */
function isoOf(at_s: number): string {
  return new Date(at_s * 1000).toISOString().replace('Z', '000Z')
}
