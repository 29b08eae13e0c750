import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const page = readFileSync(new URL('../docs/errors.md', import.meta.url), 'utf8')

function listed(section: string): string[] {
  const text = page.split(`## ${section}\n`)[1]?.split('\n## ')[0] ?? ''
  return [...text.matchAll(/^\| `(\w+)`/gm)].map((match) => match[1]!).sort()
}

function declared(file: string, type: string): string[] {
  const source = readFileSync(new URL(`../src/facts/${file}`, import.meta.url), 'utf8')
  const union = source.split(`export type ${type} =`)[1]?.split(/\n\n|$(?![\s\S])/)[0] ?? ''
  return [...union.matchAll(/'(\w+)'/g)].map((match) => match[1]!).sort()
}

describe('docs/errors.md', () => {
  it('lists every fault code, and no other', () => {
    expect(declared('fault.ts', 'FaultCode').length).toBeGreaterThan(10)
    expect(listed('Faults')).toEqual(declared('fault.ts', 'FaultCode'))
  })

  it('lists every refusal code, and no other', () => {
    expect(listed('Refusals')).toEqual(declared('refusal.ts', 'RefusalCode'))
  })
})
