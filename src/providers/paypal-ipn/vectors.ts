import { idFrom } from '../paypal/made-up.ts'
import type { EventRow, Specimen } from '../specimen.ts'
import { paypalIpn } from './index.ts'
import { SAMPLE_RECEIVER, samples } from './sample.ts'

const PAYMENT = idFrom('payment', 'vector')
const SUBSCRIPTION = `I-${idFrom('subscription', PAYMENT).slice(0, 12)}`
const CASE = `PP-D-${idFrom('dispute', PAYMENT).slice(0, 8)}`
const AT_S = 1_760_000_000
const AT = '2025-10-09T08:53:20.000Z'

const secondId = (status: string) => idFrom(status, PAYMENT, 1999n, AT_S)
const attempt = (milestone: string) => [`${PAYMENT} / attempt/${PAYMENT}/${milestone}`]
const refund = (status: string) => [`${PAYMENT} / refund/${secondId(status)}/succeeded`]
const dispute = (stage: string, status: string) => [`${PAYMENT} / dispute/${CASE}/${stage}/${status}/${AT}`]
const subscribed = (status: string, at = AT) => [`${SUBSCRIPTION} / status/${at}/${status}`]
const EARLIEST = '1970-01-01T00:00:00.000Z'

type Row = readonly [facts: readonly string[], outcome: EventRow['outcome'], payment: EventRow['payment']]

/** What each message comes to at an endpoint without credentials for look-ups. */
const ROWS: Readonly<Record<string, Row>> = {
  'web_accept/Completed': [attempt('succeeded'), 'facts', 'named'],
  'web_accept/Pending': [attempt('pending'), 'facts', 'named'],
  'web_accept/Pending/authorization': [attempt('authorized'), 'facts', 'named'],
  'web_accept/In-Progress': [attempt('pending'), 'facts', 'named'],
  'web_accept/Created': [attempt('pending'), 'facts', 'named'],
  'web_accept/Processed': [attempt('pending'), 'facts', 'named'],
  'web_accept/Denied': [attempt('failed'), 'facts', 'named'],
  'web_accept/Failed': [attempt('failed'), 'facts', 'named'],
  'web_accept/Expired': [attempt('expired'), 'facts', 'named'],
  'web_accept/Voided': [attempt('canceled'), 'facts', 'named'],
  Refunded: [refund('Refunded'), 'facts', 'named'],
  'Partially-Refunded': [refund('Partially-Refunded'), 'facts', 'named'],
  Reversed: [dispute('chargeback', 'needs_response'), 'facts', 'named'],
  Canceled_Reversal: [dispute('chargeback', 'won'), 'facts', 'named'],
  'adjustment/Completed': [dispute('chargeback', 'lost'), 'facts', 'named'],
  'adjustment/Completed/credit': [dispute('chargeback', 'won'), 'facts', 'named'],
  new_case: [dispute('inquiry', 'needs_response'), 'facts', 'named'],
  subscr_signup: [subscribed('incomplete'), 'facts', 'none'],
  subscr_payment: [[...attempt('succeeded'), ...subscribed('active')], 'facts', 'named'],
  subscr_failed: [[], 'ignored', 'none'],
  subscr_cancel: [[], 'ignored', 'none'],
  subscr_eot: [subscribed('expired', EARLIEST), 'facts', 'none'],
  subscr_modify: [[], 'ignored', 'none'],
  recurring_payment_profile_created: [subscribed('incomplete'), 'facts', 'none'],
  recurring_payment: [[...attempt('succeeded'), ...subscribed('active')], 'facts', 'named'],
  recurring_payment_failed: [[], 'ignored', 'none'],
  recurring_payment_skipped: [[], 'ignored', 'none'],
  recurring_payment_profile_cancel: [subscribed('canceled', EARLIEST), 'facts', 'none'],
  recurring_payment_expired: [subscribed('expired', EARLIEST), 'facts', 'none'],
  mp_signup: [[], 'ignored', 'none'],
  mp_cancel: [[], 'ignored', 'none'],
  masspay: [[], 'ignored', 'none'],
}

const suspended = bodyOf('recurring_payment_skipped').replace('skipped', 'suspended')
const unknown = bodyOf('web_accept/Completed').replace('=Completed', '=Some-New-Status')

const events: readonly EventRow[] = [
  ...Object.entries(ROWS).map(
    ([event, [facts, outcome, payment]]): EventRow => ({
      event,
      body: Buffer.from(bodyOf(event)),
      facts,
      outcome,
      payment,
    }),
  ),
  ...[
    ['recurring_payment_suspended', suspended],
    [
      'recurring_payment_suspended_due_to_max_failed_payment',
      suspended.replace('_suspended', '_suspended_due_to_max_failed_payment'),
    ],
    ['unknown payment_status', unknown],
    ['unknown txn_type of a subscription', suspended.replace('_suspended', '_moved')],
  ].map(
    ([event = '', body = '']): EventRow => ({
      event,
      body: Buffer.from(body),
      facts: [],
      outcome: 'unreadable',
      payment: 'parked',
    }),
  ),
]

function bodyOf(event: string): string {
  const wish = { event, order: 'A-1001', amount_minor: 1999n, currency: 'EUR', payment: PAYMENT }
  return samples.make({ ...wish, live: false, at_s: AT_S }, '', 0).body
}

export const specimen: Specimen = {
  provider: paypalIpn({ environment: 'sandbox', receiverId: SAMPLE_RECEIVER }),
  providerOfSecond: null,
  secrets: [],
  sign: (body) => ({
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body,
  }),
  headers: [],
  tolerance_s: null,
  syntax: 'form',
  events,
  vectors: [],
}
