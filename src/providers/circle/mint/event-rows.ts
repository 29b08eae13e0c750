import type { EventRow } from '../../specimen.ts'
import { intentOf, mintBody, mintPayment, mintRefund } from './sample.ts'

/** Every resource and status of Circle's tables for Mint, and what comes of it. */

const AT = '2025-10-09T08:53:20.000Z'
const PAYMENT = '66c56b6a-fc79-438b-8b94-aacc4f0f1801'
const INTENT = '6e4d4047-db14-4703-9a9a-7fb8a4a1d001'
const REFUND = '88e78d8c-1e91-45ad-8db6-ccee6b1b3a01'
const DISPUTE = '99f89e9d-2fa2-46be-9ec7-ddff7c2c4b01'
const MONEY = { amount: '52.43', currency: 'USD' }

export function paymentBody(status: string, changed: object = {}): Buffer {
  const payment = mintPayment({ id: PAYMENT, intent: INTENT, status, money: MONEY, at: AT })
  return Buffer.from(mintBody({ notificationType: 'payments', payment: { ...payment, ...changed } }, AT))
}

export function refundBody(type: 'refund' | 'cancel', status: string, changed: object = {}): Buffer {
  const refund = mintRefund({
    id: REFUND,
    payment: PAYMENT,
    status,
    money: { ...MONEY, amount: '5.00' },
    at: AT,
  })
  return Buffer.from(mintBody({ notificationType: 'payments', payment: { ...refund, type, ...changed } }, AT))
}

export function intentBody(status: string, changed: object = {}): Buffer {
  const intent = intentOf({ id: INTENT, status, money: MONEY, paymentIds: [], at: AT })
  return Buffer.from(
    mintBody({ notificationType: 'paymentIntents', paymentIntent: { ...intent, ...changed } }, AT),
  )
}

export function chargebackBody(status: string, types: readonly string[] = ['1st Chargeback']): Buffer {
  const history = types.map((type, at) => ({
    type,
    chargebackAmount: MONEY,
    description: '',
    createDate: new Date(Date.parse(AT) + at * 60_000).toISOString(),
  }))
  const chargeback = {
    id: DISPUTE,
    paymentId: PAYMENT,
    reasonCode: '10.4',
    status,
    history: history.reverse(),
  }
  return Buffer.from(mintBody({ notificationType: 'chargebacks', chargeback }, AT))
}

function other(type: string, resource: string, status: string): Buffer {
  return Buffer.from(
    mintBody({ notificationType: type, [resource]: { id: REFUND, amount: MONEY, status } }, AT),
  )
}

const named = (event: string, body: Buffer, ...keys: readonly string[]): EventRow => ({
  event,
  body,
  facts: keys.map((key) => `${PAYMENT} / ${key}`),
  outcome: 'facts',
  payment: 'named',
})

/** An intent with one payment, which it then stands in for. */
const joined = (event: string, status: string, changed: object, ...facts: readonly string[]): EventRow => ({
  event,
  body: intentBody(status, { paymentIds: [PAYMENT], ...changed }),
  facts: [`${INTENT} / link`, ...facts],
  outcome: 'facts',
  lookups: [{ object: 'payment', id: PAYMENT }],
  payment: 'linked',
})

const waiting = (status: string, milestone: string): EventRow => ({
  event: `paymentIntent ${status}, unpaid`,
  body: intentBody(status),
  facts: [`${INTENT} / payment/${milestone}`],
  outcome: 'facts',
  payment: 'linked',
})

const parked = (event: string, body: Buffer): EventRow => {
  return { event, body, facts: [], outcome: 'unreadable', payment: 'parked' }
}

/** The MessageId follows from the content, so the row asks the body for it. */
const chargeback = (status: string, told: string): EventRow => {
  const body = chargebackBody(status)
  const { MessageId } = JSON.parse(body.toString('utf8'))
  return named(`chargeback ${status}`, body, `dispute/${DISPUTE}/chargeback/${told}/${AT}/${MessageId}`)
}

export const mintEventRows: readonly EventRow[] = [
  named('payment pending', paymentBody('pending'), 'payment/pending'),
  named('payment action_required', paymentBody('action_required'), 'payment/requires_action'),
  named('payment confirmed', paymentBody('confirmed'), 'payment/pending'),
  named('payment paid', paymentBody('paid'), 'payment/succeeded'),
  named('payment failed', paymentBody('failed'), 'payment/failed'),
  named('payment reversed', paymentBody('reversed'), 'payment/reversed'),
  named(
    'payment failed, returned by the bank',
    paymentBody('failed', { errorCode: 'payment_returned' }),
    'payment/reversed',
  ),
  parked('payment in a status that nobody knows', paymentBody('teleported')),
  named('refund pending', refundBody('refund', 'pending'), `refund/${REFUND}/pending`),
  named('refund confirmed', refundBody('refund', 'confirmed'), `refund/${REFUND}/pending`),
  named('refund paid', refundBody('refund', 'paid'), `refund/${REFUND}/succeeded`),
  named('refund failed', refundBody('refund', 'failed'), `refund/${REFUND}/failed`),
  {
    event: 'refund paid, of a payment on a chain',
    body: refundBody('refund', 'paid', { originalPayment: undefined, paymentIntentId: INTENT }),
    facts: [`${INTENT} / refund/${REFUND}/succeeded`],
    outcome: 'facts',
    payment: 'linked',
  },
  named('cancel paid, of a paid payment', refundBody('cancel', 'paid'), `refund/${REFUND}/succeeded`),
  named(
    'cancel paid, of a confirmed payment',
    refundBody('cancel', 'paid', { originalPayment: { id: PAYMENT, status: 'confirmed' } }),
    'payment/canceled',
  ),
  waiting('created', 'created'),
  waiting('active', 'pending'),
  waiting('pending', 'pending'),
  waiting('expired', 'expired'),
  waiting('failed', 'failed'),
  joined('paymentIntent complete, paid', 'complete', {}),
  joined('paymentIntent complete, underpaid', 'complete', {
    timeline: [{ status: 'complete', context: 'underpaid', time: AT }],
  }),
  joined('paymentIntent expired, underpaid', 'expired', {
    timeline: [{ status: 'expired', context: 'underpaid', time: AT }],
  }),
  joined('paymentIntent complete, overpaid', 'complete', {
    timeline: [{ status: 'complete', context: 'overpaid', time: AT }],
  }),
  joined(
    'paymentIntent refunded',
    'refunded',
    { amountRefunded: { amount: '5.00', currency: 'USD' } },
    `${INTENT} / refund_total/payment/500`,
  ),
  chargeback('active', 'needs_response'),
  chargeback('pending', 'under_review'),
  chargeback('won', 'won'),
  chargeback('canceled', 'won'),
  chargeback('lost', 'lost'),
  chargeback('resolved', 'withdrawn'),
  parked('chargeback closed', chargebackBody('closed')),
  ...['payouts payout', 'transfers transfer', 'settlements settlement', 'deposits deposit'].flatMap(
    (both) => {
      const [type = '', resource = ''] = both.split(' ')
      return ['pending', 'complete', 'failed'].map((status): EventRow => {
        const body = other(type, resource, status)
        return { event: `${resource} ${status}`, body, facts: [], outcome: 'ignored', payment: 'none' }
      })
    },
  ),
]
