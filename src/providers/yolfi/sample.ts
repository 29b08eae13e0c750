import { createHash, createHmac } from 'node:crypto'
import { exponentOf } from '../../money/currency.ts'
import { decimalText } from '../../money/format.ts'
import { textIn } from '../field.ts'
import { parseJsonBody } from '../json-body.ts'
import type { SampleMaker, SampleMessage, SampleWish } from '../sample-maker.ts'

const EVENTS = [
  'payment.confirmed',
  'invoice.created',
  'invoice.overdue',
  'subscription.overdue',
  'subscription.cancelled',
]

/** Messages as Yolfi sends them to an endpoint without adapter. */
export const samples: SampleMaker = {
  events: EVENTS,
  steps: { paid: ['payment.confirmed'], failed: ['invoice.overdue'] },
  currency: 'EUR',
  payment: (seed) => `inv_${digestOf(seed, 12)}`,
  make: makeYolfiSample,
}

/**
 * @param secret the endpoint's signing secret
 * @throws RangeError for an event that is none of `samples.events`
 */
export function makeYolfiSample(wish: SampleWish, secret: string, _now_ms: number): SampleMessage {
  const body = yolfiBody(wish)
  return { method: 'POST', query: '', headers: signYolfi(body, secret), body }
}

/** The headers with which Yolfi would send this body. */
export function signYolfi(body: string | Uint8Array, secret: string): Record<string, string> {
  const id = idOf(typeof body === 'string' ? Buffer.from(body) : body)
  return {
    'content-type': 'application/json',
    'x-yolfi-signature': createHmac('sha256', secret).update(body).digest('base64'),
    ...(id === undefined ? {} : { 'x-yolfi-event-id': id }),
  }
}

function idOf(body: Uint8Array): string | undefined {
  try {
    return textIn(parseJsonBody(body), 'id')
  } catch {
    return undefined
  }
}

/** The JSON text of a message, unsigned. */
export function yolfiBody(wish: SampleWish): string {
  const type = wish.event ?? 'payment.confirmed'
  if (!EVENTS.includes(type)) throw new RangeError(`Yolfi has no sample of "${type}".`)
  const identity = JSON.stringify([type, wish.payment, `${wish.amount_minor}`, wish.at_s])
  return JSON.stringify({
    id: `evt_${wish.live ? '' : 'test_'}${digestOf(identity, 16)}`,
    type,
    created: wish.at_s,
    livemode: wish.live,
    orgId: 'org_qx_01',
    data: type.startsWith('subscription.') ? subscriptionData(wish) : paymentData(wish, type),
  })
}

const CUSTOMER = { email: 'mira.lind@example.org', clientReferenceId: 'user_qx_17' }

/** A payment as messages and the API show it. The token amount is what is left after a fee, in another unit. */
export function paymentData(wish: SampleWish, type: string) {
  const at = new Date(wish.at_s * 1000).toISOString()
  const source = decimalText(wish.amount_minor, exponentOf(wish.currency) ?? 2)
  return {
    invoiceId: wish.payment,
    checkoutSessionId: `ycs_${digestOf(wish.payment, 32)}`,
    ...(wish.order === undefined ? {} : { merchantOrderId: wish.order }),
    paymentType: 'ONE_TIME',
    status: type === 'payment.confirmed' ? 'CONFIRMED' : type === 'invoice.overdue' ? 'OVERDUE' : 'CREATED',
    productName: 'Book about cafés',
    amount: decimalText((wish.amount_minor * 10_750n * 99n) / 100n, 6),
    symbol: 'USDC',
    network: 'ARB',
    amountUsd: decimalText(wish.amount_minor * 10_750n * 10_000n, 10),
    sourceAmount: source,
    currency: wish.currency,
    customer: CUSTOMER,
    createdAt: at,
    updatedAt: at,
  }
}

function subscriptionData(wish: SampleWish) {
  return {
    subscriptionId: wish.payment.replace(/^inv_/, 'sub_'),
    paylinkId: '5b1f7c60-2222-4333-8444-555566667777',
    customerId: 'cus_qx_01',
    ...(wish.order === undefined ? {} : { merchantOrderId: wish.order }),
    paymentType: 'RECURRING',
    recurringInterval: 'MONTH',
    recurringIntervalCount: 1,
    subscriptionExpiresAt: new Date((wish.at_s + 86_400) * 1000).toISOString(),
    customer: CUSTOMER,
  }
}

function digestOf(text: string, length: number): string {
  return createHash('sha256').update(text).digest('hex').slice(0, length)
}
