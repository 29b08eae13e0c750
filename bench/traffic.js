// Stripe-like deliveries, made and signed before the clock starts.
import { createHmac } from 'node:crypto'

/**
 * One signed delivery. `order` is the number of its payment and of its order; `paid` tells whether the event says
 * that money moved.
 * @typedef {{ event: string, order: number, paid: boolean, body: string, signature: string }} Delivery
 * @typedef {'single' | 'mixed'} Shape
 */

const ACCOUNT = '8sGq2LkTnVw4Ra'
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const SHUFFLED_PAYMENTS = 16
const COPY_DISTANCE = 48

/** What order `n` costs, in cents; the receivers' orders are registered with the same figure. */
export const amountOf = (n) => 1_000 + (n % 9_000)
export const referenceOf = (n) => `A-${1_000_000 + n}`
/** Stripe's ids begin with the time and end in noise, so they land near each other in an index, not in a row. */
export const paymentIdOf = (n) => `pi_3${base62(1_780_000_000 + (n >> 5), 6)}${ACCOUNT}0${noise(n)}`

/**
 * An endless stream of deliveries; equal arguments give equal streams, so two receivers can be sent the same.
 * `single`: one payment_intent.succeeded per payment. `mixed`: four events per payment, neighbours shuffled, and
 * one delivery in five a copy of an earlier one.
 * @param {{ secret: string, shape: Shape, first?: number, forged?: boolean }} options
 * @returns {Generator<Delivery, never>}
 */
export function* deliveries({ secret, shape, first = 0, forged = false }) {
  const key = forged ? `${secret}-of-someone-else` : secret
  const events = shape === 'single' ? singleEvents(first) : mixedEvents(first)
  for (const event of events) yield { ...event, signature: sign(event.body, key) }
}

function sign(body, secret) {
  const time = Math.floor(Date.now() / 1000)
  return `t=${time},v1=${createHmac('sha256', secret).update(`${time}.${body}`).digest('hex')}`
}

function* singleEvents(first) {
  for (let n = first; ; n++) yield event(n, 'payment_intent.succeeded')
}

const TYPES = [
  'payment_intent.created',
  'charge.succeeded',
  'payment_intent.succeeded',
  'checkout.session.completed',
]

function* mixedEvents(first) {
  const random = generator(first + 1)
  const copies = []
  for (let n = first; ; n += SHUFFLED_PAYMENTS) {
    const block = []
    for (let m = n; m < n + SHUFFLED_PAYMENTS; m++) for (const type of TYPES) block.push(event(m, type))
    shuffleSlightly(block, random)
    for (const each of block) {
      yield each
      // One copy for every fourth event makes one delivery in five a copy.
      if (random() < 0.25) copies.push({ in: Math.floor(random() * COPY_DISTANCE), copy: each })
      for (const waiting of copies) waiting.in--
      while (copies.length > 0 && copies[0].in < 0) yield copies.shift().copy
    }
  }
}

/** Swaps each event with one at most six places on, about how far parallel senders overtake each other. */
function shuffleSlightly(block, random) {
  for (let i = 0; i < block.length; i++) {
    const j = Math.min(block.length - 1, i + Math.floor(random() * 7))
    ;[block[i], block[j]] = [block[j], block[i]]
  }
}

/** Bodies are cut at their varying fields once, so that making and signing one takes microseconds. */
function event(n, type) {
  const id = `evt_3${base62(1_780_000_000 + (n >> 5), 6)}${ACCOUNT}${TYPES.indexOf(type)}${noise(n + 7)}`
  const fields = {
    event: id,
    payment: paymentIdOf(n),
    charge: `ch_3${base62(1_780_000_000 + (n >> 5), 6)}${ACCOUNT}1${noise(n + 1)}`,
    reference: referenceOf(n),
    amount: amountOf(n),
    created: 1_780_000_000 + (n >> 5),
    noise: noise(n + 2),
  }
  let body = ''
  const { parts, names } = TEMPLATES[type]
  for (let i = 0; i < names.length; i++) body += parts[i] + fields[names[i]]
  return { event: id, order: n, paid: type !== 'payment_intent.created', body: body + parts[names.length] }
}

// Below, '@name@' inside a text and '#name' instead of a number stand for the fields above.
const metadata = { order_id: '@reference@', cart: 'cart-@noise@', channel: 'web' }

const paymentIntent = {
  id: '@payment@',
  object: 'payment_intent',
  amount: '#amount',
  amount_capturable: 0,
  amount_received: '#amount',
  application: null,
  application_fee_amount: null,
  automatic_payment_methods: { allow_redirects: 'always', enabled: true },
  canceled_at: null,
  cancellation_reason: null,
  capture_method: 'automatic_async',
  client_secret: '@payment@_secret_@noise@',
  confirmation_method: 'automatic',
  created: '#created',
  currency: 'usd',
  customer: 'cus_@noise@',
  description: 'Order @reference@',
  last_payment_error: null,
  latest_charge: '@charge@',
  livemode: true,
  metadata,
  next_action: null,
  payment_method: 'pm_1@noise@',
  payment_method_options: { card: { network: null, request_three_d_secure: 'automatic' } },
  payment_method_types: ['card', 'link'],
  processing: null,
  receipt_email: null,
  shipping: null,
  statement_descriptor: null,
  status: 'succeeded',
  transfer_data: null,
}

const created = {
  amount_received: 0,
  latest_charge: null,
  payment_method: null,
  status: 'requires_payment_method',
}

const charge = {
  id: '@charge@',
  object: 'charge',
  amount: '#amount',
  amount_captured: '#amount',
  amount_refunded: 0,
  application: null,
  balance_transaction: null,
  billing_details: {
    address: { country: 'GB', postal_code: 'SW1A 1AA' },
    email: null,
    name: null,
    phone: null,
  },
  calculated_statement_descriptor: 'EXAMPLE SHOP',
  captured: true,
  created: '#created',
  currency: 'usd',
  customer: 'cus_@noise@',
  description: 'Order @reference@',
  disputed: false,
  failure_code: null,
  failure_message: null,
  fraud_details: {},
  livemode: true,
  metadata,
  outcome: { network_status: 'approved_by_network', reason: null, risk_level: 'normal', type: 'authorized' },
  paid: true,
  payment_intent: '@payment@',
  payment_method: 'pm_1@noise@',
  payment_method_details: {
    card: { brand: 'visa', country: 'GB', funding: 'debit', last4: '4242' },
    type: 'card',
  },
  receipt_email: null,
  refunded: false,
  shipping: null,
  status: 'succeeded',
}

const session = {
  id: 'cs_live_a1@noise@@noise@',
  object: 'checkout.session',
  amount_subtotal: '#amount',
  amount_total: '#amount',
  automatic_tax: { enabled: false, status: null },
  cancel_url: 'https://shop.example/basket',
  client_reference_id: '@reference@',
  created: '#created',
  currency: 'usd',
  customer: 'cus_@noise@',
  customer_details: { address: { country: 'GB' }, email: 'buyer@shop.example', tax_exempt: 'none' },
  expires_at: 1_790_000_000,
  invoice: null,
  livemode: true,
  locale: 'auto',
  metadata,
  mode: 'payment',
  payment_intent: '@payment@',
  payment_link: null,
  payment_method_collection: 'if_required',
  payment_method_types: ['card', 'link'],
  payment_status: 'paid',
  setup_intent: null,
  shipping_options: [],
  status: 'complete',
  submit_type: null,
  subscription: null,
  success_url: 'https://shop.example/thanks?session={CHECKOUT_SESSION_ID}',
  total_details: { amount_discount: 0, amount_shipping: 0, amount_tax: 0 },
  ui_mode: 'hosted',
  url: null,
}

const TEMPLATES = {
  'payment_intent.created': template('payment_intent.created', { ...paymentIntent, ...created }),
  'payment_intent.succeeded': template('payment_intent.succeeded', paymentIntent),
  'charge.succeeded': template('charge.succeeded', charge),
  'checkout.session.completed': template('checkout.session.completed', session),
}

function template(type, object) {
  const text = JSON.stringify({
    id: '@event@',
    object: 'event',
    api_version: '2025-09-30.clover',
    created: '#created',
    data: { object },
    livemode: true,
    pending_webhooks: 1,
    request: { id: 'req_@noise@', idempotency_key: 'checkout-@reference@' },
    type,
  })
  const parts = text.split(/"#\w+"|@[a-z]+@/)
  const names = [...text.matchAll(/"#(\w+)"|@([a-z]+)@/g)].map(([, number, name]) => number ?? name)
  return { parts, names }
}

function base62(value, digits) {
  let text = ''
  for (let i = 0, rest = value; i < digits; i++, rest = Math.floor(rest / 62)) text = BASE62[rest % 62] + text
  return text
}

/** Nine characters that look random and are a fixed one-to-one image of n (below 2^32), so ids never collide. */
function noise(n) {
  let x = (n ^ 0x5bd1e995) >>> 0
  x = Math.imul(x ^ (x >>> 16), 0x45d9f3b) >>> 0
  x = Math.imul(x ^ (x >>> 16), 0x119de1f3) >>> 0
  x = (x ^ (x >>> 16)) >>> 0
  return base62(x * 62 ** 3 + (n % 62 ** 3), 9)
}

/** A small seeded generator (mulberry32): the traffic of two runs is the same. */
function generator(seed) {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}
