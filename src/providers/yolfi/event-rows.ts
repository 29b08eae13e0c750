import type { EventRow } from '../specimen.ts'
import { yolfiBody } from './sample.ts'

/** Every event of Yolfi's, as the shared suite checks it. */

const WISH = {
  order: 'A-1001',
  amount_minor: 2300n,
  currency: 'EUR',
  payment: 'inv_1',
  live: true,
  at_s: 1_760_000_000,
}

/** A message with other fields of its envelope and its data; undefined takes a field away. */
function made(event: string, envelope: object = {}, data: object = {}): Buffer {
  const message = JSON.parse(yolfiBody({ ...WISH, event }))
  const changed = { ...message, id: 'evt_1', ...envelope, data: { ...message.data, ...data } }
  return Buffer.from(JSON.stringify(changed))
}

function about(type: string): Buffer {
  const message = JSON.parse(yolfiBody(WISH))
  return Buffer.from(JSON.stringify({ ...message, id: 'evt_1', type }))
}

const TOLD = '2025-10-09T08:53:20.000Z'
const UNPRICED = { sourceAmount: undefined, currency: undefined }
const TRIAL = { id: 'evt_test_1', livemode: false }

export const eventRows: readonly EventRow[] = [
  {
    event: 'invoice.created',
    body: made('invoice.created'),
    facts: ['inv_1 / payment/created'],
    outcome: 'facts',
    payment: 'named',
  },
  {
    event: 'payment.confirmed',
    body: made('payment.confirmed'),
    facts: ['inv_1 / payment/succeeded'],
    outcome: 'facts',
    payment: 'named',
  },
  {
    event: 'payment.confirmed that tells no price',
    body: made('payment.confirmed', {}, UNPRICED),
    facts: ['inv_1 / payment/succeeded'],
    lookups: [{ object: 'payment', id: 'inv_1' }],
    outcome: 'facts',
    payment: 'named',
  },
  {
    event: 'payment.confirmed of a period',
    body: made('payment.confirmed', {}, { subscriptionId: 'sub_1' }),
    facts: ['inv_1 / payment/succeeded', `sub_1 / status/${TOLD}/active/evt_1`],
    outcome: 'facts',
    payment: 'named',
  },
  {
    event: 'payment.confirmed from the dashboard, as a trial',
    body: made('payment.confirmed', TRIAL, UNPRICED),
    facts: ['inv_1 / payment/succeeded'],
    outcome: 'facts',
    payment: 'named',
  },
  {
    event: 'payment.confirmed as a trial that says it is live',
    body: made('payment.confirmed', { ...TRIAL, livemode: true }),
    facts: [],
    outcome: 'unreadable',
    payment: 'parked',
  },
  {
    event: 'invoice.overdue',
    body: made('invoice.overdue'),
    facts: ['inv_1 / payment/expired'],
    outcome: 'facts',
    payment: 'named',
  },
  {
    event: 'subscription.overdue',
    body: made('subscription.overdue', {}, { subscriptionId: 'sub_1' }),
    facts: [`sub_1 / status/${TOLD}/past_due/evt_1`],
    outcome: 'facts',
    payment: 'none',
  },
  {
    event: 'subscription.cancelled',
    body: made('subscription.cancelled', {}, { subscriptionId: 'sub_1' }),
    facts: [`sub_1 / status/${TOLD}/canceled/evt_1`],
    outcome: 'facts',
    payment: 'none',
  },
  {
    event: 'an unknown one about money',
    body: about('payment.reversed'),
    facts: [],
    outcome: 'unreadable',
    payment: 'parked',
  },
  {
    event: 'an unknown one about something else',
    body: about('paylink.created'),
    facts: [],
    outcome: 'ignored',
    payment: 'none',
  },
]
