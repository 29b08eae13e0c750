import fc from 'fast-check'
import { expect, it } from 'vitest'
import { encodeContent } from '../../src/facts/fact.ts'
import type { Tested } from './subject.ts'

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

/** How a body is read, whatever it says. */
export function translateSuite(tested: Tested): void {
  const { specimen, samples, translate } = tested
  const sample = samples[0]!
  const form = specimen.syntax === 'form'

  it('says something definite of every sample, the same each time', async () => {
    const outcomes = []
    for (const body of samples) {
      const once = await translate(body)
      expect(await translate(Buffer.from(body))).toEqual(once)
      expect(once.type).not.toBe('')
      const tells = once.facts.length > 0 || (once.lookups ?? []).length > 0
      expect(once.outcome === 'facts').toBe(tells)
      expect(once.outcome === 'facts').toBe(once.reason === '')
      outcomes.push(once.outcome)
    }
    expect(outcomes).toContain('facts')
  })

  it('P55 keeps personal data out of facts and reasons', async () => {
    expect(samples.some((body) => PERSONAL.some((word) => body.includes(word)))).toBe(true)
    for (const body of samples) {
      const { facts, reason, lookups } = await translate(body)
      const kept = [
        reason,
        lookups,
        ...facts.flatMap((fact) => [fact.key, fact.subject, encodeContent(fact.content)]),
      ]
      for (const word of PERSONAL) expect(JSON.stringify(kept)).not.toContain(word)
    }
  })

  it('P18 states every amount as a bigint with its currency', async () => {
    for (const body of samples) {
      for (const fact of (await translate(body)).facts) {
        const amounts = Object.entries(fact.content).filter(
          ([name, value]) => name.endsWith('_minor') && value !== undefined,
        )
        for (const [, value] of amounts) expect(typeof value).toBe('bigint')
        if (amounts.length > 0) {
          expect(fact.content).toHaveProperty('currency', expect.stringMatching(/^[A-Z][A-Z0-9]{1,15}$/))
        }
      }
    }
  })

  it('P30 keeps what it cannot read as unreadable: no message, not UTF-8, cut off, of another shape', async () => {
    const cut = sample.subarray(0, sample.length - 5)
    const odd = [
      Buffer.alloc(0),
      Buffer.from([0xff, 0xfe]),
      Buffer.from('<xml/>'),
      ...['null', '[]', '5'].map((text) => Buffer.from(text)),
      ...(form ? [] : [cut]),
    ]
    for (const body of odd) {
      const { outcome, reason, facts } = await translate(body)
      expect([outcome, facts]).toEqual([expect.stringMatching(/^(unreadable|ignored)$/), []])
      expect(reason).not.toBe('')
    }
    if (!form) expect((await translate(cut)).outcome).toBe('unreadable')
  })

  if (!form) {
    it('P02 reads a body with a byte order mark like the same body without', async () => {
      const marked = Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), sample])
      expect(await translate(marked)).toEqual(await translate(sample))
    })
  }

  it('P30 never throws and never states an odd amount, whatever becomes of the fields of a sample', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...samples),
        fc.infiniteStream(fc.nat()),
        fc.infiniteStream(fc.jsonValue()),
        async (body, where, what) => {
          const mutated = withFieldsChanged(body, where[Symbol.iterator](), what[Symbol.iterator](), form)
          const translation = await translate(mutated)
          expect(await translate(mutated)).toEqual(translation)
          const tells = translation.facts.length > 0 || (translation.lookups ?? []).length > 0
          expect(translation.outcome === 'facts').toBe(tells)
          for (const { id } of translation.lookups ?? []) expect(id).not.toBe('')
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
}

/** The body with four fields changed. */
function withFieldsChanged(
  body: Buffer,
  where: Iterator<number>,
  what: Iterator<unknown>,
  form: boolean,
): Buffer {
  const root: unknown = form
    ? Object.fromEntries(new URLSearchParams(body.toString('utf8')))
    : JSON.parse(body.toString('utf8'))
  for (let change = 0; change < 4; change += 1) {
    mutate(root, () => Number(where.next().value), what.next().value)
  }
  if (!form) return Buffer.from(JSON.stringify(root))
  const fields = Object.entries(root as Record<string, unknown>).map(
    ([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)] as [string, string],
  )
  return Buffer.from(new URLSearchParams(fields).toString())
}

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
