import { fieldIn, textIn } from '../field.ts'
import type { LabelledSecret, SecretOption } from '../secret.ts'
import type { Specimen } from '../specimen.ts'
import type { MessageTranslate } from './index.ts'
import { exponentOf, parseMinor, paymentMilestone, standardWebhooks, Unreadable } from './index.ts'
import { signStandardWebhook, standardWebhookSample } from './sample.ts'

/** The made-up sender of the samples: amounts in ISO minor units, currency in upper case. */
export const translateInvoice: MessageTranslate = (payload, context) => {
  const type = textIn(payload, 'type')
  if (type !== 'invoice.paid') return { ignored: 'this type means nothing to us' }
  const id = textIn(payload, 'data', 'id')
  const currency = textIn(payload, 'data', 'currency')
  const amount = parseMinor(fieldIn(payload, 'data', 'amount_total'))
  if (!id || !currency || exponentOf(currency) === null || !amount.ok)
    throw new Unreadable('a thin or odd invoice')
  const { amount_minor } = amount
  const order = textIn(payload, 'data', 'order_id')
  return {
    facts: [paymentMilestone(context.payment(id), { milestone: 'succeeded', amount_minor, currency, order })],
  }
}

export function sender(secrets: SecretOption) {
  return standardWebhooks({ name: 'invoicer', secrets, translate: translateInvoice })
}

const older: LabelledSecret = { label: 'older', secret: 'whsec_qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq' }
const newer: LabelledSecret = { label: 'newer', secret: 'whsec_VVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVV' }

/** Signatures made with the reference library `standardwebhooks` 1.1.1. */
export const specimen: Specimen = {
  provider: sender([older, newer]),
  providerOfSecond: sender([newer]),
  secrets: [older, newer],
  sign: (body, secret, now_ms) => ({
    method: 'POST',
    headers: signStandardWebhook(body, secret, 'msg_qx1001', now_ms),
    body,
  }),
  headers: ['webhook-signature', 'webhook-id', 'webhook-timestamp'],
  tolerance_s: 300,
  events: [
    {
      event: 'invoice.paid',
      body: Buffer.from(standardWebhookSample({ payment: 'inv_1', amount_minor: 5243, order: 'A-1' })),
      outcome: 'facts',
      facts: ['inv_1 / payment/succeeded'],
      payment: 'named',
    },
    {
      event: 'contact.created',
      body: Buffer.from('{"type":"contact.created","timestamp":"2025-10-09T08:53:20Z","data":{"id":"c_1"}}'),
      outcome: 'ignored',
      facts: [],
      payment: 'none',
    },
  ],
  vectors: [
    {
      name: 'one secret',
      provider: sender([{ label: 'only', secret: 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=' }]),
      secret_label: 'only',
      now_ms: 1_760_000_000_000,
      delivery: {
        method: 'POST',
        headers: {
          'webhook-id': 'msg_vec1',
          'webhook-timestamp': '1760000000',
          'webhook-signature': 'v1,/BVjA0PyQGEXV0Tl7VfcwIMAHuIa1GSb/UOllPL6aBQ=',
        },
        body: Buffer.from(
          '{"type":"contact.created","timestamp":"2025-10-09T08:53:20.000000Z","data":{"id":"c_1"}}',
        ),
      },
    },
    {
      name: 'both secrets of a rotation and an asymmetric entry, body beyond ASCII that ends in a newline',
      provider: sender([newer, older]),
      secret_label: 'newer',
      now_ms: 1_760_000_123_000,
      delivery: {
        method: 'POST',
        headers: {
          'webhook-id': 'msg_vec2',
          'webhook-timestamp': '1760000123',
          'webhook-signature':
            'v1,Wa/WXFhTIe28hZTpKjvyxW8sSNnFCQy/RJYtPhoS/mQ= v1a,AAAA v1,I0AmhdBecqUD2e56pGh3js7d4QXT1/E/ipdLI2/46QU=',
        },
        body: Buffer.from(
          '{"type":"note.created","timestamp":"2025-10-09T08:55:23Z","data":{"text":"Café ☕ – £5"}}\n',
        ),
      },
    },
  ],
}
