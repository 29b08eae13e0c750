import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Fact } from '../../facts/fact.ts'
import { type FakePaddle, startFakePaddle } from './fake.ts'
import { paddle } from './index.ts'
import { SECRET, translate } from './told.ts'

let fake: FakePaddle
let clock_ms = 1_760_000_000_000
let histories = 0

beforeAll(async () => {
  fake = await startFakePaddle(() => clock_ms)
})
afterAll(() => fake.close())

const lookup = () =>
  paddle({ webhookSecrets: SECRET, apiKey: 'pdl_sdbx_apikey_01a', baseUrl: fake.url }).lookup!
const context = () => ({
  now_ms: clock_ms,
  ask: () => Promise.reject(new Error('the SDK asks by itself')),
  limit_ms: 5000,
})

type Step =
  | { readonly refund: bigint }
  | 'decline'
  | 'approve'
  | 'reject'
  | 'charge back'
  | 'win back'
  | 'look up'

const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    fc.bigInt({ min: 1n, max: 900n }).map((refund) => ({ refund })),
    fc.constantFrom<Step>('approve', 'reject', 'charge back', 'win back', 'look up'),
  ),
  { maxLength: 8 },
)

/** Everything that is told of one payment while this happens to it: by webhooks, look-ups and answers. */
async function live(declines: number, history: readonly Step[]): Promise<{ payment: string; facts: Fact[] }> {
  histories += 1
  const money = { amount_minor: 2400n, tax_minor: 400n, currency: 'EUR' }
  const payment = fake.open({ ...money, seed: `history ${histories}`, order: `A-${histories}` })
  for (let n = 0; n < declines; n += 1) fake.decline(payment)
  const facts: Fact[] = []
  let chargeback: string | undefined
  const ask = async () => {
    const answer = await lookup().fetch({ object: 'transaction', id: payment }, null, context())
    if (answer.outcome === 'found') facts.push(...answer.facts)
  }
  await ask()
  fake.pay(payment)
  for (const [n, step] of history.entries()) {
    clock_ms += 1000
    if (typeof step === 'object') {
      const key = `${histories}-${n}`
      const request = { key, payment, amount_minor: step.refund, currency: 'EUR', full: false }
      const answer = await lookup().refund!(request, context())
      if (answer.outcome === 'accepted') facts.push(...answer.facts)
    }
    const [waiting] = fake.waiting()
    if (step === 'approve' && waiting !== undefined) fake.decide(waiting, 'approved')
    if (step === 'reject' && waiting !== undefined) fake.decide(waiting, 'rejected')
    if (step === 'charge back') chargeback ??= fake.chargeBack(payment)
    if (step === 'win back' && chargeback !== undefined) fake.winBack(chargeback)
    if (step === 'win back') chargeback = undefined
    if (step === 'look up') await ask()
  }
  for (const waiting of fake.waiting()) fake.decide(waiting, 'rejected')
  await ask()
  const bodies = fake.events().filter((body) => body.includes(payment))
  return { payment, facts: [...facts, ...bodies.flatMap((body) => translate(body).facts)] }
}

describe('any history of a payment', () => {
  it('P19 P52 is told of one payment without contradiction, whoever tells it', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: 3 }), steps, async (declines, history) => {
        const { payment, facts } = await live(declines, history)
        const stated = new Map<string, unknown>()
        expect(new Set(facts.map(({ subject }) => 'id' in subject && subject.id))).toEqual(new Set([payment]))
        for (const { key, content } of facts) {
          for (const [field, value] of Object.entries(content).filter(([, told]) => told !== undefined)) {
            const place = `${key} ${field}`
            expect([place, stated.get(place) ?? value]).toEqual([place, value])
            stated.set(place, value)
          }
        }
      }),
      { numRuns: 40 },
    )
  })
})
