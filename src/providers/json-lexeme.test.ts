import fc from 'fast-check'
import { expect, it } from 'vitest'
import { parseJsonLexemes } from './json-lexeme.ts'
import { Unreadable } from './unreadable.ts'

const parse = (text: string) => parseJsonLexemes(Buffer.from(text))

it('P18 keeps every number as it was sent', () => {
  expect(parse('{"a":1000.0,"b":202603031012345678,"c":-1e5,"d":[0,"1.0"]}')).toEqual({
    a: '1000.0',
    b: '202603031012345678',
    c: '-1e5',
    d: ['0', '1.0'],
  })
})

it('reads any JSON like JSON.parse but for its numbers', () => {
  const quoted = (value: unknown): unknown => {
    if (typeof value === 'number') return JSON.stringify(value)
    if (Array.isArray(value)) return value.map(quoted)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, quoted(entry)]))
  }
  fc.assert(
    fc.property(fc.json(), (text) => {
      expect(parse(text)).toEqual(quoted(JSON.parse(text)))
    }),
  )
})

it('refuses what is no JSON, also where quotes round its numbers would make it some', () => {
  for (const text of ['', '{1:2}', '01', '1.', '{"a":1 2}', '"a"1', 'NaN', '{"a":+1}']) {
    expect(() => parse(text), text).toThrow(Unreadable)
  }
})
