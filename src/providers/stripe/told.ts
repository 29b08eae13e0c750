import { readdirSync, readFileSync } from 'node:fs'
import type { Translation } from '../../facts/event.ts'
import type { StripeOptions } from './index.ts'
import { stripe } from './index.ts'

/** For the tests of this folder: its samples, and what the adapter makes of them. */

const SAMPLES = new URL('./samples/', import.meta.url)

export const SAMPLE_NAMES = readdirSync(SAMPLES).map((name) => name.replace(/\.json$/, ''))

export function sample(name: string): Buffer {
  return readFileSync(new URL(`${name}.json`, SAMPLES))
}

/** A sample with some fields of `data.object` and of its envelope changed. */
export function changed(name: string, object: object, envelope: object = {}): object {
  const event = JSON.parse(sample(name).toString('utf8'))
  return { ...event, ...envelope, data: { object: { ...event.data.object, ...object } } }
}

export function translate(body: string | Buffer | object, options: Partial<StripeOptions> = {}): Translation {
  const bytes = Buffer.isBuffer(body)
    ? body
    : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
  const provider = stripe({ webhookSecrets: 'whsec_forTestsOnly', ...options })
  const verified = { refused: false, secret_label: '', signed_at_ms: null, signed_id: null } as const
  return provider.translate({ method: 'POST', headers: {}, body: bytes }, verified)
}

/** Subject, key and stated fields of each fact, without the event that told it. */
export function told(body: string | Buffer | object): readonly (readonly [string, string, object])[] {
  return translate(body).facts.map(({ subject, key, content }) => {
    const id = subject.kind === 'order' ? subject.reference : subject.id
    const stated = Object.entries(content).filter(([name, value]) => value !== undefined && name !== 'event')
    return [id, key.replace(/\/evt_\w+$/, ''), Object.fromEntries(stated)] as const
  })
}
