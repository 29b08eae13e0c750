import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { askingContext, cannedContext, EXPECTED, NOW_MS, told } from '../../../test/wallet.ts'
import { NO_FAULTS } from '../fake-server.ts'
import type { Expected, LookupContext } from '../lookup.ts'
import type { FakeImePay } from './fake.ts'
import { startFakeImePay } from './fake.ts'
import { imePay } from './index.ts'

const ID = 'ORD-1001-A1~202603031012345678'
const REQUEST = { object: 'payment', id: ID }
const PAID = ['attempt/12345678/succeeded 270000']

let fake: FakeImePay
let clock_ms = NOW_MS
beforeAll(async () => {
  fake = await startFakeImePay({ now_ms: () => clock_ms })
  fake.open(ID, 270_000n)
})
beforeEach(() => {
  Object.assign(fake.faults, NO_FAULTS)
  clock_ms += 60_000
})
afterAll(() => fake.close())

function lookup({ url: baseUrl } = fake) {
  const credentials = { merchantCode: 'TESTMERCH', apiUser: 'apiuser', password: 'apipass', module: 'MODULE' }
  return imePay({ ...credentials, mode: 'test', baseUrl }).lookup!
}

function fetchNow(expected: Expected | null = EXPECTED, context = askingContext()) {
  return lookup().fetch(REQUEST, expected, context)
}

/** Answers each path with one text. */
function answering(recheck: string, confirm: string, asked: string[] = []): LookupContext {
  const one = (body: string) => cannedContext(200, body).ask
  return {
    ...askingContext(),
    ask: (url, request) => {
      asked.push(url.slice(url.lastIndexOf('/') + 1))
      return one(url.endsWith('Confirm') ? confirm : recheck)(url, request)
    },
  }
}

const answer = (ResponseCode: unknown, change: object = {}) =>
  JSON.stringify({
    ResponseCode,
    TransactionId: '12345678',
    Msisdn: '9800000000',
    RefId: 'ORD-1001-A1',
    TokenId: '202603031012345678',
    ...change,
  })

describe('Recheck and Confirm', () => {
  it.each([
    ['0', PAID],
    ['1', ['payment/failed']],
    ['2', ['unavailable']],
    ['3', ['payment/canceled']],
    ['4', ['payment/pending']],
  ])('ResponseCode %s', async (code, facts) => {
    fake.change(ID, code)
    expect(told(await fetchNow())).toEqual(facts)
    expect(fake.isConfirmed(ID)).toBe(true)
  })

  it('confirms what is paid, with what the server says, before it states the money', async () => {
    fake.open('B-1~7', 5_000n)
    fake.change('B-1~7', '0')
    const request = { object: 'payment', id: 'B-1~7' }
    const paid = await lookup().fetch(request, { ...EXPECTED, amount_minor: 5_000n }, askingContext())
    expect(told(paid)).toEqual(['attempt/B-1~7/succeeded 5000'])
    expect(fake.isConfirmed('B-1~7')).toBe(true)
    expect(JSON.parse(fake.requests.at(-1)!.body.toString())).toEqual({
      MerchantCode: 'TESTMERCH',
      RefId: 'B-1',
      TokenId: '7',
      TransactionId: 'B-1~7',
      Msisdn: '9800000000',
    })
    expect(
      JSON.stringify(paid, (_, value) => (typeof value === 'bigint' ? `${value}` : value)),
    ).not.toContain('98000')
  })

  it('P37 asks once more when the confirmation is denied, and waits when it is lost', async () => {
    const asked: string[] = []
    const denied = answering(answer(0), answer(5), asked)
    expect(told(await fetchNow(EXPECTED, denied))).toEqual(PAID)
    expect(asked).toEqual(['Recheck', 'Confirm', 'Recheck'])
    expect(await fetchNow(EXPECTED, answering(answer(0), '<html/>'))).toMatchObject({ outcome: 'unreadable' })
  })

  it('P01 takes success only from a 0 that is there, as a number or as text', async () => {
    for (const code of [0, '0']) {
      expect(told(await fetchNow(EXPECTED, answering(answer(code), answer(code))))).toEqual(PAID)
    }
    for (const code of [null, '', ' ', '00', '0.0', false, [], {}, 'ok', -0.5, undefined]) {
      const answered = await fetchNow(EXPECTED, answering(answer(code), answer(0)))
      expect([code, answered]).toMatchObject([code, { outcome: 'unreadable' }])
    }
  })

  it('P17 states nothing when the answer names another reference, token or amount', async () => {
    for (const change of [
      { RefId: 'ORD-1001-A2' },
      { TokenId: '202603031012345660' },
      { TokenId: null },
      { Amount: 10 },
      { TranAmount: '2700.001' },
    ]) {
      const answered = await fetchNow(EXPECTED, answering(answer(0, change), answer(0)))
      expect([change, answered]).toMatchObject([change, { outcome: 'unreadable' }])
    }
    const confirmed = answering(answer(0), answer(0, { Amount: 10 }))
    expect(await fetchNow(EXPECTED, confirmed)).toMatchObject({ outcome: 'unreadable' })
    const full = answering(answer(0, { TranAmount: '2700.0000' }), answer(0))
    expect(told(await fetchNow(EXPECTED, full))).toEqual(PAID)
  })

  it('P18 tells tokens apart that one number cannot', async () => {
    const bare = answer(0).replace('"202603031012345678"', '202603031012345678')
    expect(told(await fetchNow(EXPECTED, answering(bare, bare)))).toEqual(PAID)
    const next = answer(0).replace('"202603031012345678"', '202603031012345679')
    expect(await fetchNow(EXPECTED, answering(next, next))).toMatchObject({ outcome: 'unreadable' })
  })

  it('P01 grants nothing for a payment that was not started here', async () => {
    fake.change(ID, '0')
    const asked = fake.requests.length
    expect(await fetchNow(null)).toEqual({ outcome: 'found', facts: [] })
    expect(fake.requests.length).toBe(asked)
    for (const id of ['ORD-1001-A1', '~1', 'A~1~2', 'a b~1']) {
      const odd = await lookup().fetch({ object: 'payment', id }, EXPECTED, askingContext())
      expect(odd).toMatchObject({ outcome: 'unreadable' })
    }
    // The token of another order does not go with this order's reference.
    const mixed = await lookup().fetch(
      { object: 'payment', id: 'ORD-9~202603031012345678' },
      EXPECTED,
      askingContext(),
    )
    expect(told(mixed)).toEqual(['payment/pending'])
  })

  it('P39 holds codes that nobody documents for a day, then asks for a person', async () => {
    fake.change(ID, '7')
    expect(told(await fetchNow())).toEqual(['payment/pending'])
    const old = { ...EXPECTED, started_at_ms: NOW_MS - 86_400_001 }
    expect(await fetchNow(old)).toMatchObject({
      outcome: 'unreadable',
      reason: expect.stringContaining('ResponseCode'),
    })
  })

  it('P30 never throws and never states money, whatever comes for an answer', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: 599 }), fc.oneof(fc.json(), fc.string()), async (status, body) => {
        const answered = await fetchNow(EXPECTED, cannedContext(status, body))
        expect(['unreadable', 'unavailable', 'refused']).toContain(answered.outcome)
      }),
      { numRuns: 300 },
    )
  })
})

describe('no answer', () => {
  it('P37 takes a lost, failing or throttled answer for nothing learned', async () => {
    fake.change(ID, '0')
    for (const fault of ['lost_answers', 'errors_before', 'errors_after', 'throttled'] as const) {
      fake.faults[fault] = 1
      expect(await fetchNow()).toMatchObject({ outcome: 'unavailable' })
    }
    expect(told(await fetchNow())).toEqual(PAID)
  })

  it('P37 waits no longer than its limit', async () => {
    // One of its own: a request that nobody waits for any more would use up a fault of the next test.
    const slow = await startFakeImePay()
    slow.faults.delay_ms = 600
    const answer = await lookup(slow).fetch(REQUEST, EXPECTED, { ...askingContext(), limit_ms: 50 })
    expect(answer).toMatchObject({ outcome: 'unavailable' })
    await slow.close()
  })

  it('shows the former state while reads lag behind', async () => {
    fake.change(ID, '4')
    clock_ms += 5_000
    fake.change(ID, '0')
    fake.faults.lag_ms = 1_000
    expect(told(await fetchNow())).toEqual(['payment/pending'])
    clock_ms += 1_000
    expect(told(await fetchNow())).toEqual(PAID)
  })

  it('tells a person when it is locked out, and knows payments only', async () => {
    fake.faults.locked_out = true
    expect(await fetchNow()).toMatchObject({ outcome: 'refused' })
    const refund = await lookup().fetch({ object: 'refund', id: 'r' }, EXPECTED, askingContext())
    expect(refund).toMatchObject({ outcome: 'refused' })
    expect(await fetchNow({ ...EXPECTED, currency: 'USD' })).toMatchObject({ outcome: 'refused' })
  })
})
