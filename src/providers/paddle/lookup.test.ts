import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Fact } from '../../facts/fact.ts'
import { encodeContent } from '../../facts/fact.ts'
import { NO_FAULTS, startFakeServer } from '../fake-server.ts'
import type { ListedItem, ListedKind, Lookup, LookupAnswer, LookupContext } from '../lookup.ts'
import { newPaddleApi } from './api.ts'
import { type FakePaddle, startFakePaddle } from './fake.ts'
import { paddle, signPaddle } from './index.ts'
import { newPaddleLookup } from './lookup.ts'
import { SECRET, shown } from './told.ts'

let clock_ms = 1_760_000_000_000
let fake: FakePaddle
let lookup: Lookup
let context: LookupContext
const API_KEY = 'pdl_sdbx_apikey_01forTestsOnly'

beforeAll(async () => {
  fake = await startFakePaddle(() => clock_ms)
  lookup = provider().lookup!
})
afterAll(() => fake.close())
beforeEach(() => {
  Object.assign(fake.faults, NO_FAULTS)
  clock_ms += 86_400_000
  context = contextAt(clock_ms)
})

const provider = (options: object = {}) =>
  paddle({ webhookSecrets: SECRET, apiKey: API_KEY, baseUrl: fake.url, ...options })

function contextAt(now_ms: number, limit_ms = 5000): LookupContext {
  const ask = () => Promise.reject(new Error('the SDK asks by itself'))
  return { now_ms, ask, limit_ms }
}

let sales = 0
function sell(more: object = {}): string {
  sales += 1
  const sale = {
    seed: `sale ${sales}`,
    order: `A-${sales}`,
    amount_minor: 2400n,
    tax_minor: 400n,
    currency: 'EUR',
  }
  return fake.open({ ...sale, ...more })
}

function sold(more: object = {}): string {
  const payment = sell(more)
  fake.pay(payment)
  return payment
}

const fetch = (object: string, id: string, from = lookup) => from.fetch({ object, id }, null, context)
const factsOf = (answer: LookupAnswer): readonly Fact[] => (answer.outcome === 'found' ? answer.facts : [])
const stored = (facts: readonly Fact[]) =>
  new Set(facts.map((fact) => `${JSON.stringify(fact.subject)} ${fact.key} ${encodeContent(fact.content)}`))

/** What the webhooks about these payments said. */
function toldByWebhooks(payment: string): readonly Fact[] {
  const endpoint = provider()
  return fake
    .events()
    .filter((body) => body.includes(payment))
    .flatMap((text) => {
      const body = Buffer.from(text)
      const delivery = { method: 'POST', headers: signPaddle(body, SECRET, clock_ms), body }
      const verified = endpoint.verify(delivery, clock_ms)
      if (verified.refused) throw new Error(verified.detail)
      return endpoint.translate(delivery, verified).facts
    })
}

async function listed(kind: ListedKind, from_ms: number, to_ms: number): Promise<ListedItem[]> {
  const pages: ListedItem[] = []
  for await (const page of lookup.list!(kind, { from_ms, to_ms }, context)) pages.push(...page)
  return pages
}

describe('reading one object through the official SDK', () => {
  it('P51 does not take an answer about another object for the one that was asked about', async () => {
    const [mine, other] = [sold(), sold()]
    const mixed = await startFakeServer(async ({ path, query, headers: { authorization = '' } }) => {
      const url = `${fake.url}${path.replace(mine, other)}?${query}`
      const answer = await globalThis.fetch(url, { headers: { authorization } })
      return { status: answer.status, body: (await answer.json()) as object }
    })
    try {
      const at = provider({ baseUrl: mixed.url }).lookup!
      expect(await fetch('transaction', other, at)).toMatchObject({ outcome: 'found' })
      for (const object of ['transaction', 'payment'])
        expect(await fetch(object, mine, at)).toEqual({
          outcome: 'unreadable',
          reason: `the answer is about another ${object}`,
        })
    } finally {
      await mixed.close()
    }
  })

  it('P52 tells a payment as its webhooks do, with everything that went back', async () => {
    const payment = sell()
    fake.decline(payment)
    fake.pay(payment)
    const refund = await lookup.refund!(
      { key: 'op-1', payment, amount_minor: 500n, currency: 'EUR', full: false },
      context,
    )
    if (refund.outcome !== 'accepted') throw new Error(refund.outcome)
    fake.decide(refund.provider_id, 'approved')
    fake.chargeBack(payment)
    const answer = await fetch('transaction', payment)
    expect(shown(factsOf(answer)).map(([id, key]) => [id, key.split('/')[0]])).toEqual([
      [payment, 'payment'],
      [payment, 'attempt'],
      [payment, 'attempt'],
      [payment, 'refund'],
      [payment, 'dispute'],
      [payment, 'dispute_funds'],
      [payment, 'refund_total'],
    ])
    const webhooks = stored(toldByWebhooks(payment))
    const looked_up = factsOf(answer).filter((fact) => fact.kind !== 'refund_total')
    for (const fact of stored(looked_up)) expect(webhooks).toContain(fact)
  })

  it('P40 finds money whose webhook never came, in the state that it is in', async () => {
    const payment = sell()
    expect(shown(factsOf(await fetch('transaction', payment)))[0]?.[1]).toBe('payment/created')
    fake.pay(payment)
    expect(shown(factsOf(await fetch('transaction', payment)))[0]).toEqual([
      payment,
      'payment/succeeded',
      { milestone: 'succeeded', amount_minor: 2400n, currency: 'EUR', order: `A-${sales}` },
    ])
  })

  it('tells the money without tax where that is configured', async () => {
    const payment = sold()
    const [fact] = shown(factsOf(await fetch('transaction', payment, provider({ amounts: 'net' }).lookup!)))
    expect(fact?.[2]).toMatchObject({ amount_minor: 2000n })
  })

  it('P51 learns from the transaction which chargeback was given back', async () => {
    const payment = sold()
    const chargeback = fake.chargeBack(payment)
    fake.winBack(chargeback)
    const won = shown(factsOf(await fetch('transaction', payment))).filter(([, key]) => key.includes('/won/'))
    expect(won.map(([, key]) => key.split('/')[1])).toEqual([
      chargeback,
      expect.not.stringMatching(chargeback),
    ])
  })

  it('reads an adjustment and a subscription', async () => {
    const payment = sold()
    const chargeback = fake.chargeBack(payment)
    const subscription = fake.subscribe(payment)
    expect(shown(factsOf(await fetch('adjustment', chargeback)))[0]?.[0]).toBe(payment)
    expect(shown(factsOf(await fetch('subscription', subscription)))[0]).toEqual([
      subscription,
      `status/${new Date(clock_ms).toISOString()}/active`,
      expect.objectContaining({ order: `A-${sales}` }),
    ])
  })

  it('says that there is none, and sends nothing that is no id', async () => {
    expect(await fetch('transaction', 'txn_01unknown')).toEqual({ outcome: 'not_found' })
    expect(await fetch('adjustment', 'adj_01unknown')).toEqual({ outcome: 'not_found' })
    const before = fake.requests.length
    for (const id of ['', 'txn_', 'txn_../adjustments', 'txn_01a?include=x', 'pi_1', 'TXN_01A']) {
      expect(await fetch('transaction', id)).toEqual({ outcome: 'not_found' })
    }
    expect(await fetch('toString', 'txn_01a')).toMatchObject({ outcome: 'unreadable' })
    expect(fake.requests.length).toBe(before)
  })

  it('P37 says that nobody knows after a failure, a lost answer, a time limit or a full line', async () => {
    const payment = sold()
    for (const fault of ['errors_before', 'errors_after', 'lost_answers', 'throttled'] as const) {
      fake.faults[fault] = 1
      expect(await fetch('transaction', payment)).toMatchObject({ outcome: 'unavailable', reason: /Paddle/ })
    }
    fake.faults.delay_ms = 200
    context = contextAt(clock_ms, 20)
    expect(await fetch('transaction', payment)).toMatchObject({ outcome: 'unavailable', reason: /in time/ })
  })

  it('asks a person when the key is refused', async () => {
    fake.faults.locked_out = true
    expect(await fetch('transaction', sold())).toMatchObject({
      outcome: 'refused',
      reason: /forbidden.*apiKey/,
    })
  })

  it('shows the former state while reads lag', async () => {
    const payment = sell()
    clock_ms += 10_000
    fake.pay(payment)
    fake.faults.lag_ms = 5000
    expect(shown(factsOf(await fetch('transaction', payment)))[0]?.[1]).toBe('payment/created')
  })

  it('says what to install when the SDK is missing', async () => {
    const missing = newPaddleApi({ apiKey: API_KEY, url: fake.url }, () =>
      Promise.reject(new Error('no module')),
    )
    const setup = { account: 'default', orderReference: {}, amounts: 'gross' } as const
    expect(await fetch('transaction', 'txn_01a', newPaddleLookup(setup, missing))).toMatchObject({
      outcome: 'refused',
      reason: expect.stringContaining('npm install @paddle/paddle-node-sdk'),
    })
  })

  it('passes on what Paddle asks to wait', async () => {
    const api = newPaddleApi({ apiKey: API_KEY, url: fake.url })
    const error = { type: 'request_error', code: 'too_many_requests', retryAfter: 7 }
    expect(await api.call(1000, () => Promise.reject(error))).toMatchObject({
      problem: { kind: 'unavailable', code: 'too_many_requests', retry_after_ms: 7000 },
    })
    expect(
      await api.call(1000, () => Promise.reject({ ...error, code: 'Bad Code', retryAfter: null })),
    ).toMatchObject({
      problem: { kind: 'unavailable', code: 'no_answer' },
    })
  })
})

describe('lists', () => {
  it('P41 lists payments by when their money moved, page by page, whatever changed since', async () => {
    const from_ms = clock_ms
    const payments = Array.from({ length: 33 }, () => sold())
    sell()
    clock_ms += 3_600_000
    const late = sold()
    const items = await listed('payments', from_ms, from_ms + 3_600_000)
    expect(items.map(({ id }) => id).sort()).toEqual([...payments].sort())
    expect(items[0]).toMatchObject({
      kind: 'payments',
      payment: items[0]!.id,
      amount_minor: 2400n,
      currency: 'EUR',
      status: 'completed',
      at: new Date(from_ms).toISOString(),
    })
    expect(stored(items.flatMap(({ facts }) => facts)).size).toBe(66)
    expect((await listed('payments', clock_ms, clock_ms + 1)).map(({ id }) => id)).toEqual([late])
  })

  it('P41 lists refunds and disputes newest first and stops once it is past the window', async () => {
    const old = fake.chargeBack(sold())
    clock_ms += 86_400_000
    const from_ms = clock_ms
    const chargeback = fake.chargeBack(sold())
    fake.winBack(chargeback)
    const payment = sold()
    const asked = await lookup.refund!(
      { key: 'op-list', payment, amount_minor: 100n, currency: 'EUR', full: false },
      context,
    )
    const disputes = await listed('disputes', from_ms, from_ms + 1000)
    expect(disputes.map(({ id, status }) => [id, status])).toEqual([
      [chargeback, 'reversed'],
      [expect.stringMatching(/^adj_/), 'approved'],
    ])
    expect(disputes.map(({ id }) => id)).not.toContain(old)
    expect(await listed('refunds', from_ms, from_ms + 1000)).toMatchObject([
      {
        kind: 'refunds',
        id: asked.outcome === 'accepted' ? asked.provider_id : '',
        payment,
        amount_minor: 100n,
        status: 'pending_approval',
      },
    ])
  })

  it('P41 ends with a fault when a page cannot be had, so that half a list is never taken for a whole one', async () => {
    const from_ms = clock_ms
    for (let n = 0; n < 31; n += 1) sold()
    fake.faults.list_breaks = true
    await expect(listed('payments', from_ms, from_ms + 1)).rejects.toMatchObject({
      code: 'provider_unavailable',
      retriable: true,
    })
    fake.faults.locked_out = true
    await expect(listed('refunds', from_ms, from_ms + 1)).rejects.toMatchObject({ retriable: false })
  })
})
