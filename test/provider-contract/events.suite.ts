import { describe, expect, it } from 'vitest'
import type { Translation } from '../../src/facts/event.ts'
import type { Fact } from '../../src/facts/fact.ts'
import type { EventRow } from '../../src/providers/specimen.ts'
import type { Tested } from './subject.ts'

/** The provider's table of events, row by row. */
export function eventsSuite(tested: Tested): void {
  const { events } = tested.specimen
  const seen = new Map<EventRow, Translation>()
  const reading = async (row: EventRow): Promise<Translation> => {
    const translation = seen.get(row) ?? (await tested.translate(row.body))
    seen.set(row, translation)
    return translation
  }

  /** Ids that a link fact of some row says to be another payment's. */
  const standIns = async (): Promise<ReadonlySet<string>> => {
    const facts = (await Promise.all(events.map(reading))).flatMap((translation) => translation.facts)
    return new Set(facts.filter(({ kind }) => kind === 'payment_link').map(subjectId))
  }

  it('has a row for every event of the table', () => {
    expect(events.length).toBeGreaterThan(0)
    expect(new Set(events.map((row) => row.event)).size).toBe(events.length)
  })

  describe.each(events)('$event', (row) => {
    it('P15 yields what its row says', async () => {
      const translation = await reading(row)
      expect(translation.facts.map((fact) => `${subjectId(fact)} / ${fact.key}`)).toEqual(row.facts)
      expect(translation).toMatchObject({ outcome: row.outcome })
      expect(translation.lookups ?? []).toEqual(row.lookups ?? [])
    })

    it('P15 names no id that the message does not carry', async () => {
      const translation = await reading(row)
      const { body, query = '' } = tested.deliver(row.body)
      const carried = carriedText(body, query)
      for (const id of idsOf(translation)) expect(isCarried(carried, id), id).toBe(true)
    })

    it(`P15 has its payment ${row.payment}, not guessed`, async () => {
      const { facts, lookups = [], outcome } = await reading(row)
      const money = facts.filter(({ subject, kind }) => subject.kind === 'payment' && kind !== 'payment_link')
      const away = await standIns()
      const stated = facts.filter(({ subject }) => subject.kind === 'payment')
      const waiting = money.filter((fact) => away.has(subjectId(fact)))
      switch (row.payment) {
        case 'named':
          expect(money.length + lookups.length).toBeGreaterThan(0)
          expect(waiting).toEqual([])
          return
        case 'linked':
          expect(stated.length).toBeGreaterThan(0)
          expect(stated.some((fact) => away.has(subjectId(fact))) || lookups.length > 0).toBe(true)
          return
        case 'parked':
          expect(facts.length + lookups.length > 0 || outcome === 'unreadable').toBe(true)
          expect(money.some((fact) => fact.kind === 'payment_milestone' && /succeeded$/.test(fact.key))).toBe(
            false,
          )
          return
        case 'none':
          expect(stated).toEqual([])
      }
    })
  })
}

function subjectId(fact: Fact): string {
  return fact.subject.kind === 'order' ? fact.subject.reference : fact.subject.id
}

/** Every id by which a translation ties things together. */
function idsOf({ facts, lookups = [] }: Translation): readonly string[] {
  const named = facts.flatMap((fact) => {
    const content: Readonly<Record<string, unknown>> = { ...fact.content }
    const tied = ['payment', 'attempt', 'refund', 'dispute', 'order', 'subscription'].map(
      (name) => content[name],
    )
    return [subjectId(fact), ...tied.filter((id) => typeof id === 'string')]
  })
  return [...named, ...lookups.map(({ id }) => id)]
}

/** The whole id, or each part of one that is made of several. */
function isCarried(carried: string, id: string): boolean {
  return carried.includes(id) || id.split(/[:/#~|,]/).every((part) => carried.includes(part))
}

/** The text of a message, with what it carries in forms, in queries and in base64. */
function carriedText(body: Uint8Array, query: string): string {
  const plain = Buffer.from(body).toString('utf8')
  const fields = [...new URLSearchParams(plain).values(), ...new URLSearchParams(query).values()]
  const encoded = [plain, ...fields].map((text) => Buffer.from(text, 'base64').toString('utf8'))
  const inner = plain.replaceAll('\\"', '"').replaceAll('\\/', '/')
  return [plain, inner, query, ...fields, ...encoded].join('\n')
}
