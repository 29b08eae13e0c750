import { exponentOf } from '../../money/currency.ts'
import { decimalText } from '../../money/format.ts'
import type { SampleMaker } from '../sample-maker.ts'
import type { HmacScheme } from './scheme.ts'
import { signedParts } from './scheme.ts'
import { digest } from './verify.ts'

/** What a sample message is about: a payment in a made-up gateway's payload. */
export interface HmacSample {
  readonly payment: string
  /** In major units, as many gateways send it: `19.99`. */
  readonly amount: string
  /** ISO 4217 code. Default `NPR`. */
  readonly currency?: string
  readonly order?: string
  /** Default: the payment id with `msg_`. */
  readonly event?: string
  /** When it happened, ISO 8601 UTC. Default 2025-10-09T08:53:20Z. */
  readonly occurred_at?: string
}

/** Makes the JSON text of a message. Sign it with `signHmac`. */
export function hmacSample(sample: HmacSample): string {
  return JSON.stringify({
    id: sample.event ?? `msg_${sample.payment}`,
    type: 'payment.completed',
    timestamp: sample.occurred_at ?? '2025-10-09T08:53:20Z',
    payment: {
      id: sample.payment,
      amount: sample.amount,
      currency: sample.currency ?? 'NPR',
      order: sample.order ?? null,
    },
  })
}

/** The headers with which a sender of this scheme would send this body at that time. */
export function signHmac(
  scheme: HmacScheme,
  body: string | Uint8Array,
  secret: string | Buffer,
  now_ms: number,
  id?: string,
): Record<string, string> {
  const time = scheme.time && `${Math.floor(scheme.time.unit === 's' ? now_ms / 1000 : now_ms)}`
  const key = typeof secret === 'string' ? Buffer.from(secret, 'utf8') : secret
  const signature = digest(scheme, signedParts('sample', scheme), key, { body, time, id })
  return {
    'content-type': 'application/json',
    [scheme.header.toLowerCase()]: `${scheme.prefix ?? ''}${signature.toString(scheme.encoding)}`,
    ...(scheme.time && time ? { [scheme.time.header.toLowerCase()]: time } : {}),
    ...(scheme.id && id ? { [scheme.id.header.toLowerCase()]: id } : {}),
  }
}

/** The plainest scheme: the digest of the body in hex. */
export const PLAIN_SCHEME: HmacScheme = { header: 'X-Signature', algorithm: 'sha256', encoding: 'hex' }

/** Messages of the made-up gateway, signed by `scheme`. */
export function hmacSamples(scheme: HmacScheme): SampleMaker {
  return {
    events: ['payment.completed'],
    steps: { paid: ['payment.completed'] },
    currency: 'NPR',
    payment: (seed) => `pay_${seed}`,
    make: ({ event, order, amount_minor, currency, payment, at_s }, secret, now_ms) => {
      if (event !== undefined && event !== 'payment.completed') {
        throw new RangeError(`There is no sample of ${event}.`)
      }
      const body = hmacSample({
        payment,
        amount: decimalText(amount_minor, exponentOf(currency) ?? 2),
        currency,
        occurred_at: new Date(at_s * 1000).toISOString(),
        ...(order === undefined ? {} : { order }),
      })
      const headers = signHmac(scheme, body, secret, now_ms, `msg_${payment}`)
      return { method: 'POST', query: '', headers, body }
    },
  }
}

export const samples = hmacSamples(PLAIN_SCHEME)
