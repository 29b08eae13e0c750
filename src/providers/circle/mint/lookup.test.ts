import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { NO_FAULTS } from '../../fake-server.ts'
import type { ListedItem, LookupContext } from '../../lookup.ts'
import type { FakeCircle } from '../fake.ts'
import { startFakeCircle } from '../fake.ts'
import type { CircleMintOptions } from './mint.ts'
import { circleMint } from './mint.ts'
import { sampleIntent, sampleMintEndpoint } from './sample.ts'

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

function provider(options: Partial<CircleMintOptions> = {}) {
  return circleMint({
    ...sampleMintEndpoint,
    apiKey: 'TEST_API_KEY:0a1b2c:3d4e5f',
    baseUrl: fake.url,
    ...options,
  })
}

const lookup = (options: Partial<CircleMintOptions> = {}) => provider(options).lookup!
const fetchOne = (object: string, id: string) => lookup().fetch({ object, id }, null, context)

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
    const id = fake.mint.pay({ amount: '19.99', order: 'A-17' })
    const message = fake.mint.messages().at(-1)!
    const delivery = { method: 'POST', headers: message.headers, body: Buffer.from(message.body) }
    const verified = await provider().verify(delivery, now_ms)
    expect(verified).toMatchObject({ refused: false })
    if (verified.refused || 'unconfirmed' in verified) return
    const { facts } = provider().translate(delivery, verified)
    expect(facts).toMatchObject([
      { subject: { id }, content: { amount_minor: 1999n, currency: 'USD', order: 'A-17' } },
    ])
    expect(await fetchOne('payment', id)).toEqual({ outcome: 'found', facts })
  })

  it('joins an intent to its payment and asks for the money there', async () => {
    const id = fake.mint.pay({ amount: '5.00', order: 'A-18' })
    expect(await fetchOne('paymentIntent', sampleIntent('A-18'))).toMatchObject({
      outcome: 'found',
      facts: [{ key: 'link', content: { payment: id } }],
      lookups: [{ object: 'payment', id }],
    })
  })

  it('tells apart what does not exist, what nobody knows and what is refused', async () => {
    const id = fake.mint.pay({ amount: '1.00' })
    expect(await fetchOne('payment', MISSING)).toEqual({ outcome: 'not_found' })
    expect(await fetchOne('payment', '../payouts')).toEqual({ outcome: 'not_found' })
    expect(await fetchOne('payout', id)).toMatchObject({ outcome: 'refused' })
    fake.faults.throttled = 1
    expect(await fetchOne('payment', id)).toMatchObject({ outcome: 'unavailable', retry_after_ms: 1_000 })
    for (const fault of ['errors_before', 'lost_answers'] as const) {
      fake.faults[fault] = 1
      expect([fault, await fetchOne('payment', id)]).toMatchObject([fault, { outcome: 'unavailable' }])
    }
    fake.faults.locked_out = true
    expect(await fetchOne('payment', id)).toMatchObject({ outcome: 'refused' })
  })
})

describe('list', () => {
  it('goes through all pages of a half-open window, payments and refunds apart', async () => {
    const from_ms = now_ms
    const ids = Array.from({ length: 60 }, (_, n) => {
      now_ms = from_ms + n * 1_000
      return fake.mint.pay({ amount: `${n + 1}.00` })
    })
    const made = await lookup().refund!(refundOf(ids[0]!, 'list-1'), context)
    expect((await list('payments', from_ms, now_ms)).map(({ id }) => id)).toEqual(ids.slice(0, 59))
    const refunds = await list('refunds', from_ms, now_ms + 1)
    expect(refunds).toMatchObject([{ payment: ids[0], amount_minor: 100n, status: 'pending' }])
    expect(made).toMatchObject({ outcome: 'accepted', provider_id: refunds[0]?.id })
    expect(await list('disputes', from_ms, now_ms)).toEqual([])
  })

  it('does not end as if it were whole when it breaks off', async () => {
    const from_ms = now_ms
    for (let n = 0; n < 60; n += 1) fake.mint.pay({ amount: '1.00' })
    fake.faults.list_breaks = true
    await expect(list('payments', from_ms, from_ms + 1)).rejects.toMatchObject({
      code: 'provider_unavailable',
    })
  })
})

const refundOf = (payment: string, key: string) => {
  return { key, payment, amount_minor: 100n, currency: 'USD', full: false }
}

describe('refund', () => {
  it('P36 is done once under one key, also when its first answer was lost', async () => {
    const payment = fake.mint.pay({ amount: '19.99' })
    const client = lookup()
    const first = await client.refund!(refundOf(payment, 'op-1'), context)
    expect(first).toMatchObject({
      outcome: 'accepted',
      facts: [{ subject: { id: payment }, content: { milestone: 'pending', amount_minor: 100n } }],
    })
    expect(await client.refund!(refundOf(payment, 'op-1'), context)).toEqual(first)
    expect(await client.refund!(refundOf(payment, 'op-2'), context)).not.toEqual(first)
  })

  it('of a payment on a chain goes nowhere until the configuration says where', async () => {
    const payment = fake.mint.pay({ amount: '19.99', order: 'A-19' })
    expect(await lookup().refund!(refundOf(payment, 'op-3'), context)).toMatchObject({ code: 'destination' })
    const sent = await lookup({ refundTo: 'sender' }).refund!(refundOf(payment, 'op-3'), context)
    expect(sent).toMatchObject({ outcome: 'accepted', facts: [{ subject: { id: payment } }] })
    const body = JSON.parse(fake.requests.at(-1)!.body.toString('utf8'))
    expect(body).toMatchObject({
      destination: { chain: 'ETH', address: '0x1111111111111111111111111111111111111111' },
      toAmount: { amount: '1.00', currency: 'USD' },
    })
  })

  it('declines what can never be and knows nothing of what went wrong on the way', async () => {
    expect(await lookup().refund!(refundOf(MISSING, 'op-4'), context)).toMatchObject({
      outcome: 'declined',
      code: '404',
    })
    const payment = fake.mint.pay({ amount: '1.00' })
    const yen = { ...refundOf(payment, 'op-5'), currency: 'USDC' }
    expect(await lookup().refund!(yen, context)).toMatchObject({ outcome: 'declined', code: 'currency' })
    fake.faults.throttled = 1
    expect(await lookup().refund!(refundOf(payment, 'op-6'), context)).toMatchObject({ outcome: 'unknown' })
  })
})
