import { readdirSync, readFileSync } from 'node:fs'
import type { Translation } from '../../facts/event.ts'
import type { Fact } from '../../facts/fact.ts'
import type { PaddleOptions } from './index.ts'
import { paddle } from './index.ts'

/** For the tests of this folder: its samples, and what the adapter makes of them. */

const SAMPLES = new URL('./samples/', import.meta.url)

export const SECRET = 'pdl_ntfset_01forTestsOnly_abcdefghijklmnop'
export const SAMPLE_NAMES = readdirSync(SAMPLES).map((name) => name.replace(/\.json$/, ''))

export function sample(name: string): Buffer {
  return readFileSync(new URL(`${name}.json`, SAMPLES))
}

/** A sample with some fields of `data` and of its envelope changed. */
export function changed(name: string, data: object, envelope: object = {}): object {
  const event = JSON.parse(sample(name).toString('utf8'))
  return { ...event, ...envelope, data: { ...event.data, ...data } }
}

/** A sample of a transaction with some of its totals changed. */
export function totalled(name: string, totals: object, data: object = {}): object {
  const { details } = JSON.parse(sample(name).toString('utf8')).data
  return changed(name, { ...data, details: { ...details, totals: { ...details.totals, ...totals } } })
}

export function translate(body: string | Buffer | object, options: Partial<PaddleOptions> = {}): Translation {
  const bytes = Buffer.isBuffer(body)
    ? body
    : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
  const verified = { refused: false, secret_label: '', signed_at_ms: null, signed_id: null } as const
  const provider = paddle({ webhookSecrets: SECRET, ...options })
  return provider.translate({ method: 'POST', headers: {}, body: bytes }, verified)
}

/** Subject, key and stated fields of each fact, without the event that told it. */
export function told(
  body: string | Buffer | object,
  options: Partial<PaddleOptions> = {},
): readonly (readonly [string, string, object])[] {
  return shown(translate(body, options).facts)
}

export function shown(facts: readonly Fact[]): readonly (readonly [string, string, object])[] {
  return facts.map(({ subject, key, content }) => {
    const id = subject.kind === 'order' ? subject.reference : subject.id
    const stated = Object.entries(content).filter(([name, value]) => value !== undefined && name !== 'event')
    return [id, key.replace(/\/evt_\w+$/, ''), Object.fromEntries(stated)] as const
  })
}
