import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { NO_FAULTS } from '../fake-server.ts'
import type { ListedItem, LookupContext } from '../lookup.ts'
import type { FakeCircle } from './fake.ts'
import { startFakeCircle } from './fake.ts'
import { sampleEndpoint } from './sample.ts'
import type { CircleWalletsOptions } from './wallets.ts'
import { circleWallets } from './wallets.ts'

/** Circle's own SDK asks the stand-in. */

const START_MS = 1_760_000_000_000
const MISSING = '11111111-2222-4333-8444-555555555555'
let now_ms = START_MS
let fake: FakeCircle

beforeAll(async () => {
  fake = await startFakeCircle(() => now_ms)
})
afterAll(() => fake.close())
beforeEach(() => {
  now_ms += 3_600_000
  Object.assign(fake.faults, NO_FAULTS)
})

const context: LookupContext = {
  now_ms: START_MS,
  limit_ms: 2_000,
  ask: () => Promise.reject(new Error('the SDK sends its own requests')),
}

function lookup(options: Partial<CircleWalletsOptions> = {}) {
  const provider = circleWallets({
    ...sampleEndpoint,
    publicKeys: {},
    apiKey: 'TEST_API_KEY:0a1b2c:3d4e5f',
    refunds: { entitySecret: 'ab'.repeat(32) },
    baseUrl: fake.url,
    ...options,
  })
  return provider.lookup!
}

const fetchOne = (id: string, object = 'transaction') => lookup().fetch({ object, id }, null, context)

async function list(
  kind: 'payments' | 'refunds' | 'disputes',
  from_ms: number,
  to_ms: number,
): Promise<ListedItem[]> {
  const items: ListedItem[] = []
  for await (const page of lookup().list!(kind, { from_ms, to_ms }, context)) items.push(...page)
  return items
}

describe('fetch', () => {
  it('P51 states what the webhook states', async () => {
    const id = fake.deposit({ amount: '19.99', order: 'A-17' })
    const message = fake.messages().at(-1)!
    const provider = circleWallets({ ...sampleEndpoint, publicKeys: {}, apiKey: 'k', baseUrl: fake.url })
    const delivery = { method: 'POST', headers: message.headers, body: Buffer.from(message.body) }
    const verified = await provider.verify(delivery, now_ms)
    expect(verified).toMatchObject({ refused: false })
    if (verified.refused || 'unconfirmed' in verified) return
    const { facts } = provider.translate(delivery, verified)
    expect(facts).toMatchObject([{ content: { amount_minor: 19_990_000n, order: 'A-17' } }])
    expect(await fetchOne(id)).toEqual({ outcome: 'found', facts })
  })

  it('tells apart what does not exist, what nobody knows and what is refused', async () => {
    const id = fake.deposit({ amount: '1' })
    expect(await fetchOne(MISSING)).toEqual({ outcome: 'not_found' })
    expect(await fetchOne('../wallets')).toEqual({ outcome: 'not_found' })
    expect(await fetchOne(id, 'wallet')).toMatchObject({ outcome: 'refused' })
    for (const fault of ['errors_before', 'errors_after', 'throttled', 'lost_answers'] as const) {
      fake.faults[fault] = 1
      expect([fault, await fetchOne(id)]).toMatchObject([fault, { outcome: 'unavailable' }])
    }
    fake.faults.locked_out = true
    expect(await fetchOne(id)).toMatchObject({ outcome: 'refused' })
  })

  it('asks once and waits no longer than it may', async () => {
    const id = fake.deposit({ amount: '1' })
    fake.faults.errors_before = 1
    const before = fake.requests.length
    await fetchOne(id)
    expect(fake.requests.length - before).toBe(1)
    fake.faults.delay_ms = 500
    const late = await lookup().fetch({ object: 'transaction', id }, null, { ...context, limit_ms: 50 })
    expect(late).toMatchObject({ outcome: 'unavailable' })
  })

  it('shows the former state while the API lags', async () => {
    const id = fake.deposit({ amount: '1', state: 'CONFIRMED' })
    now_ms += 1_000
    fake.reach(id, 'COMPLETE')
    fake.faults.lag_ms = 500
    expect(await fetchOne(id)).toMatchObject({ facts: [{ key: 'payment/pending' }] })
    now_ms += 500
    expect(await fetchOne(id)).toMatchObject({ facts: [{ key: 'payment/succeeded' }] })
  })
})

describe('list', () => {
  it('goes through all pages of a half-open window', async () => {
    const from_ms = now_ms
    const ids = Array.from({ length: 120 }, (_, n) => {
      now_ms = from_ms + n * 1_000
      return fake.deposit({ amount: `${n + 1}`, order: `B-${n}` })
    })
    const items = await list('payments', from_ms, from_ms + 119_000)
    expect(items.map(({ id }) => id)).toEqual(ids.slice(0, 119))
    expect(items[3]).toMatchObject({
      kind: 'payments',
      payment: ids[3],
      amount_minor: 4_000_000n,
      currency: 'USDC',
      status: 'COMPLETE',
      facts: [{ key: 'payment/succeeded' }],
    })
    expect(await list('disputes', from_ms, now_ms)).toEqual([])
  })

  it('does not end as if it were whole when it breaks off', async () => {
    const from_ms = now_ms
    for (let n = 0; n < 60; n += 1) fake.deposit({ amount: '1' })
    fake.faults.list_breaks = true
    await expect(list('payments', from_ms, from_ms + 1)).rejects.toMatchObject({
      code: 'provider_unavailable',
      retriable: true,
    })
  })
})

describe('refund', () => {
  const refund = (
    payment: string,
    key: string,
    options: Partial<CircleWalletsOptions> = {},
    amount_minor = 5_000_000n,
  ) => lookup(options).refund!({ key, payment, amount_minor, currency: 'USDC', full: false }, context)
  const sent = () => fake.requests.filter(({ path }) => path.endsWith('/transfer'))

  it('P36 sends it once under one key, however often it is asked for, and names the payment in refId', async () => {
    const payment = fake.deposit({ amount: '19.99', order: 'A-18' })
    const first = await refund(payment, 'op-1')
    if (first.outcome !== 'accepted') throw new Error(JSON.stringify(first))
    expect(first.facts).toMatchObject([
      {
        subject: { id: payment },
        key: `refund/${first.provider_id}/pending`,
        content: { amount_minor: 5_000_000n },
      },
    ])
    expect(await refund(payment, 'op-1')).toEqual(first)
    const [one, other] = sent()
      .slice(-2)
      .map(({ body }) => JSON.parse(body.toString('utf8')))
    expect(one).toMatchObject({ refId: `paidonce-refund:${payment}`, amounts: ['5.000000'] })
    expect(other.idempotencyKey).toBe(one.idempotencyKey)
    expect(other.entitySecretCiphertext).not.toBe(one.entitySecretCiphertext)

    fake.reach(first.provider_id, 'COMPLETE')
    expect(await fetchOne(first.provider_id)).toMatchObject({
      facts: [{ subject: { id: payment }, key: `refund/${first.provider_id}/succeeded` }],
    })
    const listed = await list('refunds', now_ms, now_ms + 1)
    expect(listed).toMatchObject([
      { kind: 'refunds', id: first.provider_id, payment, amount_minor: 5_000_000n },
    ])
  })

  it('P36 does not know whether a lost answer was a refund, and finds out by asking again under the same key', async () => {
    const payment = fake.deposit({ amount: '19.99' })
    const client = lookup()
    const request = { key: 'op-2', payment, amount_minor: 1_000_000n, currency: 'USDC', full: false }
    // The first two requests read the payment and the entity's public key.
    const asked = fake.requests.length
    await client.refund!({ ...request, key: 'op-warm' }, context)
    const before_transfer = fake.requests.length - asked - 1
    expect(before_transfer).toBeGreaterThan(0)
    fake.faults.delay_ms = 300
    const lost = await client.refund!(request, { ...context, limit_ms: 100 })
    expect(lost).toMatchObject({ outcome: 'unknown' })
    fake.faults.delay_ms = 0
    const known = await client.refund!(request, context)
    const again = await client.refund!(request, context)
    expect(known).toMatchObject({ outcome: 'accepted' })
    expect(again).toEqual(known)
  })

  it('declines what can never be, without sending it', async () => {
    const payment = fake.deposit({ amount: '1' })
    const before = sent().length
    expect(await refund(MISSING, 'op-3')).toMatchObject({ outcome: 'declined', code: '404' })
    expect(await refund('tx-1', 'op-4')).toMatchObject({ outcome: 'declined', code: 'not_a_transaction' })
    const tokens = [{ ...sampleEndpoint.tokens[0]!, code: 'EURC' }]
    expect(await refund(payment, 'op-5', { tokens })).toMatchObject({ outcome: 'declined', code: 'currency' })
    expect(sent().length).toBe(before)
  })

  it('takes refused credentials for no answer to the refund', async () => {
    const payment = fake.deposit({ amount: '1' })
    fake.faults.locked_out = true
    expect(await refund(payment, 'op-6')).toMatchObject({ outcome: 'unknown' })
  })

  it('is not offered without an entity secret, which reading does not need', async () => {
    const id = fake.deposit({ amount: '1' })
    const reader = lookup({ refunds: undefined })
    expect(reader.refund).toBeUndefined()
    expect(await reader.fetch({ object: 'transaction', id }, null, context)).toMatchObject({
      outcome: 'found',
    })
  })
})
