import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { derivePayment } from '../../rules/derive-payment.ts'
import { newAsk } from '../ask.ts'
import type { LookupContext } from '../lookup.ts'
import type { FakeYolfi } from './fake.ts'
import { startFakeYolfi } from './fake.ts'
import { yolfi } from './index.ts'

const SECRET = 'yolfi-endpoint-secret-qx-01'
const START_MS = Date.parse('2026-03-03T12:00:00Z')
let clock_ms = START_MS
let fake: FakeYolfi

beforeAll(async () => {
  fake = await startFakeYolfi({ now_ms: () => clock_ms })
})
afterAll(() => fake.close())
beforeEach(() => {
  Object.assign(fake.faults, { throttled: 0, errors_before: 0, lost_answers: 0, delay_ms: 0, lag_ms: 0 })
  Object.assign(fake.faults, { locked_out: false, list_breaks: false })
})

const context: LookupContext = { now_ms: START_MS, limit_ms: 5_000, ask: newAsk(fetch, () => START_MS) }
const provider = (apiKey?: string) =>
  yolfi({ webhookSecrets: SECRET, baseUrl: `${fake.url}/api`, ...(apiKey === undefined ? {} : { apiKey }) })
const ask = (id: string, object = 'payment', within = context) =>
  provider().lookup!.fetch({ object, id }, null, within)
const put = (payment: string, more: Partial<Parameters<FakeYolfi['setPayment']>[0]> = {}) =>
  fake.setPayment({
    payment,
    amount_minor: 2300n,
    currency: 'EUR',
    order: 'A-1',
    state: 'CONFIRMED',
    ...more,
  })

function translate(body: string) {
  const verified = { refused: false, secret_label: '', signed_at_ms: null, signed_id: null } as const
  return provider().translate({ method: 'POST', headers: {}, body: Buffer.from(body) }, verified)
}

describe('one payment', () => {
  it('P40 is found without a key, and agrees with the message that comes late', async () => {
    put('inv_1')
    const answer = await ask('inv_1')
    expect(answer).toMatchObject({ outcome: 'found', facts: [{ key: 'payment/succeeded' }] })
    const looked_up = answer.outcome === 'found' ? answer.facts : []
    const { facts } = translate(fake.messages.at(-1)!)
    expect(derivePayment(looked_up)).toMatchObject({ status: 'succeeded', captured_minor: 2300n })
    expect(derivePayment([...looked_up, ...facts])).toMatchObject({
      status: 'succeeded',
      captured_minor: 2300n,
    })
    expect(fake.requests.at(-1)!.headers).not.toHaveProperty('authorization')
  })

  it.each([
    ['CREATED', 'created'],
    ['PENDING', 'pending'],
    ['OVERDUE', 'expired'],
  ] as const)('P39 that is %s is %s', async (state, milestone) => {
    put(`inv_${state}`, { state })
    expect(await ask(`inv_${state}`)).toMatchObject({ facts: [{ key: `payment/${milestone}` }] })
  })

  it('P51 that shows no price counts as nothing', async () => {
    put('inv_unpriced', { priced: false })
    const answer = await ask('inv_unpriced')
    expect(derivePayment(answer.outcome === 'found' ? answer.facts : []).captured_minor).toBe(0n)
  })

  it('P37 tells absence from silence', async () => {
    put('inv_silence')
    expect(await ask('evt_test_1')).toEqual({ outcome: 'not_found' })
    expect(await ask('inv_1', 'refund')).toMatchObject({ outcome: 'refused' })
    fake.faults.throttled = 1
    expect(await ask('inv_silence')).toMatchObject({ outcome: 'unavailable', retry_after_ms: 1000 })
    fake.faults.lost_answers = 1
    expect(await ask('inv_silence')).toMatchObject({ outcome: 'unavailable' })
    fake.faults.errors_before = 1
    expect(await ask('inv_silence')).toMatchObject({ outcome: 'unavailable' })
    fake.faults.delay_ms = 300
    expect(await ask('inv_silence', 'payment', { ...context, limit_ms: 50 })).toMatchObject({
      outcome: 'unavailable',
    })
  })

  it.each([
    ['no JSON', '<html>'],
    ['no object', '[]'],
    ['another payment', '{"invoiceId":"inv_2","status":"CONFIRMED"}'],
    ['a status that nobody saw', '{"invoiceId":"inv_1","status":"DONE"}'],
    [
      'an inexact price',
      '{"invoiceId":"inv_1","status":"CONFIRMED","sourceAmount":"23.001","currency":"EUR"}',
    ],
  ])('P30 is not read out of an answer with %s', async (_, body) => {
    const odd: LookupContext = {
      ...context,
      ask: () =>
        Promise.resolve({
          status: 200,
          headers: new Headers(),
          body: Buffer.from(body),
          retry_after_ms: undefined,
        }),
    }
    expect(await ask('inv_1', 'payment', odd)).toMatchObject({ outcome: 'unreadable' })
  })
})

describe('the list', () => {
  async function all(from_ms: number, to_ms: number, kind: 'payments' | 'refunds' | 'disputes' = 'payments') {
    const items = []
    const pages = provider('yolfi_test_key').lookup!.list!(kind, { from_ms, to_ms }, context)
    for await (const page of pages) items.push(...page)
    return items
  }

  it('P41 is read to its end, in a half-open window', async () => {
    clock_ms = START_MS + 3_600_000
    for (let at = 0; at < 250; at += 1) {
      put(`inv_list${at}`)
      clock_ms += 1_000
    }
    const from_ms = START_MS + 3_600_000
    const items = await all(from_ms, from_ms + 249_000)
    expect(items.map(({ id }) => id)).toEqual(Array.from({ length: 249 }, (_, at) => `inv_list${at}`))
    expect(items[0]).toMatchObject({
      payment: 'inv_list0',
      amount_minor: 2300n,
      currency: 'EUR',
      status: 'CONFIRMED',
      at: new Date(from_ms).toISOString(),
      facts: [{ key: 'payment/succeeded' }],
    })
  })

  it('P41 never ends normally when a page could not be had', async () => {
    fake.faults.list_breaks = true
    await expect(all(START_MS, clock_ms)).rejects.toMatchObject({ code: 'provider_unavailable' })
    fake.faults.locked_out = true
    await expect(all(START_MS, clock_ms)).rejects.toMatchObject({ code: 'provider_unavailable' })
  })

  it('P41 breaks off when a cursor leads in a circle', async () => {
    const page = '{"data":[],"hasMore":true,"nextCursor":"same"}'
    const circle: LookupContext = {
      ...context,
      ask: () =>
        Promise.resolve({
          status: 200,
          headers: new Headers(),
          body: Buffer.from(page),
          retry_after_ms: undefined,
        }),
    }
    const pages = provider('k1').lookup!.list!('payments', { from_ms: 0, to_ms: 1 }, circle)
    const readAll = async () => {
      for await (const page of pages) expect(page).toEqual([])
    }
    await expect(readAll()).rejects.toMatchObject({ code: 'provider_unavailable' })
  })

  it('has neither refunds nor disputes, and needs a key', async () => {
    expect(await all(START_MS, clock_ms, 'refunds')).toEqual([])
    expect(await all(START_MS, clock_ms, 'disputes')).toEqual([])
    expect(provider().lookup!.list).toBeUndefined()
  })
})
