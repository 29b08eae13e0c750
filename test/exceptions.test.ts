import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { EXCEPTION_GUIDE } from '../src/facts/exception-guide.ts'

const read = (file: string) => readFileSync(new URL(`../${file}`, import.meta.url), 'utf8')

/** The kinds of the union in src/facts/exception.ts. */
function declared(): string[] {
  const union = read('src/facts/exception.ts').split('export type ExceptionKind =')[1]!.split(/\n\n/)[0]!
  return [...union.matchAll(/'(\w+)'/g)].map((match) => match[1]!)
}

/** The rows of the table in docs/exceptions.md. */
function listed() {
  const section = read('docs/exceptions.md').split('## Every kind\n')[1]!.split('\n## ')[0]!
  return [...section.matchAll(/^\| `(\w+)`\s*\| (.*) \|$/gm)].map(([, kind, cells]) => ({
    kind: kind!,
    cells: cells!.split(' | ').map((cell) => cell.trim()),
  }))
}

describe('docs/exceptions.md', () => {
  it('P42 tells of every kind of exception what it means and what to do, as the program does', () => {
    const by_kind = (a: { kind: string }, b: { kind: string }) => (a.kind < b.kind ? -1 : 1)
    expect(listed().sort(by_kind)).toEqual(
      declared()
        .sort()
        .map((kind) => {
          const { severity, means, next, ends } = EXCEPTION_GUIDE[kind as keyof typeof EXCEPTION_GUIDE]
          return { kind, cells: [severity, means, next, ends] }
        }),
    )
  })
})
