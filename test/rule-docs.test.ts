import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { policiesPage, statesPage } from '../scripts/document-rules.ts'
import { DEFAULT_POLICY } from '../src/rules/policy.ts'
import { PAYMENT_RANK, REFUND_RANK } from '../src/rules/rank.ts'

function page(name: string): string {
  return readFileSync(new URL(`../docs/${name}`, import.meta.url), 'utf8')
}

describe('the pages that are made from the rules say what the rules do (npm run document)', () => {
  it('docs/states.md', () => expect(page('states.md')).toBe(statesPage()))
  it('docs/policies.md', () => expect(page('policies.md')).toBe(policiesPage(page('policies.md'))))
})

describe('what is made', () => {
  it('has every option with its default, and every milestone', () => {
    const policies = policiesPage(page('policies.md'))
    for (const [option, value] of Object.entries(DEFAULT_POLICY)) {
      const row = policies.split('\n').find((line) => line.startsWith(`| \`${option}\` `))
      expect(row).toContain(value === null ? 'no limit' : `\`${value}\``)
    }
    const states = statesPage()
    for (const name of [...Object.keys(PAYMENT_RANK), ...Object.keys(REFUND_RANK)])
      expect(states).toMatch(new RegExp(`--> ${name}\\b`))
  })

  it('refuses a page without a place for the table', () => {
    expect(() => policiesPage('# Policies')).toThrow('lacks')
  })
})
