import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { derivePayment } from '../../rules/derive-payment.ts'
import type { Provider } from '../contract.ts'
import type { ListedItem, ListedKind, RefundRequest } from '../lookup.ts'
import { contextAt, endpointOf, told } from './asked.ts'
import { type FakePaypal, startFakePaypal } from './fake.ts'

const START_MS = Date.parse('2026-03-03T12:12:36Z')
const DAY_MS = 86_400_000
let now_ms = START_MS
const context = (limit_ms?: number) => contextAt(now_ms, limit_ms)
let fake: FakePaypal
let provider: Provider

beforeEach(async () => {
  now_ms = START_MS
  fake = await startFakePaypal(() => now_ms)
  provider = endpointOf(fake)
})
afterEach(() => fake.close())

const sale = { seed: 'a', amount_minor: 2500n, currency: 'EUR', order: 'ORD-1' }
const ask = (id: string, limit_ms?: number) =>
  provider.lookup!.fetch({ object: 'capture', id }, null, context(limit_ms))

describe('asking', () => {
  it('uses one token for many questions, and a new one when it ends or is refused', async () => {
    const id = fake.pay(sale)
    const tokens = () => fake.requests.filter(({ path }) => path === '/v1/oauth2/token').length
    await Promise.all([ask(id), ask(id), ask(id)])
    await ask(id)
    expect(tokens()).toBe(1)
    now_ms += 10 * 3_600_000
    expect(await ask(id)).toMatchObject({ outcome: 'found' })
    expect(tokens()).toBe(2)
  })

  it('is not stuck after a token that could not be had', async () => {
    const id = fake.pay(sale)
    fake.faults.errors_before = 1
    expect(await ask(id)).toMatchObject({ outcome: 'unavailable' })
    expect(await ask(id)).toMatchObject({ outcome: 'found' })
  })

  it('tells apart: no answer, too many requests, no right, nothing there', async () => {
    const id = fake.pay(sale)
    await ask(id)
    fake.faults.errors_before = 1
    expect(await ask(id)).toMatchObject({ outcome: 'unavailable', reason: 'PayPal answered 500' })
    fake.faults.throttled = 1
    expect(await ask(id)).toMatchObject({ outcome: 'unavailable', retry_after_ms: 1000 })
    fake.faults.lost_answers = 1
    expect(await ask(id)).toMatchObject({ outcome: 'unavailable' })
    fake.faults.locked_out = true
    expect(await ask(id)).toMatchObject({
      outcome: 'refused',
      reason: expect.stringContaining('clientSecret'),
    })
    fake.faults.locked_out = false
    expect(await ask(id)).toMatchObject({ outcome: 'found' })
    expect(await ask('UNKNOWN')).toEqual({ outcome: 'not_found' })
    expect(await ask('../../v1/oauth2/token')).toEqual({ outcome: 'not_found' })
    expect(await provider.lookup!.fetch({ object: 'payout', id }, null, context())).toMatchObject({
      outcome: 'unreadable',
    })
  })

  it('gives up at the time limit', async () => {
    const id = fake.pay(sale)
    await ask(id)
    fake.faults.delay_ms = 400
    expect(await ask(id, 50)).toMatchObject({ outcome: 'unavailable' })
  })

  it('a look-up right after the event may find nothing yet, which is no verdict', async () => {
    fake.faults.lag_ms = 3000
    const id = fake.pay(sale)
    expect(await ask(id)).toEqual({ outcome: 'not_found' })
    now_ms += 3000
    expect(await ask(id)).toMatchObject({ outcome: 'found' })
  })

  it('asks as the official SDK does', async () => {
    await ask(fake.pay(sale))
    const [, asked] = fake.requests
    expect(asked?.headers['user-agent']).toContain('PayPal REST API TypeScript SDK')
    expect(asked?.headers.authorization).toBe('Bearer stand-in-token')
  })

  it('P55 tells no secret when it fails', async () => {
    fake.faults.locked_out = true
    expect(JSON.stringify(await ask('A1'))).not.toContain('stand-in-client-key')
  })
})

describe('refunding', () => {
  const wanted = (request: Partial<RefundRequest> = {}): RefundRequest => ({
    key: 'op-1',
    payment: '',
    amount_minor: 1000n,
    currency: 'EUR',
    full: false,
    ...request,
  })
  const refund = (request: Partial<RefundRequest>) => provider.lookup!.refund!(wanted(request), context())

  it('P36 is done once under one key, and its answer is what its event will look up', async () => {
    const payment = fake.pay(sale)
    const first = await refund({ payment })
    const again = await refund({ payment })
    expect(again).toEqual(first)
    if (first.outcome !== 'accepted') throw new Error('not accepted')
    expect(told(first.facts)[0]).toMatchObject([
      payment,
      `refund/${first.provider_id}/succeeded`,
      { amount_minor: 1000n },
    ])
    const looked = await provider.lookup!.fetch({ object: 'refund', id: first.provider_id }, null, context())
    expect(looked).toMatchObject({ outcome: 'found', facts: first.facts })
    const sent = fake.requests.find(({ method, path }) => method === 'POST' && path.endsWith('/refund'))
    expect(sent?.headers).toMatchObject({ 'paypal-request-id': 'op-1', prefer: 'return=representation' })
    expect(JSON.parse(sent!.body.toString())).toEqual({ amount: { currency_code: 'EUR', value: '10.00' } })
  })

  it('P37 a lost answer is unknown, and a repeat under the same key finds the first refund', async () => {
    const payment = fake.pay(sale)
    await ask(payment)
    for (const fault of ['lost_answers', 'errors_after'] as const) {
      fake.faults[fault] = 1
      expect(await refund({ payment, key: fault })).toMatchObject({ outcome: 'unknown' })
      expect(await refund({ payment, key: fault })).toMatchObject({ outcome: 'accepted' })
    }
    expect(fake.events().filter((body) => body.includes('PAYMENT.CAPTURE.REFUNDED'))).toHaveLength(2)
  })

  it('P37 never takes missing credentials or a full queue for a no', async () => {
    const payment = fake.pay(sale)
    fake.faults.throttled = 1
    expect(await refund({ payment })).toMatchObject({ outcome: 'unknown', retry_after_ms: undefined })
    fake.faults.locked_out = true
    expect(await refund({ payment })).toMatchObject({ outcome: 'unknown' })
  })

  it('is declined for more than there is, and for a capture that is not there', async () => {
    const payment = fake.pay(sale)
    expect(await refund({ payment, amount_minor: 2501n })).toMatchObject({
      outcome: 'declined',
      code: 'REFUND_AMOUNT_EXCEEDED',
    })
    expect(await refund({ payment: 'UNKNOWN' })).toMatchObject({
      outcome: 'declined',
      code: 'RESOURCE_NOT_FOUND',
    })
    expect(await refund({ payment: '../x' })).toMatchObject({ outcome: 'declined', code: 'invalid_payment' })
  })

  it('P18 sends forint and yen in whole units and declines a fraction of them', async () => {
    const payment = fake.pay({ ...sale, amount_minor: 500_000n, currency: 'HUF' })
    expect(await refund({ payment, amount_minor: 150_050n, currency: 'HUF' })).toMatchObject({
      outcome: 'declined',
      code: 'invalid_amount',
    })
    expect(await refund({ payment, amount_minor: 150_000n, currency: 'HUF' })).toMatchObject({
      outcome: 'accepted',
    })
    const sent = fake.requests.findLast(({ method, path }) => method === 'POST' && path.endsWith('/refund'))
    expect(JSON.parse(sent!.body.toString())).toEqual({ amount: { currency_code: 'HUF', value: '1500' } })
  })
})

describe('listing', () => {
  async function list(kind: ListedKind, from_ms: number, to_ms: number): Promise<readonly ListedItem[]> {
    const items: ListedItem[] = []
    for await (const page of provider.lookup!.list!(kind, { from_ms, to_ms }, context())) items.push(...page)
    return items
  }

  it('P41 gives every payment and refund of a window once, page by page and month by month', async () => {
    const payments: string[] = []
    for (let at = 0; at < 7; at += 1) {
      payments.push(fake.pay({ ...sale, seed: `s${at}`, order: `ORD-${at}` }))
      now_ms += 15 * DAY_MS
    }
    const refund = fake.refund(payments[6]!, 1000n)
    const listed = await list('payments', START_MS, START_MS + 100 * DAY_MS)
    expect(listed.map(({ id }) => id)).toEqual(payments)
    expect(listed[3]).toMatchObject({
      amount_minor: 2500n,
      currency: 'EUR',
      status: 'S',
      payment: payments[3],
    })
    expect(told(listed[3]!.facts)).toMatchObject([
      [payments[3], `attempt/${payments[3]}/succeeded`, { order: 'ORD-3', amount_minor: 2500n }],
    ])
    const refunds = await list('refunds', START_MS, now_ms + 1)
    expect(refunds).toMatchObject([{ id: refund, payment: payments[6], amount_minor: 1000n }])
    expect(told(refunds[0]!.facts)).toMatchObject([[payments[6], `refund/${refund}/succeeded`, {}]])
    expect(await list('payments', START_MS, START_MS)).toEqual([])
  })

  it('P41 the window ends before its end', async () => {
    const id = fake.pay(sale)
    expect(await list('payments', START_MS - 1000, START_MS)).toEqual([])
    expect(await list('payments', START_MS, START_MS + 1000)).toMatchObject([{ id }])
  })

  it('P52 what the report tells agrees with what the capture tells', async () => {
    const id = fake.pay(sale)
    const answer = await ask(id)
    const [item] = await list('payments', START_MS, START_MS + 1)
    const facts = answer.outcome === 'found' ? [...answer.facts, ...item!.facts] : []
    expect(derivePayment(facts)).toMatchObject({ status: 'succeeded', captured_minor: 2500n, exceptions: [] })
  })

  it('P41 lists disputes with what was disputed', async () => {
    const payments = [1, 2, 3].map((seed) => fake.pay({ ...sale, seed: `${seed}` }))
    const disputes = payments.map((payment) => fake.dispute(payment, 1000n))
    const listed = await list('disputes', START_MS, START_MS + 1000)
    expect(listed.map(({ id, payment }) => [id, payment])).toEqual(
      disputes.map((id, at) => [id, payments[at]]),
    )
    expect(listed[0]!.facts).toHaveLength(1)
  })

  it('P41 a list that breaks off is no list', async () => {
    for (const seed of ['1', '2', '3']) fake.dispute(fake.pay({ ...sale, seed }), 1000n)
    fake.faults.list_breaks = true
    for (const kind of ['payments', 'disputes'] as const) {
      await expect(list(kind, START_MS, START_MS + 1000)).rejects.toMatchObject({
        code: 'provider_unavailable',
      })
    }
  })
})
