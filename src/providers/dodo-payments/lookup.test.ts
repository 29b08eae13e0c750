import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { LookupContext, RefundRequest } from '../lookup.ts'
import type { FakeDodo } from './fake.ts'
import { startFakeDodo } from './fake.ts'
import type { DodoPaymentsOptions } from './index.ts'
import { dodoPayments } from './index.ts'
import { digests, SECRET, told, translate } from './told.ts'

/** The official SDK asks the stand-in: every request here goes through `dodopayments`. */

const START_MS = Date.parse('2025-10-09T08:53:00Z')
let clock_ms = START_MS
let fake: FakeDodo

beforeAll(async () => {
  fake = await startFakeDodo({ now_ms: () => clock_ms })
})
afterAll(() => fake.close())
beforeEach(() => {
  Object.defineProperty(fake.faults, 'lost_answers', { value: 0, writable: true, configurable: true })
  Object.assign(fake.faults, {
    throttled: 0,
    errors_before: 0,
    errors_after: 0,
    lost_answers: 0,
    delay_ms: 0,
  })
  Object.assign(fake.faults, { lag_ms: 0, locked_out: false, list_breaks: false })
})

const context: LookupContext = {
  now_ms: START_MS,
  limit_ms: 5_000,
  ask: () => Promise.reject(new Error('the SDK asks')),
}

function lookup(options: Partial<DodoPaymentsOptions> = {}) {
  const access = { apiKey: 'dodo_test_key', baseUrl: fake.url }
  return dodoPayments({ webhookSecrets: SECRET, ...access, ...options }).lookup!
}

const fetch = (object: string, id: string, options?: Partial<DodoPaymentsOptions>) =>
  lookup(options).fetch({ object, id }, null, context)

function pay(payment: string, wish: Partial<Parameters<FakeDodo['setPayment']>[0]> = {}) {
  fake.setPayment({
    payment,
    amount: 2165,
    currency: 'USD',
    tax: 165,
    order: 'A-1',
    status: 'succeeded',
    ...wish,
  })
}

describe('one object', () => {
  it('P15 tells the same facts as the messages about it', async () => {
    pay('pay_same')
    fake.setRefund({
      refund: 'ref_same',
      payment: 'pay_same',
      amount: 1000,
      currency: 'USD',
      partial: true,
      status: 'succeeded',
    })
    const told_by_messages = new Set(
      fake.messages
        .filter(({ body }) => body().includes('pay_same'))
        .flatMap(({ body }) => digests(translate(Buffer.from(body())).facts)),
    )
    const answer = await fetch('payment', 'pay_same')
    expect(answer.outcome === 'found' && new Set(digests(answer.facts))).toEqual(told_by_messages)
    const refund = await fetch('refund', 'ref_same')
    expect(refund.outcome === 'found' && digests(refund.facts).every((d) => told_by_messages.has(d))).toBe(
      true,
    )
  })

  it.each([
    ['requires_customer_action', 'requires_action'],
    ['requires_merchant_action', 'pending'],
    ['requires_payment_method', 'created'],
    ['requires_confirmation', 'created'],
    ['requires_capture', 'authorized'],
    ['processing', 'pending'],
  ])('P39 a payment that %s is %s, not failed', async (status, milestone) => {
    pay(`pay_${status}`, { status })
    const answer = await fetch('payment', `pay_${status}`)
    expect(answer).toMatchObject({ outcome: 'found', facts: [{ key: `payment/${milestone}` }] })
  })

  it('tells disputes and subscriptions by the times that the API gives', async () => {
    pay('pay_disp')
    fake.setDispute({
      dispute: 'dp_1',
      payment: 'pay_disp',
      amount: '2165',
      currency: 'USD',
      stage: 'dispute',
      status: 'dispute_opened',
    })
    const wish = { subscription: 'sub_1', amount: 2000, currency: 'USD', status: 'active' }
    fake.setSubscription('subscription.active', { ...wish, next_billing_date: '2025-11-09T08:53:00Z' })
    const at = new Date(clock_ms).toISOString()
    expect(await fetch('dispute', 'dp_1')).toMatchObject({
      outcome: 'found',
      facts: [{ key: `dispute/dp_1/chargeback/needs_response/${at}` }],
    })
    expect(await fetch('subscription', 'sub_1')).toMatchObject({
      outcome: 'found',
      facts: [{ key: `status/${at}/active` }],
    })
  })

  it('P40 a checkout leads to its payment once there is one', async () => {
    expect(await fetch('checkout', 'cks_later')).toEqual({ outcome: 'not_found' })
    pay('pay_later')
    expect(await fetch('checkout', 'cks_later')).toMatchObject({
      outcome: 'found',
      facts: [],
      lookups: [{ object: 'payment', id: 'pay_later' }],
    })
  })

  it('P17 gives refunds their amount in the terms of the orders', async () => {
    pay('pay_terms', {
      amount: 3084,
      currency: 'CAD',
      tax: 235,
      settlement: { amount: 2165, currency: 'USD', tax: 165 },
    })
    fake.setRefund({
      refund: 'ref_terms',
      payment: 'pay_terms',
      amount: 3084,
      currency: 'CAD',
      partial: false,
      status: 'succeeded',
    })
    const answer = await fetch('payment', 'pay_terms', { orderTotals: 'settled_without_tax' })
    expect(
      answer.outcome === 'found' && told(answer.facts).map(([, key, content]) => [key, content]),
    ).toMatchObject([
      ['payment/succeeded', { amount_minor: 2000n, currency: 'USD' }],
      ['refund/ref_terms/succeeded', { amount_minor: 2000n, currency: 'USD' }],
    ])
  })

  it('P37 tells absence from silence and from a closed door', async () => {
    pay('pay_door')
    expect(await fetch('payment', 'pay_nowhere')).toEqual({ outcome: 'not_found' })
    fake.faults.throttled = 1
    expect(await fetch('payment', 'pay_door')).toMatchObject({ outcome: 'unavailable', retry_after_ms: 1000 })
    fake.faults.errors_before = 1
    expect(await fetch('payment', 'pay_door')).toMatchObject({ outcome: 'unavailable' })
    fake.faults.lost_answers = 1
    expect(await fetch('payment', 'pay_door')).toMatchObject({ outcome: 'unavailable' })
    fake.faults.locked_out = true
    expect(await fetch('payment', 'pay_door')).toMatchObject({ outcome: 'refused' })
    expect(await fetch('invoice', 'inv_1')).toMatchObject({ outcome: 'refused' })
  })

  it('P37 asks once and no longer than it may: the SDK’s own retries are off', async () => {
    pay('pay_once')
    const before = fake.requests.length
    fake.faults.delay_ms = 400
    const answer = await lookup().fetch({ object: 'payment', id: 'pay_once' }, null, {
      ...context,
      limit_ms: 100,
    })
    expect(answer).toMatchObject({ outcome: 'unavailable' })
    expect(fake.requests.length).toBe(before + 1)
  })

  it('P45 tells neither key nor content in what it answers of a failure', async () => {
    fake.faults.locked_out = true
    expect(JSON.stringify(await fetch('payment', 'pay_once'))).not.toContain('dodo_test_key')
  })
})

describe('a list', () => {
  async function all(kind: 'payments' | 'refunds' | 'disputes', from_ms: number, to_ms: number) {
    const items = []
    for await (const page of lookup().list!(kind, { from_ms, to_ms }, context)) items.push(...page)
    return items
  }

  it('P41 reads every page, though the SDK itself would leave out the second, and the window half open', async () => {
    clock_ms = START_MS + 3_600_000
    for (let at = 0; at < 250; at += 1) {
      pay(`pay_list${at}`, { order: `L-${at}` })
      clock_ms += 1_000
    }
    const from_ms = START_MS + 3_600_000
    const items = await all('payments', from_ms, from_ms + 249_000)
    expect(new Set(items.map(({ id }) => id)).size).toBe(249)
    expect(items.at(-1)).toMatchObject({
      kind: 'payments',
      id: 'pay_list0',
      payment: 'pay_list0',
      amount_minor: 2165n,
      currency: 'USD',
      status: 'succeeded',
      at: new Date(from_ms).toISOString(),
    })
  })

  it('P41 rows state nothing that a look-up of the same payment contradicts', async () => {
    pay('pay_row', { subscription: 'sub_row' })
    const [item] = await all('payments', clock_ms, clock_ms + 1)
    const full = await fetch('payment', 'pay_row')
    const known = full.outcome === 'found' ? told(full.facts)[0]![2] : {}
    expect(known).toMatchObject(told(item!.facts)[0]![2])
  })

  it('lists refunds and disputes, which name their payment', async () => {
    clock_ms += 10_000
    fake.setRefund({
      refund: 'ref_l',
      payment: 'pay_row',
      amount: 5,
      currency: 'USD',
      partial: true,
      status: 'pending',
    })
    fake.setDispute({
      dispute: 'dp_l',
      payment: 'pay_row',
      amount: '5',
      currency: 'USD',
      stage: 'dispute',
      status: 'dispute_won',
    })
    expect(await all('refunds', clock_ms, clock_ms + 1)).toMatchObject([
      { id: 'ref_l', payment: 'pay_row', amount_minor: 5n, status: 'pending' },
    ])
    expect(await all('disputes', clock_ms, clock_ms + 1)).toMatchObject([
      { id: 'dp_l', payment: 'pay_row', amount_minor: null, status: 'dispute_won' },
    ])
  })

  it('P41 never ends normally when a page could not be had', async () => {
    fake.faults.list_breaks = true
    await expect(all('payments', START_MS, clock_ms)).rejects.toMatchObject({
      code: 'provider_unavailable',
      retriable: true,
    })
  })
})

describe('a refund', () => {
  const wish = (payment: string, more: Partial<RefundRequest> = {}): RefundRequest => ({
    key: `op-${payment}`,
    payment,
    amount_minor: 2165n,
    currency: 'USD',
    full: true,
    ...more,
  })
  const made = (payment: string) =>
    fake.messages.filter(({ type, body }) => type === 'refund.succeeded' && body().includes(`"${payment}"`))
      .length

  it('P36 is made once, however often it is asked for with one key', async () => {
    pay('pay_r1')
    const first = await lookup().refund!(wish('pay_r1'), context)
    expect(first).toMatchObject({
      outcome: 'accepted',
      facts: [{ content: { milestone: 'succeeded', amount_minor: 2165n, origin: 'ours' } }],
    })
    expect(await lookup().refund!(wish('pay_r1'), context)).toEqual(first)
    expect(made('pay_r1')).toBe(1)
  })

  it('P37 is unknown when the answer is lost, and found by its key afterwards', async () => {
    pay('pay_r2')
    loseAnswerWhen(() => made('pay_r2') > 0)
    expect(await lookup().refund!(wish('pay_r2'), context)).toMatchObject({ outcome: 'unknown' })
    expect(await lookup().refund!(wish('pay_r2'), context)).toMatchObject({ outcome: 'accepted' })
    expect(made('pay_r2')).toBe(1)
  })

  it('of a part is taken from the items, in the buyer’s currency', async () => {
    pay('pay_r3')
    const part = await lookup().refund!(wish('pay_r3', { amount_minor: 500n, full: false }), context)
    expect(part).toMatchObject({ outcome: 'accepted', facts: [{ content: { amount_minor: 500n } }] })
    const euros = wish('pay_r3', { key: 'op-2', amount_minor: 500n, full: false, currency: 'EUR' })
    expect(await lookup().refund!(euros, context)).toMatchObject({
      outcome: 'declined',
      code: 'wrong_currency',
    })
    const more = wish('pay_r3', { key: 'op-3', amount_minor: 5000n, full: false })
    expect(await lookup().refund!(more, context)).toMatchObject({ outcome: 'declined' })
  })

  it('P37 is declined only by an answer that says so', async () => {
    pay('pay_r4')
    await lookup().refund!(wish('pay_r4'), context)
    expect(await lookup().refund!(wish('pay_r4', { key: 'op-other' }), context)).toMatchObject({
      outcome: 'declined',
      code: 'PAYMENT_ALREADY_REFUNDED',
    })
    fake.faults.errors_before = 1
    expect(await lookup().refund!(wish('pay_r4'), context)).toMatchObject({ outcome: 'unknown' })
    fake.faults.locked_out = true
    expect(await lookup().refund!(wish('pay_r4'), context)).toMatchObject({ outcome: 'unknown' })
  })

  it('of a part is not made where orders are registered in other terms', async () => {
    pay('pay_r5')
    const part = wish('pay_r5', { amount_minor: 500n, full: false })
    const { refund } = lookup({ orderTotals: 'settled' })
    expect(await refund!(part, context)).toMatchObject({ outcome: 'declined' })
  })

  /** One answer is lost, as soon as something has happened. */
  function loseAnswerWhen(happened: () => boolean): void {
    let lost = false
    Object.defineProperty(fake.faults, 'lost_answers', {
      configurable: true,
      enumerable: true,
      get: () => (happened() && !lost ? 1 : 0),
      set: () => {
        lost = true
      },
    })
  }
})

describe('a charge', () => {
  const wish = { key: 'charge-1', amount_minor: 700n, currency: 'USD', order: 'A-77', customer: 'cus_1' }

  it('P36 of an on-demand subscription is made once under one key, and its payment names the order', async () => {
    const subscription = { subscription: 'sub_od', amount: 2000, currency: 'USD', status: 'active' }
    const due = { next_billing_date: '2025-11-09T08:53:00Z', on_demand: true, order: 'A-first' }
    fake.setSubscription('subscription.active', { ...subscription, ...due })
    const first = await lookup().charge!({ ...wish, method: 'sub_od' }, context)
    expect(first).toMatchObject({
      outcome: 'accepted',
      facts: [{ content: { milestone: 'created', order: 'A-77' } }],
    })
    expect(await lookup().charge!({ ...wish, method: 'sub_od' }, context)).toEqual(first)
    const id = first.outcome === 'accepted' ? first.provider_id : ''
    expect(await fetch('payment', id)).toMatchObject({
      facts: [{ content: { amount_minor: 700n, order: 'A-77', subscription: 'sub_od' } }],
    })
  })

  it('is declined without an on-demand subscription', async () => {
    expect(await lookup().charge!(wish, context)).toMatchObject({
      outcome: 'declined',
      code: 'method_missing',
    })
    expect(await lookup().charge!({ ...wish, method: 'sub_none' }, context)).toMatchObject({
      outcome: 'declined',
    })
  })
})
