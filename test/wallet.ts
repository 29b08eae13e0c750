import { newAsk } from '../src/providers/ask.ts'
import type { Expected, LookupAnswer, LookupContext } from '../src/providers/lookup.ts'
import type { StartAnswer, StartRequest } from '../src/providers/start.ts'

/** What the tests of the redirect providers share. */

export const NOW_MS = 1_760_000_000_000

/** Really asks, with the clock of the tests. */
export function askingContext(now_ms = NOW_MS): LookupContext {
  return { now_ms, limit_ms: 5_000, ask: newAsk(fetch, () => now_ms) }
}

/** Every request gets one answer, as text; the addresses asked are noted. */
export function cannedContext(status: number, body: string, asked: string[] = []): LookupContext {
  return {
    now_ms: NOW_MS,
    limit_ms: 5_000,
    async ask(url) {
      asked.push(url)
      return { status, headers: new Headers(), body: Buffer.from(body), retry_after_ms: undefined }
    },
  }
}

/** What was stored when a payment of 2,700.00 rupees for order ORD-1001 was started a minute ago. */
export const EXPECTED: Expected = {
  amount_minor: 270_000n,
  currency: 'NPR',
  order: 'ORD-1001',
  started_at_ms: NOW_MS - 60_000,
}

export const START: StartRequest = {
  order: 'ORD-1001',
  amount_minor: 270_000n,
  currency: 'NPR',
  attempt: 'ORD-1001-A1',
  return_url: 'https://shop.example.com/return/wallet',
  title: 'Pass',
}

/** @throws when the payment was not started */
export function begun(answer: StartAnswer) {
  if (answer.outcome !== 'started') throw new Error(`${answer.outcome}: ${answer.reason}`)
  return answer
}

/** Key and amount of each fact, or the outcome with its reason. */
export function told(answer: LookupAnswer): readonly string[] {
  if (answer.outcome !== 'found') return [answer.outcome]
  return answer.facts.map(({ key, content }) => {
    const amount = 'amount_minor' in content ? content.amount_minor : undefined
    return amount === undefined ? key : `${key} ${amount}`
  })
}

export function asReturn(query: string, method = 'GET') {
  return { method, headers: {}, body: Buffer.alloc(0), query }
}

export function asPosted(body: string) {
  return { method: 'POST', headers: {}, body: Buffer.from(body) }
}
