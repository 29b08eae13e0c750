import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { askingContext, cannedContext, EXPECTED, NOW_MS, told } from '../../../test/wallet.ts'
import { derivePayment } from '../../rules/derive-payment.ts'
import { NO_FAULTS } from '../fake-server.ts'
import type { Expected } from '../lookup.ts'
import type { FakeEsewa } from './fake.ts'
import { startFakeEsewa } from './fake.ts'
import { esewa } from './index.ts'

const ID = 'ORD-1001-A1'
const REQUEST = { object: 'payment', id: ID }
const DAY_MS = 86_400_000

let fake: FakeEsewa
let clock_ms = NOW_MS
beforeAll(async () => {
  fake = await startFakeEsewa({ now_ms: () => clock_ms })
  fake.open(ID, 270_000n)
})
beforeEach(() => {
  Object.assign(fake.faults, NO_FAULTS)
  clock_ms += 60_000
})
afterAll(() => fake.close())

function at(statusBaseUrl = fake.url) {
  return esewa({ productCode: 'EPAYTEST', secret: fake.secret, mode: 'test', statusBaseUrl }).lookup!
}

function fetchNow(expected: Expected | null = EXPECTED) {
  return at().fetch(REQUEST, expected, askingContext())
}

describe('status API', () => {
  it.each([
    ['COMPLETE', [`attempt/REFORD1001A1/succeeded 270000`]],
    ['PENDING', ['payment/pending']],
    ['AMBIGUOUS', ['payment/pending']],
    ['FULL_REFUND', ['attempt/REFORD1001A1/succeeded 270000', `refund/${ID}-refund/succeeded 270000`]],
    ['PARTIAL_REFUND', ['attempt/REFORD1001A1/succeeded 270000', `refund/${ID}-refund/succeeded`]],
    ['CANCELED', ['payment/canceled']],
    ['NOT_FOUND', ['not_found']],
    ['complete', ['unreadable']],
    ['SETTLED', ['unreadable']],
  ])('%s', async (status, facts) => {
    fake.change(ID, status)
    expect(told(await fetchNow())).toEqual(facts)
  })

  it('P17 asks with our own amount and reference, and only with them', async () => {
    const asked: string[] = []
    await at('https://rc.esewa.com.np').fetch(
      REQUEST,
      { ...EXPECTED, amount_minor: 123_450n },
      cannedContext(500, '', asked),
    )
    await at('https://rc.esewa.com.np').fetch(REQUEST, EXPECTED, cannedContext(500, '', asked))
    const path = 'https://rc.esewa.com.np/api/epay/transaction/status/?product_code=EPAYTEST'
    expect(asked).toEqual([
      `${path}&total_amount=1234.50&transaction_uuid=${ID}`,
      `${path}&total_amount=2700&transaction_uuid=${ID}`,
    ])
  })

  it('P01 grants nothing for a payment that was started for another order or amount', async () => {
    fake.change(ID, 'COMPLETE')
    const asked = fake.requests.length
    expect(await fetchNow(null)).toEqual({ outcome: 'not_found' })
    expect(fake.requests.length).toBe(asked)
    expect(told(await fetchNow({ ...EXPECTED, amount_minor: 1_000n }))).toEqual(['not_found'])
    const other = { ...EXPECTED, order: 'ORD-2', amount_minor: 500_000n }
    expect(told(await fetchNow(other))).toEqual(['not_found'])
  })

  it('P17 states nothing when the answer is about something else than was asked', async () => {
    const good = {
      product_code: 'EPAYTEST',
      transaction_uuid: ID,
      total_amount: 2700.0,
      status: 'COMPLETE',
      ref_id: 'R',
    }
    const answer = (change: object) => cannedContext(200, JSON.stringify({ ...good, ...change }))
    const fetch = (change: object) => at().fetch(REQUEST, EXPECTED, answer(change))
    expect(told(await fetch({}))).toEqual(['attempt/R/succeeded 270000'])
    expect(told(await fetch({ total_amount: '2,700.0' }))).toEqual(['attempt/R/succeeded 270000'])
    expect(told(await fetch({ ref_id: null }))).toEqual(['payment/succeeded 270000'])
    for (const change of [
      { product_code: 'NP-ES-OTHER' },
      { transaction_uuid: 'ORD-1001-A2' },
      { total_amount: 10.0 },
      { total_amount: '2,700.001' },
      { total_amount: 2.7e21 },
      { total_amount: null },
      { status: null },
      { status: ['COMPLETE'] },
    ]) {
      expect([change, await fetch(change)]).toMatchObject([change, { outcome: 'unreadable' }])
    }
  })

  it('P30 never throws and never states money, whatever comes for an answer', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: 599 }), fc.oneof(fc.json(), fc.string()), async (status, body) => {
        const answer = await at().fetch(REQUEST, EXPECTED, cannedContext(status, body))
        expect(['unreadable', 'unavailable', 'refused', 'not_found']).toContain(answer.outcome)
      }),
      { numRuns: 300 },
    )
  })

  it('P39 calls a session that is not found over only after a day, and money still outranks that', async () => {
    fake.change(ID, 'NOT_FOUND')
    expect(told(await fetchNow({ ...EXPECTED, started_at_ms: NOW_MS - DAY_MS }))).toEqual(['not_found'])
    expect(told(await fetchNow({ ...EXPECTED, started_at_ms: null }))).toEqual(['not_found'])
    const over = await fetchNow({ ...EXPECTED, started_at_ms: NOW_MS - DAY_MS - 1 })
    expect(told(over)).toEqual(['payment/expired'])
    fake.change(ID, 'COMPLETE')
    const paid = await fetchNow()
    const facts = [over, paid].flatMap((answer) => (answer.outcome === 'found' ? answer.facts : []))
    expect(derivePayment(facts)).toMatchObject({ status: 'succeeded', captured_minor: 270_000n })
  })

  it('P23 counts a refund once, first without a figure and then with the whole', async () => {
    const facts = []
    for (const status of ['COMPLETE', 'PARTIAL_REFUND', 'FULL_REFUND', 'FULL_REFUND']) {
      fake.change(ID, status)
      const answer = await fetchNow()
      if (answer.outcome === 'found') facts.push(...answer.facts)
      if (status !== 'PARTIAL_REFUND') continue
      const { refunded_minor, exceptions } = derivePayment(facts)
      expect([refunded_minor, exceptions.map(({ kind }) => kind)]).toEqual([0n, ['unexplained_refund']])
    }
    expect(derivePayment(facts)).toMatchObject({ refunded_minor: 270_000n, exceptions: [] })
  })
})

describe('no answer', () => {
  it('P37 takes a lost, failing or throttled answer for nothing learned', async () => {
    fake.change(ID, 'COMPLETE')
    fake.faults.lost_answers = 1
    expect(await fetchNow()).toMatchObject({ outcome: 'unavailable' })
    fake.faults.errors_before = 1
    expect(await fetchNow()).toMatchObject({ outcome: 'unavailable' })
    fake.faults.throttled = 1
    expect(await fetchNow()).toMatchObject({ outcome: 'unavailable', retry_after_ms: 1000 })
    expect(told(await fetchNow())).toEqual(['attempt/REFORD1001A1/succeeded 270000'])
  })

  it('P37 waits no longer than its limit', async () => {
    // One of its own: a request that nobody waits for any more would use up a fault of the next test.
    const slow = await startFakeEsewa()
    slow.faults.delay_ms = 600
    const answer = await at(slow.url).fetch(REQUEST, EXPECTED, { ...askingContext(), limit_ms: 50 })
    expect(answer).toMatchObject({ outcome: 'unavailable' })
    await slow.close()
  })

  it('knows the words for a service that is down', async () => {
    const down = '{"code":0,"error_message":"Service is currently unavailable"}'
    expect(await at().fetch(REQUEST, EXPECTED, cannedContext(200, down))).toMatchObject({
      outcome: 'unavailable',
    })
  })

  it('shows the former state while reads lag behind', async () => {
    fake.change(ID, 'PENDING')
    clock_ms += 5_000
    fake.change(ID, 'COMPLETE')
    fake.faults.lag_ms = 1_000
    expect(told(await fetchNow())).toEqual(['payment/pending'])
    clock_ms += 1_000
    expect(told(await fetchNow())).toEqual(['attempt/REFORD1001A1/succeeded 270000'])
  })

  it('tells a person when it is locked out, follows no redirect, and knows payments only', async () => {
    fake.faults.locked_out = true
    expect(await fetchNow()).toMatchObject({ outcome: 'refused' })
    expect(await at().fetch(REQUEST, EXPECTED, cannedContext(302, ''))).toMatchObject({
      outcome: 'unreadable',
    })
    const refund = await at().fetch({ object: 'refund', id: 'r' }, EXPECTED, askingContext())
    expect(refund).toMatchObject({ outcome: 'refused' })
    expect(await fetchNow({ ...EXPECTED, currency: 'USD' })).toMatchObject({ outcome: 'refused' })
  })
})
