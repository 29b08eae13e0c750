import type { LookupRequest } from '../../facts/lookup.ts'
import type { LabelledSecret } from '../secret.ts'
import type { EventRow, Specimen } from '../specimen.ts'
import { paddle } from './index.ts'
import { idFrom, uuidFrom } from './made-up.ts'
import { sampleBody, signPaddle } from './sample.ts'

const older: LabelledSecret = { label: 'older', secret: 'pdl_ntfset_01vec2_old' }
const newer: LabelledSecret = { label: 'newer', secret: 'pdl_ntfset_01vec2_new' }

const AT_S = 1_760_000_000
const AT = '2025-10-09T08:53:20.000Z'
const TXN = idFrom('txn', 'A1001')
const SUB = idFrom('sub', TXN)
const PAID = `${TXN} / attempt/${uuidFrom('captured', TXN)}`
const DECLINED = `${TXN} / attempt/${uuidFrom('declined', TXN)}`

/** Signatures made with Node's crypto apart from this code and checked with the official SDK 3.10.0. */
export const specimen: Specimen = {
  provider: paddle({ webhookSecrets: [older, newer], apiKey: 'pdl_sdbx_apikey_01forTestsOnly' }),
  providerOfSecond: paddle({ webhookSecrets: [newer] }),
  secrets: [older, newer],
  sign: (body, secret, now_ms) => ({ method: 'POST', headers: signPaddle(body, secret, now_ms), body }),
  headers: ['paddle-signature'],
  tolerance_s: 300,
  vectors: [
    {
      name: 'one secret, compact body',
      provider: paddle({
        webhookSecrets: [{ label: 'only', secret: 'pdl_ntfset_01vec1_testVectorOne0123456789' }],
      }),
      secret_label: 'only',
      now_ms: 1_760_000_000_000,
      delivery: {
        method: 'POST',
        headers: {
          'paddle-signature':
            'ts=1760000000;h1=e150cffe28000f0fdf617cf8ceebeb26f29056910018ccdbc941da0fbb8e3bfb',
        },
        body: Buffer.from(
          '{"event_id":"evt_01vec100000000000000000000","event_type":"customer.created","occurred_at":"2025-10-09T08:53:20.123456Z","notification_id":"ntf_01vec100000000000000000000","data":{"id":"ctm_01vec100000000000000000000","name":null,"email":"a@example.com","marketing_consent":false,"status":"active","custom_data":null,"locale":"en","created_at":"2025-10-09T08:53:20.000Z","updated_at":"2025-10-09T08:53:20.000Z","import_meta":null}}',
        ),
      },
    },
    {
      name: 'the newer of two secrets, body beyond ASCII',
      provider: paddle({ webhookSecrets: [older, newer] }),
      secret_label: 'newer',
      now_ms: 1_760_000_123_000,
      delivery: {
        method: 'POST',
        headers: {
          'paddle-signature':
            'ts=1760000123;h1=ec74a6374da4f46792fc6690cca0ff08d4191c7c47d1d0e84dccecb08b96f5b3',
        },
        body: Buffer.from(
          '{"event_id":"evt_01vec200000000000000000000","event_type":"adjustment.updated","occurred_at":"2025-10-09T08:55:23.5Z","notification_id":"ntf_01vec200000000000000000000","data":{"id":"adj_vec2","reason":"Café ☕ – £5"}}',
        ),
      },
    },
  ],
  events: [
    named('transaction.created', [`${TXN} / payment/created`]),
    named('transaction.ready', [`${TXN} / payment/created`]),
    named('transaction.updated', [`${TXN} / payment/created`]),
    named('transaction.billed', [`${TXN} / payment/pending`]),
    named('transaction.paid', [`${TXN} / payment/pending`, `${PAID}/pending`]),
    named('transaction.completed', [`${TXN} / payment/succeeded`, `${PAID}/succeeded`]),
    named('transaction.payment_failed', [`${TXN} / payment/created`, `${DECLINED}/failed`]),
    named('transaction.past_due', [`${TXN} / payment/pending`, `${DECLINED}/failed`]),
    named('transaction.canceled', [`${TXN} / payment/canceled`]),
    silent('transaction.revised'),
    named('transaction.completed.renewal', [`${TXN} / payment/succeeded`, `${PAID}/succeeded`]),
    silent('transaction.completed.payment_method_change'),
    named('adjustment.created', [`${TXN} / refund/${adj('refund')}/pending`]),
    named('adjustment.updated', [`${TXN} / refund/${adj('refund')}/succeeded`]),
    named('adjustment.updated.rejected', [`${TXN} / refund/${adj('refund')}/failed`]),
    silent('adjustment.created.credit'),
    named('adjustment.created.chargeback', [
      `${TXN} / dispute/${adj('chargeback')}/chargeback/under_review/${AT}`,
      `${TXN} / dispute_funds/${adj('chargeback')}/withdrawn/${adj('chargeback')}`,
    ]),
    named('adjustment.updated.chargeback_reversed', [
      `${TXN} / dispute/${adj('chargeback')}/chargeback/won/${AT}`,
      `${TXN} / dispute_funds/${adj('chargeback')}/withdrawn/${adj('chargeback')}`,
    ]),
    named(
      'adjustment.created.chargeback_reverse',
      [
        `${TXN} / dispute/${adj('chargeback_reverse')}/chargeback/won/${AT}`,
        `${TXN} / dispute_funds/${adj('chargeback_reverse')}/reinstated/${adj('chargeback_reverse')}`,
      ],
      [{ object: 'transaction', id: TXN }],
    ),
    named('adjustment.created.chargeback_warning', [
      `${TXN} / dispute/${adj('chargeback_warning')}/early_warning/under_review/${AT}`,
    ]),
    named(
      'adjustment.created.chargeback_warning_reverse',
      [`${TXN} / dispute/${adj('chargeback_warning_reverse')}/early_warning/withdrawn/${AT}`],
      [{ object: 'transaction', id: TXN }],
    ),
    named('subscription.created', [status('subscription.created', 'active'), `${TXN} / payment/created`]),
    ...['activated', 'updated', 'resumed'].map((word) => standing(`subscription.${word}`, 'active')),
    standing('subscription.trialing', 'trialing'),
    standing('subscription.past_due', 'past_due'),
    standing('subscription.paused', 'paused'),
    standing('subscription.canceled', 'canceled'),
    silent('payout.created'),
    silent('payout.paid'),
  ],
}

function bodyOf(event: string): Buffer {
  const about = { payment: TXN, amount_minor: 2165n, currency: 'EUR', order: 'A-1001', live: true }
  return Buffer.from(sampleBody({ ...about, event, at_s: AT_S }))
}

function named(event: string, facts: readonly string[], lookups?: readonly LookupRequest[]): EventRow {
  return { event, body: bodyOf(event), facts, outcome: 'facts', lookups, payment: 'named' }
}

/** A statement about the subscription alone. */
function standing(event: string, reached: string): EventRow {
  return { event, body: bodyOf(event), facts: [status(event, reached)], outcome: 'facts', payment: 'none' }
}

function silent(event: string): EventRow {
  return { event, body: bodyOf(event), facts: [], outcome: 'ignored', payment: 'none' }
}

function status(event: string, reached: string): string {
  return `${SUB} / status/${AT}/${reached}/${idFrom('evt', event, TXN, 2165n, AT_S)}`
}

function adj(action: string): string {
  return idFrom('adj', action, TXN, 2165n)
}
