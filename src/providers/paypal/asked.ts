import type { Fact } from '../../facts/fact.ts'
import { newAsk } from '../ask.ts'
import type { Provider } from '../contract.ts'
import type { LookupAnswer, LookupContext } from '../lookup.ts'
import type { FakePaypal } from './fake.ts'
import type { PaypalOptions } from './index.ts'
import { standIn } from './vectors.ts'

/** For the tests of this folder: an endpoint that asks the stand-in, and what the answers state. */

export function endpointOf(fake: FakePaypal, options: Partial<PaypalOptions> = {}): Provider {
  return standIn({ baseUrl: fake.url, fetcher: fetch, ...options })
}

export function contextAt(now_ms: number, limit_ms = 2000): LookupContext {
  return { now_ms, limit_ms, ask: newAsk(fetch, () => now_ms) }
}

/** Subject, key and stated fields of each fact. */
export function told(facts: readonly Fact[]): readonly (readonly [string, string, object])[] {
  return facts.map(({ subject, key, content }) => {
    const id = subject.kind === 'order' ? subject.reference : subject.id
    const stated = Object.entries(content).filter(([, value]) => value !== undefined)
    return [id, key, Object.fromEntries(stated)] as const
  })
}

/** Asks, and asks on for what the answers ask, until nothing is left. */
export async function askAll(
  provider: Provider,
  context: LookupContext,
  wanted: readonly { readonly object: string; readonly id: string }[],
): Promise<readonly Fact[]> {
  const facts: Fact[] = []
  const asked = new Set<string>()
  const queue = [...wanted]
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    if (asked.has(`${next.object}/${next.id}`)) continue
    asked.add(`${next.object}/${next.id}`)
    const answer: LookupAnswer = await provider.lookup!.fetch(next, null, context)
    if (answer.outcome !== 'found') throw new Error(`${next.object} ${next.id}: ${JSON.stringify(answer)}`)
    facts.push(...answer.facts)
    queue.push(...(answer.lookups ?? []))
  }
  return facts
}
