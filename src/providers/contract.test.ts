import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { eventsSuite } from '../../test/provider-contract/events.suite.ts'
import { samplesSuite } from '../../test/provider-contract/samples.suite.ts'
import type { Tested } from '../../test/provider-contract/subject.ts'
import {
  DOCS,
  loadTested,
  PROVIDERS,
  providerFolders,
  samplesOf,
} from '../../test/provider-contract/subject.ts'
import { translateSuite } from '../../test/provider-contract/translate.suite.ts'
import { verifySuite } from '../../test/provider-contract/verify.suite.ts'

const folders = providerFolders()
/** Senders that the user describes: nobody knows their API. */
const DESCRIBED = ['hmac', 'standard-webhooks']
const overview = readFileSync(join(DOCS, 'providers.md'), 'utf8')

it('finds the provider folders', () => {
  expect(folders).toEqual(expect.arrayContaining(['hmac', 'standard-webhooks', 'stripe']))
})

describe.each(folders)('%s', async (folder) => {
  it('has the files that every provider has, and samples', () => {
    const files = ['index.ts', 'verify.ts', 'translate.ts', 'sample.ts', 'vectors.ts', `${folder}.test.ts`]
    if (!DESCRIBED.includes(folder)) files.push('lookup.ts', 'fake.ts')
    expect(files.filter((file) => !existsSync(join(PROVIDERS, folder, file)))).toEqual([])
    expect(samplesOf(folder).length).toBeGreaterThan(0)
  })

  it('has a page in docs/providers', () => {
    expect(existsSync(join(DOCS, 'providers', `${folder}.md`))).toBe(true)
  })

  it('stands in docs/providers.md', () => {
    const named = new RegExp(`^## .*\`${folder}\`|\\(providers/${folder}\\.md\\)`, 'm')
    expect(named.test(overview)).toBe(true)
  })

  // One folder that cannot be read must not take the others' tests away.
  const loaded = await loadTested(folder).catch((error: unknown) => ({ error }))
  if ('error' in loaded) {
    it('can be loaded', () => {
      throw loaded.error
    })
    return
  }

  describe('verify', () => verifySuite(loaded))
  describe('translate', () => translateSuite(loaded))
  describe('events', () => eventsSuite(loaded))
  describe('samples', () => samplesSuite(loaded))
  describe('capabilities', () => capabilitySuite(loaded))
})

function capabilitySuite({ provider }: Tested): void {
  const { lookup, capabilities } = provider

  it('offers the look-ups that its sheet says where it has credentials, and no others', () => {
    if (lookup === undefined) return
    expect({
      find: lookup.find !== undefined,
      list: lookup.list !== undefined,
      refund: lookup.refund !== undefined,
      charge: lookup.charge !== undefined,
    }).toEqual({
      find: capabilities.lookup_by_reference,
      list: capabilities.lists_by_window,
      refund: capabilities.idempotency.refund !== null,
      charge: capabilities.idempotency.charge !== null,
    })
  })

  it('is asked for a confirmation exactly when that is its proof', () => {
    expect(provider.confirm !== undefined).toBe(capabilities.proof === 'confirmation')
  })
}
