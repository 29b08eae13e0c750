import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { askingContext, cannedContext, EXPECTED, NOW_MS, told } from '../../../test/wallet.ts'
import { derivePayment } from '../../rules/derive-payment.ts'
import { NO_FAULTS } from '../fake-server.ts'
import type { Expected, RefundRequest } from '../lookup.ts'
import type { FakeKhalti } from './fake.ts'
import { startFakeKhalti } from './fake.ts'
import { khalti } from './index.ts'
import { transactionOf } from './sample.ts'

const ID = 'bZQLD9wRVWo4CdESSfuSsB'
const REQUEST = { object: 'payment', id: ID }
const PAID = `attempt/${transactionOf(ID)}/succeeded 270000`

let fake: FakeKhalti
let clock_ms = NOW_MS
beforeAll(async () => {
  fake = await startFakeKhalti({ now_ms: () => clock_ms })
  fake.open(ID, 270_000n)
})
beforeEach(() => {
  Object.assign(fake.faults, NO_FAULTS)
  clock_ms += 60_000
})
afterAll(() => fake.close())

function lookup({ secretKey, url: baseUrl } = fake) {
  return khalti({ secretKey, mode: 'test', websiteUrl: 'https://shop.example.com', baseUrl }).lookup!
}

function fetchNow(expected: Expected | null = EXPECTED) {
  return lookup().fetch(REQUEST, expected, askingContext())
}

describe('look-up', () => {
  it.each([
    ['Completed', [PAID]],
    ['Pending', ['payment/pending']],
    ['Initiated', ['payment/pending']],
    ['Refunded', [PAID, `refund/${ID}-refund/succeeded 270000`]],
    ['Partially Refunded', [PAID, `refund/${ID}-refund/succeeded`]],
    ['Expired', ['payment/expired']],
    ['User canceled', ['payment/canceled']],
    ['Canceled', ['payment/canceled']],
    ['Failed', ['payment/failed']],
    ['Settled', ['unreadable']],
  ])('%s', async (status, facts) => {
    fake.change(ID, status)
    expect(told(await fetchNow())).toEqual(facts)
  })

  it('P01 grants nothing for a payment of another order, whatever the return says', async () => {
    fake.open('OtherOrdersPidx0000001', 1_000n)
    fake.change('OtherOrdersPidx0000001', 'Completed')
    const other = { object: 'payment', id: 'OtherOrdersPidx0000001' }
    const asked = fake.requests.length
    expect(await lookup().fetch(other, null, askingContext())).toEqual({ outcome: 'not_found' })
    expect(fake.requests.length).toBe(asked)
    // Even if it had been issued for this order: 10 rupees are not 2,700.
    expect(await lookup().fetch(other, EXPECTED, askingContext())).toMatchObject({ outcome: 'unreadable' })
  })

  it('P17 states nothing when the answer contradicts what was asked', async () => {
    const good = {
      pidx: ID,
      total_amount: 270_000,
      status: 'Completed',
      transaction_id: 'T1',
      fee: 8_100,
      refunded: false,
    }
    const fetch = (change: object, http = 200) =>
      lookup().fetch(REQUEST, EXPECTED, cannedContext(http, JSON.stringify({ ...good, ...change })))
    expect(told(await fetch({}))).toEqual(['attempt/T1/succeeded 270000'])
    expect(told(await fetch({ status: 'completed' }))).toEqual(['attempt/T1/succeeded 270000'])
    expect(told(await fetch({ transaction_id: null }))).toEqual(['payment/succeeded 270000'])
    expect(told(await fetch({ status: 'Partially refunded', refunded: false }))).toContain(
      `refund/${ID}-refund/succeeded`,
    )
    for (const change of [
      { pidx: 'OtherOrdersPidx0000001' },
      { total_amount: 1_000 },
      { total_amount: 270_000.5 },
      { total_amount: null },
      { refunded: true },
      { refunded: null },
      { status: null },
    ]) {
      expect([change, await fetch(change)]).toMatchObject([change, { outcome: 'unreadable' }])
    }
    expect(await fetch({}, 400)).toMatchObject({ outcome: 'unreadable' })
  })

  it('reads the final states that come with HTTP 400, and an error that says nothing of a payment', async () => {
    const body = `{"pidx":"${ID}","total_amount":270000,"status":"Expired","transaction_id":null,"fee":0,"refunded":false}`
    expect(told(await lookup().fetch(REQUEST, EXPECTED, cannedContext(400, body)))).toEqual([
      'payment/expired',
    ])
    const unknown = '{"detail":"Not found.","error_key":"validation_error"}'
    for (const http of [200, 400, 404]) {
      expect(await lookup().fetch(REQUEST, EXPECTED, cannedContext(http, unknown))).toEqual({
        outcome: 'not_found',
      })
    }
    const other = await lookup().fetch(REQUEST, EXPECTED, cannedContext(400, '{"pidx":["required"]}'))
    expect(other).toMatchObject({ outcome: 'unreadable' })
  })

  it('P30 never throws and never states money, whatever comes for an answer', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: 599 }), fc.oneof(fc.json(), fc.string()), async (status, body) => {
        const answer = await lookup().fetch(REQUEST, EXPECTED, cannedContext(status, body))
        expect(['unreadable', 'unavailable', 'refused']).toContain(answer.outcome)
      }),
      { numRuns: 300 },
    )
  })

  it('P20 an attempt that expired and was paid all the same is paid', async () => {
    const facts = []
    for (const status of ['Expired', 'Completed', 'Refunded']) {
      fake.change(ID, status)
      const answer = await fetchNow()
      if (answer.outcome === 'found') facts.push(...answer.facts)
    }
    expect(derivePayment(facts.slice(0, 2))).toMatchObject({ status: 'succeeded', captured_minor: 270_000n })
    expect(derivePayment(facts)).toMatchObject({ refunded_minor: 270_000n, exceptions: [] })
  })

  it('P37 takes a lost, failing or throttled answer for nothing learned', async () => {
    fake.change(ID, 'Completed')
    for (const fault of ['lost_answers', 'errors_before', 'errors_after', 'throttled'] as const) {
      fake.faults[fault] = 1
      expect(await fetchNow()).toMatchObject({ outcome: 'unavailable' })
    }
    expect(told(await fetchNow())).toEqual([PAID])
  })

  it('P37 waits no longer than its limit', async () => {
    // One of its own: a request that nobody waits for any more would use up a fault of the next test.
    const slow = await startFakeKhalti()
    slow.faults.delay_ms = 600
    const answer = await lookup(slow).fetch(REQUEST, EXPECTED, { ...askingContext(), limit_ms: 50 })
    expect(answer).toMatchObject({ outcome: 'unavailable' })
    await slow.close()
  })

  it('tells a person when it is locked out, and knows payments only', async () => {
    fake.faults.locked_out = true
    expect(await fetchNow()).toMatchObject({ outcome: 'refused' })
    const refund = await lookup().fetch({ object: 'refund', id: 'r' }, EXPECTED, askingContext())
    expect(refund).toMatchObject({ outcome: 'refused' })
    expect(await fetchNow({ ...EXPECTED, currency: 'USD' })).toMatchObject({ outcome: 'refused' })
  })
})

describe('refund', () => {
  const request = (change: Partial<RefundRequest> = {}): RefundRequest => ({
    key: 'refund-1',
    payment: ID,
    amount_minor: 270_000n,
    currency: 'NPR',
    full: true,
    ...change,
  })
  const refund = (change: Partial<RefundRequest> = {}) => lookup().refund!(request(change), askingContext())
  const sent = () => fake.requests.filter(({ path }) => path.endsWith('/refund/')).length

  it('P36 gives a whole payment back, and says so as the look-up does afterwards', async () => {
    fake.change(ID, 'Completed')
    const answer = await refund()
    expect(answer).toMatchObject({ outcome: 'accepted', provider_id: `${ID}-refund` })
    expect(fake.requests.at(-1)).toMatchObject({
      path: `/api/merchant-transaction/${transactionOf(ID)}/refund/`,
    })
    expect(fake.requests.at(-1)!.body.length).toBe(0)
    const seen = await fetchNow()
    if (answer.outcome !== 'accepted' || seen.outcome !== 'found') throw new Error('no answer')
    const state = derivePayment([...answer.facts, ...seen.facts])
    expect(state).toMatchObject({ refunded_minor: 270_000n, exceptions: [] })
  })

  it('P37 calls a lost answer unknown, and finds out before it would send again', async () => {
    fake.change(ID, 'Completed')
    const before = sent()
    let reads = 0
    const losing = askingContext()
    const ask: typeof losing.ask = (url, options) => {
      if (url.endsWith('/lookup/')) reads += 1
      else fake.faults.lost_answers = 1
      return losing.ask(url, options)
    }
    expect(await lookup().refund!(request(), { ...losing, ask })).toMatchObject({ outcome: 'unknown' })
    expect([reads, sent()]).toEqual([1, before + 1])
    expect(await refund()).toMatchObject({ outcome: 'accepted' })
    expect(sent()).toBe(before + 1)
  })

  it('P38 sends nothing while the state cannot be read', async () => {
    fake.change(ID, 'Completed')
    const before = sent()
    fake.faults.errors_before = 1
    expect(await refund()).toMatchObject({ outcome: 'unknown' })
    expect(sent()).toBe(before)
  })

  it.each([
    ['a part, whose unit nobody knows', 'Completed', { amount_minor: 100n, full: false }],
    ['another currency', 'Completed', { currency: 'USD' }],
    ['what is not paid', 'Pending', {}],
    ['what was refunded in part', 'Partially Refunded', {}],
    ['what Khalti does not know', 'Completed', { payment: 'UnknownPidx00000000001' }],
  ])('declines %s, and sends nothing', async (_, status, change) => {
    fake.change(ID, status)
    const before = sent()
    expect(await refund(change)).toMatchObject({ outcome: 'declined' })
    expect(sent()).toBe(before)
  })
})
