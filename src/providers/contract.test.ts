import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Translation } from '../facts/event.ts'
import { encodeContent } from '../facts/fact.ts'
import type { Delivery, Verified } from './contract.ts'
import type { Specimen } from './specimen.ts'

const here = dirname(fileURLToPath(import.meta.url))
const folders = readdirSync(here, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map((entry) => entry.name)
const docs = readFileSync(join(here, '../../docs/providers.md'), 'utf8')

const NOW_MS = 1_760_000_500_000
/** Who and where the buyer of all samples is. */
const PERSONAL = [
  'Mira',
  'Lind',
  'example.org',
  'Quince',
  'Flat 3',
  'Harbourton',
  '90210',
  '4242',
  'QxFingerprint',
]

function samplesOf(folder: string): readonly Buffer[] {
  const samples = join(here, folder, 'samples')
  if (!existsSync(samples)) return []
  return readdirSync(samples).map((name) => readFileSync(join(samples, name)))
}

it('finds the provider folders', () => {
  expect(folders).toEqual(expect.arrayContaining(['hmac', 'standard-webhooks', 'stripe']))
})

describe.each(folders)('%s', async (folder) => {
  const files = ['index.ts', 'verify.ts', 'translate.ts', 'sample.ts', 'vectors.ts', `${folder}.test.ts`]

  it('has the files that every provider has, samples and a section in docs/providers.md', () => {
    expect(files.filter((file) => !existsSync(join(here, folder, file)))).toEqual([])
    expect(samplesOf(folder).length).toBeGreaterThan(0)
    expect(docs).toMatch(new RegExp(`^## .*\`${folder}\``, 'm'))
  })

  const { specimen } = (await import(`./${folder}/vectors.ts`)) as { specimen: Specimen }
  const { provider, secrets, sign } = specimen
  const samples = samplesOf(folder)
  const sample = samples[0]!
  const good = sign(sample, secrets[0].secret, NOW_MS)

  const accepted: Verified = { refused: false, secret_label: '', signed_at_ms: null, signed_id: null }
  const translate = (body: Uint8Array): Translation => {
    const delivery = { ...good, body }
    const verified = provider.verify(good, NOW_MS)
    return provider.translate(delivery, verified.refused ? accepted : verified)
  }
  const refusedCode = (delivery: Delivery, now_ms = NOW_MS): string | null => {
    const answer = provider.verify(delivery, now_ms)
    if (!answer.refused) return null
    expect(answer.status).toBe(401)
    for (const { secret } of secrets) expect(answer.detail).not.toContain(secret)
    return answer.code
  }

  describe('verify', () => {
    it.each(specimen.vectors)('P02 accepts the vector: $name', (vector) => {
      expect(vector.provider.verify(vector.delivery, vector.now_ms)).toMatchObject({
        refused: false,
        secret_label: vector.secret_label,
      })
    })

    it.each(specimen.vectors)('P02 refuses the vector with one byte changed: $name', (vector) => {
      for (let at = 0; at < vector.delivery.body.length; at += 1) {
        const body = Buffer.from(vector.delivery.body)
        body[at] = body[at]! ^ 1
        expect(vector.provider.verify({ ...vector.delivery, body }, vector.now_ms).refused).toBe(true)
      }
    })

    it('P02 case-01 refuses any change of the body: a byte, a space, a newline, another encoding of the same JSON', () => {
      const text = sample.toString('utf8')
      const changed = [
        `${text} `,
        ` ${text}`,
        `${text}\n`,
        `\uFEFF${text}`,
        text.trimEnd().slice(0, -1),
        JSON.stringify(JSON.parse(text)),
        text.replaceAll('\n', '\r\n'),
        '',
      ]
      for (const body of changed)
        expect(refusedCode({ ...good, body: Buffer.from(body) })).toBe('signature_wrong')
      fc.assert(
        fc.property(fc.nat({ max: sample.length - 1 }), fc.integer({ min: 1, max: 255 }), (at, flip) => {
          const body = Buffer.from(sample)
          body[at] = body[at]! ^ flip
          expect(refusedCode({ ...good, body })).toBe('signature_wrong')
        }),
      )
    })

    it('P02 case-01 case-02 verifies bodies as sent: BOM, CRLF, final newline, beyond ASCII, not even UTF-8', () => {
      const text = sample.toString('utf8')
      const bodies = [
        Buffer.from(`\uFEFF${text}`),
        Buffer.from(text.replaceAll('\n', '\r\n')),
        Buffer.from(`${text}\n`),
        Buffer.from('{"name":"Ærø Łódź 🧾"}'),
        Buffer.from([0xff, 0xfe, 0x00, 0x80]),
        Buffer.alloc(0),
      ]
      for (const body of bodies) {
        expect(refusedCode(sign(body, secrets[0].secret, NOW_MS))).toBeNull()
        const latin = {
          ...sign(body, secrets[0].secret, NOW_MS).headers,
          'content-type': 'text/plain; charset=latin1',
        }
        expect(refusedCode({ method: 'POST', headers: latin, body })).toBeNull()
      }
    })

    it('P02 verifies any bytes that were signed', () => {
      fc.assert(
        fc.property(fc.uint8Array({ maxLength: 500 }), (body) => {
          expect(refusedCode(sign(body, secrets[0].secret, NOW_MS))).toBeNull()
        }),
      )
    })

    it('P03 case-03 allows the documented distance in time, both ways, and no second more', () => {
      const { tolerance_s } = specimen
      if (tolerance_s === null) {
        expect(refusedCode(good, NOW_MS + 10 ** 10)).toBeNull()
        return
      }
      const at = (seconds: number) => refusedCode(good, NOW_MS + seconds * 1000)
      expect([at(tolerance_s), at(-tolerance_s)]).toEqual([null, null])
      expect(at(tolerance_s + 1)).toBe('signature_stale')
      expect(at(-tolerance_s - 1)).toBe('signature_ahead')
      expect(at(-864_000)).toBe('signature_ahead')
    })

    it('P03 calls a forged stale delivery forged, so that nobody can fake a clock alarm', () => {
      const forged = sign(sample, `${secrets[0].secret.slice(0, -4)}AAAA`, NOW_MS)
      expect(refusedCode(forged, NOW_MS + 10 ** 9)).toBe('signature_wrong')
    })

    it.each(specimen.headers)('P04 case-05 refuses a missing, empty or odd %s with 401', (header) => {
      const value = String(good.headers[header])
      const odd = [
        undefined,
        '',
        ' ',
        ',',
        '=',
        'v1',
        'v1=',
        'v1,',
        't=',
        'a',
        value.slice(0, -1),
        `${value}0`,
        `${value.slice(0, -2)}é`,
        `${value.slice(0, -1)}\u0000`,
        value.slice(0, -64) + 'z'.repeat(64),
        'Ω'.repeat(64),
        '0'.repeat(100_000),
        [] as string[],
      ]
      for (const instead of odd) {
        const refused = refusedCode({ ...good, headers: { ...good.headers, [header]: instead } })
        expect([instead, refused]).toEqual([
          instead,
          expect.stringMatching(/^signature_(missing|malformed|wrong)$/),
        ])
      }
      expect(refusedCode(good)).toBeNull()
    })

    it('P04 case-05 takes repeated signature lines as one list, valid if any entry matches', () => {
      const [header] = specimen.headers
      const value = String(good.headers[header])
      const wrong = String(sign(Buffer.from('other'), secrets[0].secret, NOW_MS).headers[header])
      for (const repeated of [[value, wrong], [wrong, value], ['garbage', value], `${wrong}, ${value}`]) {
        expect(refusedCode({ ...good, headers: { ...good.headers, [header]: repeated } })).toBeNull()
      }
      expect(refusedCode({ ...good, headers: { ...good.headers, [header]: [wrong, wrong] } })).toBe(
        'signature_wrong',
      )
    })

    it.each(specimen.headers.slice(1))('P04 refuses a repeated %s', (header) => {
      const value = String(good.headers[header])
      for (const repeated of [[value, value], `${value}, ${value}`]) {
        expect(refusedCode({ ...good, headers: { ...good.headers, [header]: repeated } })).toBe(
          'signature_malformed',
        )
      }
    })

    it('P04 answers whatever headers and bodies come with a refusal, never with a throw', () => {
      const value = fc.oneof(
        fc.string({ unit: 'binary' }),
        fc.array(fc.string()),
        fc.constant(undefined),
        fc.constantFrom(...specimen.headers.map((header) => String(good.headers[header]))),
      )
      const headers = fc.record(Object.fromEntries(specimen.headers.map((header) => [header, value])))
      fc.assert(
        fc.property(headers, fc.uint8Array({ maxLength: 100 }), fc.maxSafeInteger(), (odd, body, now_ms) => {
          expect(refusedCode({ method: 'POST', headers: odd, body }, now_ms)).toMatch(/^signature_/)
        }),
        { numRuns: 500 },
      )
    })

    it('P05 accepts each of several secrets and tells which one matched', () => {
      for (const { label, secret } of secrets) {
        const answer = provider.verify(sign(sample, secret, NOW_MS), NOW_MS)
        expect(answer).toMatchObject({ refused: false, secret_label: label })
        expect(JSON.stringify(answer)).not.toContain(secret)
      }
      expect(provider.secrets.map((secret) => secret.label)).toEqual(secrets.map((secret) => secret.label))
    })

    it('P05 case-04 refuses a secret that belongs elsewhere', () => {
      expect(specimen.providerOfSecond.verify(good, NOW_MS)).toMatchObject({
        refused: true,
        code: 'signature_wrong',
      })
    })
  })

  describe('translate', () => {
    it('says something definite of every sample, the same each time', () => {
      for (const body of samples) {
        const once = translate(body)
        expect(translate(Buffer.from(body))).toEqual(once)
        expect(once.type).not.toBe('')
        expect(once.outcome === 'facts').toBe(once.facts.length > 0)
        expect(once.outcome === 'facts').toBe(once.reason === '')
      }
      expect(samples.map((body) => translate(body).outcome)).toContain('facts')
    })

    it('P55 keeps personal data out of facts and reasons', () => {
      expect(samples.some((body) => PERSONAL.some((word) => body.includes(word)))).toBe(true)
      for (const body of samples) {
        const { facts, reason } = translate(body)
        const kept = [
          reason,
          ...facts.flatMap((fact) => [fact.key, fact.subject, encodeContent(fact.content)]),
        ]
        for (const word of PERSONAL) expect(JSON.stringify(kept)).not.toContain(word)
      }
    })

    it('P18 states every amount as a bigint with its currency', () => {
      for (const fact of samples.flatMap((body) => translate(body).facts)) {
        const amounts = Object.entries(fact.content).filter(
          ([name, value]) => name.endsWith('_minor') && value !== undefined,
        )
        for (const [, value] of amounts) expect(typeof value).toBe('bigint')
        if (amounts.length > 0)
          expect(fact.content).toHaveProperty('currency', expect.stringMatching(/^[A-Z]{3}$/))
      }
    })

    it('P30 keeps what it cannot read as unreadable: no JSON, not UTF-8, cut off, of another shape', () => {
      const cut = sample.subarray(0, sample.length - 5)
      const odd = [
        Buffer.alloc(0),
        cut,
        Buffer.from([0xff, 0xfe]),
        Buffer.from('<xml/>'),
        ...['null', '[]', '5'].map(Buffer.from),
      ]
      for (const body of odd) {
        const { outcome, reason, facts } = translate(body)
        expect([outcome, facts]).toEqual([expect.stringMatching(/^(unreadable|ignored)$/), []])
        expect(reason).not.toBe('')
      }
      expect(translate(cut).outcome).toBe('unreadable')
    })

    it('P02 reads a body with a byte order mark like the same body without', () => {
      expect(translate(Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), sample]))).toEqual(translate(sample))
    })

    it('P30 never throws and never states an odd amount, whatever becomes of the fields of a sample', () => {
      fc.assert(
        fc.property(
          fc.constantFrom(...samples),
          fc.infiniteStream(fc.nat()),
          fc.infiniteStream(fc.jsonValue()),
          (body, where, what) => {
            const picks = where[Symbol.iterator]()
            const values = what[Symbol.iterator]()
            const root: unknown = JSON.parse(body.toString('utf8'))
            for (let change = 0; change < 4; change += 1)
              mutate(root, () => picks.next().value, values.next().value)
            const mutated = Buffer.from(JSON.stringify(root))
            const translation = translate(mutated)
            expect(translate(mutated)).toEqual(translation)
            expect(translation.outcome === 'facts').toBe(translation.facts.length > 0)
            for (const fact of translation.facts) {
              expect(fact.subject.kind === 'order' || fact.subject.id !== '').toBe(true)
              for (const [name, value] of Object.entries(fact.content)) {
                if (name.endsWith('_minor') && value !== undefined) expect(value >= 0n).toBe(true)
              }
            }
          },
        ),
        { numRuns: 500 },
      )
    })
  })
})

/** Replaces one field somewhere in the tree by another value. */
function mutate(root: unknown, pick: () => number, value: unknown): void {
  let node = root
  for (let depth = 0; depth < 8; depth += 1) {
    if (typeof node !== 'object' || node === null) return
    const names = Object.keys(node)
    if (names.length === 0) return
    const name = names[pick() % names.length]!
    const record = node as Record<string, unknown>
    const child = record[name]
    if (typeof child !== 'object' || child === null || pick() % 4 === 0) {
      record[name] = value
      return
    }
    node = child
  }
}
