import type { LookupContext } from '../lookup.ts'
import type { StripeFake } from './fake.ts'
import type { StripeOptions } from './index.ts'
import { stripe } from './index.ts'

/** For the tests of this folder: look-ups at a stand-in through the official SDK. */

export const NOW_MS = 1_760_000_500_000

export const CONTEXT: LookupContext = {
  now_ms: NOW_MS,
  limit_ms: 2000,
  ask: () => Promise.reject(new Error('the official SDK is to be used')),
}

export function lookupAt(fake: StripeFake, options: Partial<StripeOptions> = {}) {
  const { lookup } = stripe({
    webhookSecrets: 'whsec_forTestsOnly',
    apiKey: 'sk_test_forTestsOnly',
    apiUrl: fake.url,
    ...options,
  })
  return {
    fetch: lookup!.fetch,
    find: lookup!.find!,
    list: lookup!.list!,
    refund: lookup!.refund!,
    charge: lookup!.charge!,
  }
}

/** Every item of a list. */
export async function listed<T>(pages: AsyncIterable<readonly T[]>): Promise<T[]> {
  const items: T[] = []
  for await (const page of pages) items.push(...page)
  return items
}
