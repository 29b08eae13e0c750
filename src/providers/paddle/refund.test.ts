import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { NO_FAULTS } from '../fake-server.ts'
import type { Lookup, LookupContext, RefundRequest } from '../lookup.ts'
import { newPaddleApi, type PaddleApi } from './api.ts'
import { type FakePaddle, startFakePaddle } from './fake.ts'
import { paddle } from './index.ts'
import { newPaddleLookup } from './lookup.ts'
import { SECRET, shown } from './told.ts'

let fake: FakePaddle
let lookup: Lookup
const NOW_MS = 1_760_000_000_000
const context: LookupContext = {
  now_ms: NOW_MS,
  ask: () => Promise.reject(new Error('the SDK asks by itself')),
  limit_ms: 5000,
}

const at = (options: object = {}) =>
  paddle({ webhookSecrets: SECRET, apiKey: 'pdl_sdbx_apikey_01forTestsOnly', baseUrl: fake.url, ...options })
    .lookup!

beforeAll(async () => {
  fake = await startFakePaddle(() => NOW_MS)
  lookup = at()
})
afterAll(() => fake.close())
beforeEach(() => {
  Object.assign(fake.faults, NO_FAULTS)
})

let sales = 0
function sold(amount_minor = 2400n, tax_minor = 400n): string {
  sales += 1
  const payment = fake.open({
    seed: `refund ${sales}`,
    order: `A-${sales}`,
    amount_minor,
    tax_minor,
    currency: 'EUR',
  })
  fake.pay(payment)
  return payment
}

const ask = (payment: string, amount_minor: bigint, more: Partial<RefundRequest> = {}, from = lookup) =>
  from.refund!({ key: 'op-1', payment, amount_minor, currency: 'EUR', full: false, ...more }, context)

/** What was posted last. */
const posted = () =>
  JSON.parse(fake.requests.findLast(({ method }) => method === 'POST')!.body.toString('utf8'))
const posts = () => fake.requests.filter(({ method }) => method === 'POST').length

/** The look before the request is answered; the request itself is done, and its answer never comes. */
function losing(fault: 'lost_answers' | 'errors_after'): Lookup {
  const api = newPaddleApi({ apiKey: 'pdl_sdbx_apikey_01forTestsOnly', url: fake.url })
  let calls = 0
  const call: PaddleApi['call'] = (limit_ms, ask_sdk) => {
    calls += 1
    if (calls === 2) fake.faults[fault] = 1
    return api.call(limit_ms, ask_sdk)
  }
  return newPaddleLookup({ account: 'default', orderReference: {}, amounts: 'gross' }, { call })
}

describe('refunds through the official SDK', () => {
  it('gives back the whole payment as a whole', async () => {
    const payment = sold()
    const answer = await ask(payment, 2400n, { full: true, reason: 'goodwill' })
    expect(posted()).toEqual({
      action: 'refund',
      transaction_id: payment,
      reason: 'goodwill [paidonce op-1]',
      type: 'full',
    })
    if (answer.outcome !== 'accepted') throw new Error(answer.outcome)
    expect(shown(answer.facts)).toEqual([
      [
        payment,
        `refund/${answer.provider_id}/pending`,
        {
          refund: answer.provider_id,
          milestone: 'pending',
          amount_minor: 2400n,
          currency: 'EUR',
          operation: 'op-1',
        },
      ],
    ])
  })

  it('gives back a part of a line, with its tax; then what is left', async () => {
    const payment = sold()
    const first = await ask(payment, 1000n)
    expect(posted()).toMatchObject({
      type: 'partial',
      tax_mode: 'internal',
      items: [{ item_id: expect.stringMatching(/^txnitm_/), type: 'partial', amount: '1000' }],
    })
    if (first.outcome !== 'accepted') throw new Error(first.outcome)
    fake.decide(first.provider_id, 'approved')
    expect(await ask(payment, 1401n, { key: 'op-2' })).toMatchObject({
      outcome: 'declined',
      code: 'amount_above_remaining',
    })
    expect(await ask(payment, 1400n, { key: 'op-2', full: true })).toMatchObject({ outcome: 'accepted' })
    expect(posted()).toMatchObject({ type: 'partial', items: [{ amount: '1400' }] })
  })

  it('counts without tax where that is configured', async () => {
    const net = at({ amounts: 'net' })
    const payment = sold()
    const answer = await ask(payment, 500n, {}, net)
    expect(posted()).toMatchObject({ tax_mode: 'external', items: [{ amount: '500' }] })
    expect(answer).toMatchObject({ outcome: 'accepted', facts: [{ content: { amount_minor: 500n } }] })
    expect(await ask(sold(), 2000n, {}, net)).toMatchObject({ outcome: 'accepted' })
    expect(posted()).toMatchObject({ type: 'full' })
  })

  it('P37 P38 looks first when it is asked again under the same key, so that a lost answer does not refund twice', async () => {
    const refunds = () => fake.events().filter((body) => body.includes('"adjustment.created"')).length
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('lost_answers' as const, 'errors_after' as const),
        fc.bigInt({ min: 1n, max: 1000n }),
        fc.boolean(),
        async (fault, amount_minor, decided) => {
          const payment = sold()
          const before = refunds()
          expect(await ask(payment, amount_minor, {}, losing(fault))).toMatchObject({ outcome: 'unknown' })
          if (decided) fake.decide(fake.waiting().at(-1)!, 'approved')
          const again = await ask(payment, amount_minor)
          expect(again).toMatchObject({
            outcome: 'accepted',
            facts: [{ content: { amount_minor, milestone: decided ? 'succeeded' : 'pending' } }],
          })
          expect(refunds() - before).toBe(1)
        },
      ),
      { numRuns: 20 },
    )
  })

  it('P38 asks for nothing while another refund waits, and says so', async () => {
    const payment = sold()
    await ask(payment, 100n)
    const before = posts()
    expect(await ask(payment, 100n, { key: 'op-2' })).toMatchObject({
      outcome: 'declined',
      code: 'adjustment_pending_refund_request',
    })
    expect(posts()).toBe(before)
    fake.decide(fake.waiting().at(-1)!, 'rejected')
    expect(await ask(payment, 2400n, { key: 'op-3' })).toMatchObject({ outcome: 'accepted' })
  })

  it('declines what can never be', async () => {
    const open = fake.open({ seed: 'open', amount_minor: 5n, currency: 'EUR' })
    expect(await ask(open, 5n)).toMatchObject({ code: 'transaction_not_completed' })
    expect(await ask('txn_01unknown', 5n)).toMatchObject({ outcome: 'declined', code: 'not_found' })
    expect(await ask('../adjustments', 5n)).toMatchObject({ outcome: 'declined', code: 'not_found' })
    expect(await ask(sold(), 5n, { currency: 'USD' })).toMatchObject({ code: 'currency_mismatch' })
    expect(await ask(sold(), 2401n)).toMatchObject({ code: 'amount_above_remaining' })
    const charged_back = sold()
    fake.chargeBack(charged_back)
    expect(await ask(charged_back, 5n)).toMatchObject({ code: 'amount_above_remaining' })
  })

  it('P37 never takes a failure for a no', async () => {
    const payment = sold()
    for (const fault of ['errors_before', 'lost_answers', 'throttled'] as const) {
      fake.faults[fault] = 1
      expect(await ask(payment, 5n)).toMatchObject({ outcome: 'unknown', reason: /Paddle/ })
    }
    fake.faults.locked_out = true
    expect(await ask(payment, 5n)).toMatchObject({ outcome: 'unknown', reason: /apiKey/ })
  })
})
