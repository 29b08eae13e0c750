import { createHmac } from 'node:crypto'
import type { SampleMaker, SampleMessage, SampleWish } from '../sample-maker.ts'
import {
  eventBody,
  idFrom,
  madeAdjustment,
  madeSubscription,
  madeTransaction,
  type TransactionMade,
  uuidFrom,
} from './made-up.ts'

/** The headers with which Paddle would send this body at that time. */
export function signPaddle(
  body: string | Uint8Array,
  secret: string,
  now_ms: number,
): Record<string, string> {
  const ts = Math.floor(now_ms / 1000)
  const h1 = createHmac('sha256', secret).update(`${ts}:`).update(body).digest('hex')
  return { 'content-type': 'application/json', 'paddle-signature': `ts=${ts};h1=${h1}` }
}

/** What each sample shows; a word after the type tells apart events that Paddle calls the same. */
const DATA: Readonly<Record<string, (wish: SampleWish) => object>> = {
  'transaction.completed': (wish) => transaction(wish, 'completed', 'captured'),
  'transaction.created': (wish) => transaction(wish, 'draft'),
  'transaction.ready': (wish) => transaction(wish, 'ready'),
  'transaction.updated': (wish) => transaction(wish, 'ready'),
  'transaction.billed': (wish) => transaction(wish, 'billed'),
  'transaction.paid': (wish) => transaction(wish, 'paid', 'captured'),
  'transaction.payment_failed': (wish) => transaction(wish, 'ready', 'error'),
  'transaction.past_due': (wish) =>
    transaction(wish, 'past_due', 'error', {
      origin: 'subscription_recurring',
      subscription: subscriptionOf(wish),
    }),
  'transaction.canceled': (wish) => transaction(wish, 'canceled'),
  'transaction.revised': (wish) => transaction(wish, 'completed', 'captured'),
  'transaction.completed.renewal': (wish) =>
    transaction(wish, 'completed', 'captured', {
      origin: 'subscription_recurring',
      subscription: subscriptionOf(wish),
    }),
  'transaction.completed.payment_method_change': (wish) =>
    transaction({ ...wish, amount_minor: 0n }, 'completed', undefined, {
      origin: 'subscription_payment_method_change',
      subscription: subscriptionOf(wish),
    }),
  'adjustment.created': (wish) => adjustment(wish, 'refund', 'pending_approval'),
  'adjustment.updated': (wish) => adjustment(wish, 'refund', 'approved'),
  'adjustment.updated.rejected': (wish) => adjustment(wish, 'refund', 'rejected'),
  'adjustment.created.credit': (wish) => adjustment(wish, 'credit', 'approved'),
  'adjustment.created.chargeback': (wish) => adjustment(wish, 'chargeback', 'approved'),
  'adjustment.updated.chargeback_reversed': (wish) => adjustment(wish, 'chargeback', 'reversed'),
  'adjustment.created.chargeback_reverse': (wish) => adjustment(wish, 'chargeback_reverse', 'approved'),
  'adjustment.created.chargeback_warning': (wish) => adjustment(wish, 'chargeback_warning', 'approved'),
  'adjustment.created.chargeback_warning_reverse': (wish) =>
    adjustment(wish, 'chargeback_warning_reverse', 'approved'),
  'subscription.created': (wish) => subscription(wish, 'active', { payment: wish.payment }),
  'subscription.activated': (wish) => subscription(wish, 'active'),
  'subscription.trialing': (wish) => subscription(wish, 'trialing'),
  'subscription.updated': (wish) => subscription(wish, 'active', { ending: true }),
  'subscription.past_due': (wish) => subscription(wish, 'past_due'),
  'subscription.paused': (wish) => subscription(wish, 'paused'),
  'subscription.resumed': (wish) => subscription(wish, 'active'),
  'subscription.canceled': (wish) => subscription(wish, 'canceled'),
  'payout.created': (wish) => payout(wish, 'unpaid'),
  'payout.paid': (wish) => payout(wish, 'paid'),
}

/** Paddle has no event for a chargeback that is lost: it then simply stays. Bodies do not tell live from sandbox. */
export const samples: SampleMaker = {
  events: Object.keys(DATA),
  steps: {
    paid: ['transaction.created', 'transaction.paid', 'transaction.completed'],
    failed: ['transaction.payment_failed'],
    refunded: ['adjustment.created', 'adjustment.updated'],
    dispute_opened: ['adjustment.created.chargeback'],
    dispute_won: ['adjustment.created.chargeback_reverse', 'adjustment.updated.chargeback_reversed'],
  },
  currency: 'USD',
  payment: (seed) => idFrom('txn', seed),
  make(wish, secret, now_ms): SampleMessage {
    const body = sampleBody(wish)
    return { method: 'POST', query: '', headers: signPaddle(body, secret, now_ms), body }
  },
}

/** @throws RangeError for an event that it cannot make */
export function sampleBody(wish: SampleWish): string {
  const event = wish.event ?? 'transaction.completed'
  if (!Object.hasOwn(DATA, event)) {
    throw new RangeError(`paddle has no sample "${event}". There are: ${Object.keys(DATA).join(', ')}.`)
  }
  const type = event.split('.').slice(0, 2).join('.')
  const id = idFrom('evt', event, wish.payment, wish.amount_minor, wish.at_s)
  return eventBody({ type, id, at_s: wish.at_s, data: DATA[event]!(wish) })
}

function transaction(
  wish: SampleWish,
  status: string,
  attempt?: 'captured' | 'error',
  more: Partial<TransactionMade> = {},
): object {
  const { payment, at_s } = wish
  const failed = {
    id: uuidFrom('declined', payment),
    status: 'error',
    at_s: at_s - 60,
    error_code: 'declined',
  }
  const captured = { id: uuidFrom('captured', payment), status: 'captured', at_s }
  const attempts = attempt === undefined ? [] : attempt === 'error' ? [failed] : [captured]
  return madeTransaction({
    id: payment,
    status,
    amount_minor: wish.paid_minor ?? wish.amount_minor,
    currency: wish.currency,
    order: wish.order,
    attempts,
    at_s,
    ...(wish.amount_minor === 0n ? { amount_minor: 0n } : {}),
    ...more,
  })
}

/** One refund or chargeback of one amount is one object, however many events tell of it. */
function adjustment(wish: SampleWish, action: string, status: string): object {
  return madeAdjustment({
    id: idFrom('adj', action, wish.payment, wish.amount_minor),
    action,
    status,
    payment: wish.payment,
    amount_minor: wish.amount_minor,
    currency: wish.currency,
    created_s: OPENED_S,
    updated_s: wish.at_s,
  })
}

// All events of one adjustment have to agree on when it was created, and none knows the time of another.
const OPENED_S = 1_760_000_000

function subscription(
  wish: SampleWish,
  status: string,
  more: { readonly payment?: string; readonly ending?: boolean } = {},
): object {
  return madeSubscription({
    id: subscriptionOf(wish),
    status,
    amount_minor: wish.amount_minor,
    currency: wish.currency,
    order: wish.order,
    at_s: wish.at_s,
    ends_s: wish.at_s + 30 * 86_400,
    ...more,
  })
}

function payout(wish: SampleWish, status: string): object {
  return {
    id: idFrom('pay', wish.payment),
    status,
    amount: String(wish.amount_minor),
    currency_code: wish.currency,
  }
}

function subscriptionOf(wish: SampleWish): string {
  return idFrom('sub', wish.payment)
}
