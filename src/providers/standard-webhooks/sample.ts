import { createHmac } from 'node:crypto'
import type { SampleMaker } from '../sample-maker.ts'
import { secretKey } from './secret-key.ts'

/** What a sample message is about: a paid invoice in a made-up sender's payload, as the recommended form has it. */
export interface StandardWebhookSample {
  readonly payment: string
  readonly amount_minor: bigint | number
  /** ISO 4217 code. Default `USD`. */
  readonly currency?: string
  readonly order?: string
  /** Event type. Default `invoice.paid`. */
  readonly type?: string
  /** When it happened, ISO 8601 UTC. Default 2025-10-09T08:53:20Z. */
  readonly occurred_at?: string
}

/** Makes the JSON text of a message. Sign it with `signStandardWebhook`. */
export function standardWebhookSample(sample: StandardWebhookSample): string {
  const timestamp = sample.occurred_at ?? '2025-10-09T08:53:20Z'
  return JSON.stringify({
    type: sample.type ?? 'invoice.paid',
    timestamp,
    data: {
      id: sample.payment,
      object: 'invoice',
      status: 'paid',
      amount_total: Number(sample.amount_minor),
      currency: sample.currency ?? 'USD',
      order_id: sample.order ?? null,
      paid_at: timestamp,
    },
  })
}

/** The headers with which a sender that keeps to the specification would send this body at that time. */
export function signStandardWebhook(
  body: string | Uint8Array,
  secret: string,
  id: string,
  now_ms: number,
): Record<string, string> {
  const timestamp = Math.floor(now_ms / 1000)
  const digest = createHmac('sha256', secretKey('sample', secret, 'base64'))
    .update(`${id}.${timestamp}.`)
    .update(body)
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': `${timestamp}`,
    'webhook-signature': `v1,${digest.digest('base64')}`,
  }
}

export const samples: SampleMaker = {
  events: ['invoice.paid'],
  steps: { paid: ['invoice.paid'] },
  currency: 'USD',
  payment: (seed) => `inv_${seed}`,
  make: ({ event, order, amount_minor, currency, payment, at_s }, secret, now_ms) => {
    const body = standardWebhookSample({
      payment,
      amount_minor,
      currency,
      occurred_at: new Date(at_s * 1000).toISOString(),
      ...(event === undefined ? {} : { type: event }),
      ...(order === undefined ? {} : { order }),
    })
    return {
      method: 'POST',
      query: '',
      headers: signStandardWebhook(body, secret, `msg_${payment}`, now_ms),
      body,
    }
  },
}
