import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { DOCS, PROVIDERS, providerFolders } from '../../test/provider-contract/subject.ts'
import type { CapabilitySheet } from './capability.ts'
import type { Listed } from './capability-table.ts'
import { renderCapabilities } from './capability-table.ts'
import type { Specimen } from './specimen.ts'

/** A folder without a specimen is found by the contract suite; it must not take the table away. */
async function listed(): Promise<readonly Listed[]> {
  const folders = providerFolders().filter((name) => existsSync(join(PROVIDERS, name, 'vectors.ts')))
  return Promise.all(
    [...folders].sort().map(async (name) => {
      const { specimen } = (await import(join(PROVIDERS, name, 'vectors.ts'))) as { specimen: Specimen }
      return { name, capabilities: specimen.provider.capabilities }
    }),
  )
}

it('the page of capabilities says what the code says', async () => {
  const hint =
    'The capabilities differ from the page. When that is meant, run: npx vitest run src/providers/capability-table.test.ts --update'
  const page = renderCapabilities(await listed())
  await expect(page, hint).toMatchFileSnapshot(join(DOCS, 'providers/capabilities.md'))
})

describe('the table', () => {
  const sheet: CapabilitySheet = {
    event_id: 'signed_header',
    proof: 'fields',
    signed_time: true,
    test_marker: 'body',
    redelivers: true,
    redelivers_for_hours: 72,
    refund_ids: true,
    lookup_by_payment: true,
    lookup_by_reference: false,
    lists_by_window: true,
    read_lag_ms: 1500,
    late_failure_days: { debit: 60, '*': 0 },
    idempotency: {
      refund: {
        where: 'header',
        name: 'Some-Key',
        window_hours: 24,
        repeat: 'same_answer',
        definitive_no: ['400', 'DECLINED'],
        note: 'A | B.',
      },
      charge: null,
    },
  }
  const page = renderCapabilities([{ name: 'one', capabilities: sheet }])

  it('has a line of equal columns for each provider, with a link to its page', () => {
    const lines = page.split('\n').filter((line) => line.startsWith('|'))
    expect(lines).toHaveLength(6)
    for (const group of [lines.slice(0, 3), lines.slice(3)]) {
      expect(new Set(group.map((line) => line.length)).size).toBe(1)
      expect(group[2]).toContain('[one](one.md)')
    }
  })

  it('tells what can be done and what cannot', () => {
    expect(page).toContain(
      'signature over named fields | yes         | in a signed header | in the message | yes, for 72 h | yes        | debit 60, others 0',
    )
    expect(page).toMatch(/\| yes +\| no +\| yes +\| 1500 ms +\| `Some-Key` \(header\), 24 h \| - +\|/)
    expect(page).toContain(
      '- **one**, refund: a repeat gets the same answer. A definitive no: `400`, `DECLINED`. A | B.',
    )
  })

  it('does not call unknown what is known, nor the reverse', () => {
    const unknown = renderCapabilities([
      {
        name: 'two',
        capabilities: {
          ...sheet,
          redelivers_for_hours: null,
          read_lag_ms: null,
          idempotency: {
            refund: {
              where: 'none',
              name: null,
              window_hours: null,
              repeat: 'runs_again',
              definitive_no: [],
              note: '',
            },
            charge: null,
          },
        },
      },
    ])
    expect(unknown).toContain('yes, how long is unknown')
    expect(unknown).toMatch(/\| unknown +\| none +\| -/)
    expect(unknown).toContain('a repeat acts again. A definitive no: none is known.\n')
    const never = renderCapabilities([{ name: 'x', capabilities: { ...sheet, redelivers: false } }])
    expect(never).toMatch(/in the message \| no /)
  })
})
