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
}

/** Makes the JSON text of a message. Sign it with `signHmac`. */
export function hmacSample(sample: HmacSample): string {
  return JSON.stringify({
    id: sample.event ?? `msg_${sample.payment}`,
    type: 'payment.completed',
    timestamp: '2025-10-09T08:53:20Z',
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
