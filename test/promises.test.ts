import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { testTitles } from './titles.ts'

interface Promised {
  readonly id: string
  readonly issues: string
  /** `file: title` of tests that prove it. */
  readonly proofs: readonly string[]
}

/** The sections of docs/promises.md. */
function readPromises(): Promised[] {
  const text = readFileSync(new URL('../docs/promises.md', import.meta.url), 'utf8')
  return text
    .split(/^## /m)
    .slice(1)
    .map((section) => {
      const [, id, issues] = /^(P\d\d) \(([A-F, ]+)\)/.exec(section) as unknown as [string, string, string]
      const proofs = [...section.matchAll(/^- `([^`]+)`: (.+)$/gm)].map((row) => `${row[1]}: ${row[2]}`)
      return { id, issues, proofs }
    })
}

const promises = readPromises()
const now = promises.filter(({ issues }) => issues.split(', ').some((issue) => 'AB'.includes(issue)))
const titles = testTitles()

describe('docs/promises.md', () => {
  it('lists every promise once, in order', () => {
    const ids = Array.from({ length: 58 }, (_, index) => `P${String(index + 1).padStart(2, '0')}`)
    expect(promises.map(({ id }) => id)).toEqual(ids)
  })

  it('names only tests that are there, each with the id of the promise in its title', () => {
    const known = new Set(titles.map(({ file, title }) => `${file}: ${title}`))
    for (const { id, proofs } of promises) {
      for (const proof of proofs) {
        expect(known.has(proof), `${id}: ${proof}`).toBe(true)
        expect(proof).toContain(id)
      }
    }
  })

  it('names at least one test for every promise that holds now', () => {
    expect(now.length).toBeGreaterThan(30)
    expect(now.filter(({ proofs }) => proofs.length === 0).map(({ id }) => id)).toEqual([])
  })
})

describe('the titles of tests', () => {
  it('name no promise that docs/promises.md does not list', () => {
    const listed = new Set(promises.map(({ id }) => id))
    const named = titles.flatMap(({ title }) => title.match(/\bP\d\d\b/g) ?? [])
    expect(named.filter((id) => !listed.has(id))).toEqual([])
  })
})
