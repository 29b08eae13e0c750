import type { EventRow } from '../specimen.ts'
import { depositOf, notificationBody, SAMPLE_TOKENS, sampleAddress, transferOf } from './sample.ts'
import { refundReference } from './transaction.ts'

/** Every type and state of Circle's tables for Wallets, and what comes of it. */

const AT = '2025-10-09T08:53:20.000Z'
const PAYMENT = '9b2f5d7c-1c2e-4b3a-8e4f-5a6b7c8d9e11'
const REFUND = '9b2f5d7c-1c2e-4b3a-8e4f-5a6b7c8d9e12'
const TOKEN = SAMPLE_TOKENS[0]!

/** The notification of a deposit of 52.43 USDC with some fields changed. */
export function depositBody(state: string, changed: object = {}): Buffer {
  const deposit = depositOf({
    id: PAYMENT,
    state,
    token: TOKEN,
    amount: '52.43',
    address: sampleAddress('A-1001'),
    at: AT,
  })
  return Buffer.from(notificationBody({ ...deposit, ...changed }, AT))
}

/** The notification of a transfer of 5 USDC with some fields changed; by its `refId` it gives money back. */
export function transferBody(state: string, changed: object = {}): Buffer {
  const base = { id: REFUND, state, token: TOKEN, amount: '5', address: '0x11', at: AT }
  const transfer = transferOf({ ...base, refId: refundReference(PAYMENT) })
  return Buffer.from(notificationBody({ ...transfer, ...changed }, AT))
}

/** A notification of another type. */
function other(notificationType: string, notification: object): Buffer {
  const event = JSON.parse(depositBody('COMPLETE').toString('utf8'))
  return Buffer.from(JSON.stringify({ ...event, notificationType, notification }))
}

const MILESTONES = {
  INITIATED: 'pending',
  CLEARED: 'pending',
  QUEUED: 'pending',
  PENDING_RISK_SCREENING: 'pending',
  WAITING: 'pending',
  SENT: 'pending',
  STUCK: 'pending',
  CONFIRMED: 'pending',
  COMPLETE: 'succeeded',
  FAILED: 'failed',
  DENIED: 'failed',
  CANCELED: 'canceled',
  CANCELLED: 'canceled',
} as const

export const eventRows: readonly EventRow[] = [
  ...Object.entries(MILESTONES).flatMap(([state, milestone]): EventRow[] => [
    {
      event: `transactions.inbound ${state}`,
      body: depositBody(state),
      facts: [`${PAYMENT} / payment/${milestone}`],
      outcome: 'facts',
      payment: 'named',
    },
    {
      event: `transactions.outbound ${state}, a refund by its refId`,
      body: transferBody(state),
      facts: [`${PAYMENT} / refund/${REFUND}/${milestone}`],
      outcome: 'facts',
      payment: 'named',
    },
    {
      event: `transactions.outbound ${state}, a payout`,
      body: transferBody(state, { refId: 'payout-17' }),
      facts: [],
      outcome: 'ignored',
      payment: 'none',
    },
  ]),
  {
    event: 'transactions.inbound in a state that nobody knows',
    body: depositBody('TELEPORTED'),
    facts: [],
    outcome: 'unreadable',
    payment: 'parked',
  },
  {
    event: 'transactions.inbound of a token that is not configured',
    body: depositBody('COMPLETE', { tokenId: '00aa11bb-22cc-43dd-84ee-55ff66aa77bb' }),
    facts: [],
    outcome: 'not_ours',
    payment: 'none',
  },
  ...[
    [
      'contracts.eventLog',
      { blockchain: 'ARC-TESTNET', txHash: '0x77', eventName: 'Paid', topics: [], data: '0x' },
    ],
    ['challenges.accelerateTransaction', { id: PAYMENT, status: 'COMPLETE' }],
    ['modularWallet.userOperation', { id: PAYMENT, state: 'COMPLETE' }],
    ['travelRule.transactions', { id: PAYMENT, state: 'COMPLETE' }],
    ['rampSession.completed', { id: PAYMENT }],
    ['webhooks.test', { hello: 'world' }],
  ].map(([type, notification]): EventRow => {
    const body = other(String(type), notification as object)
    return { event: String(type), body, facts: [], outcome: 'ignored', payment: 'none' }
  }),
  {
    event: 'transactions.new',
    body: other('transactions.new', { id: PAYMENT, state: 'COMPLETE' }),
    facts: [],
    outcome: 'unreadable',
    payment: 'parked',
  },
  {
    event: 'mint.payments',
    body: other('mint.payments', { id: PAYMENT, status: 'paid' }),
    facts: [],
    outcome: 'unreadable',
    payment: 'parked',
  },
]
