import { readFileSync } from 'node:fs'
import type { Translation } from '../../facts/event.ts'
import type { Fact } from '../../facts/fact.ts'
import { contentDigest, encodeContent } from '../../facts/fact.ts'
import type { DodoPaymentsOptions } from './index.ts'
import { dodoPayments } from './index.ts'

/** For the tests of this folder: its samples, and what the adapter makes of them. */

export const SECRET = 'whsec_qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq'

export function sample(name: string): Buffer {
  return readFileSync(new URL(`./samples/${name}.json`, import.meta.url))
}

/** A sample with some fields of `data` and of its envelope changed. */
export function changed(name: string, data: object, envelope: object = {}): Buffer {
  const message = JSON.parse(sample(name).toString('utf8'))
  return Buffer.from(JSON.stringify({ ...message, ...envelope, data: { ...message.data, ...data } }))
}

export function translate(body: Buffer, options: Partial<DodoPaymentsOptions> = {}): Translation {
  const provider = dodoPayments({ webhookSecrets: SECRET, ...options })
  const verified = { refused: false, secret_label: '', signed_at_ms: null, signed_id: 'msg_1' } as const
  return provider.translate({ method: 'POST', headers: {}, body }, verified)
}

/** Subject, key and stated fields of each fact. */
export function told(facts: readonly Fact[]): readonly (readonly [string, string, object])[] {
  return facts.map(({ subject, key, content }) => {
    const id = subject.kind === 'order' ? subject.reference : subject.id
    const stated = Object.entries(content).filter(([, value]) => value !== undefined)
    return [id, key, Object.fromEntries(stated)] as const
  })
}

/** What the facts table tells two statements apart by. */
export function digests(facts: readonly Fact[]): readonly string[] {
  return facts.map(
    ({ subject, key, kind, content }) =>
      `${JSON.stringify(subject)} ${key} ${contentDigest(kind, encodeContent(content)).toString('hex')}`,
  )
}
