import { fieldIn, textIn } from '../field.ts'
import type { LabelledSecret, SecretOption } from '../secret.ts'
import type { Specimen } from '../specimen.ts'
import type { HmacScheme, MessageTranslate } from './index.ts'
import { exponentOf, hmac, parseDecimal, paymentMilestone, refundMilestone, Unreadable } from './index.ts'
import { hmacSample, PLAIN_SCHEME, signHmac } from './sample.ts'

/** A made-up gateway: time and body signed, amounts as decimal texts in major units. */
export const SCHEME: HmacScheme = {
  header: 'X-Gateway-Signature',
  algorithm: 'sha256',
  encoding: 'hex',
  prefix: 'sha256=',
  signed: '{time}.{body}',
  time: { header: 'X-Gateway-Time', unit: 's', tolerance_s: 300 },
}

export const translateGateway: MessageTranslate = (payload, context) => {
  const event_id = textIn(payload, 'id')
  const type = textIn(payload, 'type')
  if (type === 'payment.completed') {
    const order = textIn(payload, 'payment', 'order')
    const subject = context.payment(required(payload, 'payment', 'id'))
    return {
      event_id,
      facts: [paymentMilestone(subject, { milestone: 'succeeded', ...money(payload, 'payment'), order })],
    }
  }
  if (type === 'refund.completed') {
    const refund = required(payload, 'refund', 'id')
    const subject = context.payment(required(payload, 'refund', 'payment'))
    return {
      event_id,
      facts: [refundMilestone(subject, { refund, milestone: 'succeeded', ...money(payload, 'refund') })],
    }
  }
  return { event_id, ignored: 'this type means nothing to us' }
}

function money(payload: unknown, object: string) {
  const currency = required(payload, object, 'currency')
  const exponent = exponentOf(currency)
  const amount = parseDecimal(fieldIn(payload, object, 'amount'), exponent ?? 0)
  if (exponent === null || !amount.ok) throw new Unreadable('amount or currency is not exact')
  return { amount_minor: amount.amount_minor, currency }
}

function required(payload: unknown, ...path: readonly string[]): string {
  const text = textIn(payload, ...path)
  if (text === undefined) throw new Unreadable(`${path.join('.')} is missing`)
  return text
}

export function gateway(secrets: SecretOption, scheme: HmacScheme = SCHEME) {
  return hmac({ name: 'gateway', secrets, translate: translateGateway, ...scheme })
}

const older: LabelledSecret = { label: 'older', secret: 'gateway-key-2024' }
const newer: LabelledSecret = { label: 'newer', secret: 'gateway-key-2025' }

export const specimen: Specimen = {
  provider: gateway([older, newer]),
  providerOfSecond: gateway([newer]),
  secrets: [older, newer],
  sign: (body, secret, now_ms) => ({ method: 'POST', headers: signHmac(SCHEME, body, secret, now_ms), body }),
  headers: ['x-gateway-signature', 'x-gateway-time'],
  tolerance_s: 300,
  ofSamples: gateway([older], PLAIN_SCHEME),
  events: [
    {
      event: 'payment.completed',
      body: Buffer.from(hmacSample({ payment: 'pay_1', amount: '19.99', currency: 'USD', order: 'A-1' })),
      outcome: 'facts',
      facts: ['pay_1 / payment/succeeded'],
      payment: 'named',
    },
    {
      event: 'refund.completed',
      body: Buffer.from(
        '{"id":"msg_2","type":"refund.completed","refund":{"id":"rf_1","amount":"5.00","currency":"USD","payment":"pay_1"}}',
      ),
      outcome: 'facts',
      facts: ['pay_1 / refund/rf_1/succeeded'],
      payment: 'named',
    },
    {
      event: 'payer.updated',
      body: Buffer.from('{"id":"msg_3","type":"payer.updated"}'),
      outcome: 'ignored',
      facts: [],
      payment: 'none',
    },
  ],
  vectors: [
    {
      // RFC 4231, test case 2.
      name: 'SHA-256 over the body alone, hex',
      provider: gateway([{ label: 'rfc', secret: 'Jefe' }], {
        header: 'X-Sig',
        algorithm: 'sha256',
        encoding: 'hex',
      }),
      secret_label: 'rfc',
      now_ms: 1_760_000_000_000,
      delivery: {
        method: 'POST',
        headers: { 'x-sig': '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843' },
        body: Buffer.from('what do ya want for nothing?'),
      },
    },
    {
      // The worked example of GitHub's documentation on validating deliveries.
      name: 'SHA-256 with a prefix',
      provider: gateway([{ label: 'github', secret: "It's a Secret to Everybody" }], {
        header: 'X-Hub-Signature-256',
        algorithm: 'sha256',
        encoding: 'hex',
        prefix: 'sha256=',
      }),
      secret_label: 'github',
      now_ms: 1_760_000_000_000,
      delivery: {
        method: 'POST',
        headers: {
          'x-hub-signature-256': 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17',
        },
        body: Buffer.from('Hello, World!'),
      },
    },
    {
      // RFC 2202, HMAC-SHA-1 test case 2, in base64.
      name: 'SHA-1 over the body alone, base64',
      provider: gateway([{ label: 'rfc', secret: 'Jefe' }], {
        header: 'X-Sig',
        algorithm: 'sha1',
        encoding: 'base64',
      }),
      secret_label: 'rfc',
      now_ms: 1_760_000_000_000,
      delivery: {
        method: 'POST',
        headers: {
          'x-sig': Buffer.from('effcdf6ae5eb2fa2d27416d5f184df9c259a7c79', 'hex').toString('base64'),
        },
        body: Buffer.from('what do ya want for nothing?'),
      },
    },
  ],
}
