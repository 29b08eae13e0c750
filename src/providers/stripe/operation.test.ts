import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CONTEXT, listed, lookupAt, NOW_MS } from './asking.ts'
import type { StripeFake } from './fake.ts'
import { startStripeFake } from './fake.ts'

let fake: StripeFake

beforeEach(async () => {
  fake = await startStripeFake({ now_ms: () => NOW_MS })
  fake.pay({ payment: 'pi_1', amount_minor: 1999n, order: 'A-1' })
})
afterEach(() => fake.close())

const REFUND = { key: 'refund/A-1/1', payment: 'pi_1', amount_minor: 500n, currency: 'USD', full: false }
const CHARGE = { key: 'charge/A-2', amount_minor: 1200n, currency: 'USD', order: 'A-2', customer: 'cus_1' }
const refund = (more: object = {}) => lookupAt(fake).refund({ ...REFUND, ...more }, CONTEXT)
const charge = (more: object = {}) => lookupAt(fake).charge({ ...CHARGE, ...more }, CONTEXT)
const day = { from_ms: NOW_MS - 1000, to_ms: NOW_MS + 1000 }
const refunds = () => listed(lookupAt(fake).list('refunds', day, CONTEXT))
const sent = () => fake.requests.filter(({ method }) => method === 'POST')

describe('refund', () => {
  it('is asked for under our key, and tells its fact', async () => {
    const answer = await refund({ reason: 'requested_by_customer' })
    expect(answer).toMatchObject({
      outcome: 'accepted',
      facts: [{ content: { milestone: 'succeeded', amount_minor: 500n, currency: 'USD' } }],
    })
    expect(sent()[0]?.headers).toMatchObject({ 'idempotency-key': REFUND.key })
    expect(new URLSearchParams(sent()[0]?.body.toString())).toEqual(
      new URLSearchParams({
        payment_intent: 'pi_1',
        amount: '500',
        'metadata[paidonce_operation]': REFUND.key,
        reason: 'requested_by_customer',
      }),
    )
  })

  it('P37 gives back once when the answer was lost and the request is repeated under its key', async () => {
    // The SDK repeats it once by itself, so two answers are lost.
    fake.faults.lost_answers = 2
    expect(await refund()).toMatchObject({ outcome: 'unknown' })
    const again = await refund()
    expect(again).toMatchObject({ outcome: 'accepted' })
    expect(await refunds()).toHaveLength(1)
    expect(await refunds()).toMatchObject([{ id: again.outcome === 'accepted' ? again.provider_id : '' }])
    expect(sent()).toHaveLength(3)
  })

  it('P37 calls unknown what ended with a server error, and so does every repeat that gets the same error again', async () => {
    fake.faults.errors_after = 1
    expect(await refund()).toMatchObject({ outcome: 'unknown' })
    expect(await refund()).toMatchObject({ outcome: 'unknown' })
    expect(await refunds()).toHaveLength(1)
  })

  it('finds its own refund when Stripe has forgotten the key and nothing is left to give back', async () => {
    const first = await refund({ amount_minor: 1999n, full: true })
    fake.faults.keys_expire = true
    expect(await refund({ amount_minor: 1999n, full: true })).toEqual(first)
    expect(await refund({ amount_minor: 1999n, key: 'refund/A-1/other' })).toMatchObject({
      outcome: 'declined',
      code: 'charge_already_refunded',
    })
    expect(await refunds()).toHaveLength(1)
  })

  it('shows why a key must not be used after its window: a part is given back twice', async () => {
    await refund()
    fake.faults.keys_expire = true
    await refund()
    expect(await refunds()).toHaveLength(2)
  })

  it('takes a definitive no for one, and nothing else', async () => {
    expect(await refund({ amount_minor: 2000n })).toMatchObject({ outcome: 'declined' })
    expect(await refund({ key: 'k2', payment: 'pi_none' })).toMatchObject({
      outcome: 'declined',
      code: 'resource_missing',
    })
    expect(await refund()).toMatchObject({ outcome: 'accepted' })
    expect(await refund({ amount_minor: 600n })).toMatchObject({ outcome: 'unknown' })
    for (const fault of ['throttled', 'errors_before'] as const) {
      fake.faults[fault] = 1
      expect(await refund({ key: fault })).toMatchObject({ outcome: 'unknown' })
    }
    fake.faults.locked_out = true
    expect(await refund({ key: 'k3' })).toMatchObject({ outcome: 'unknown' })
    expect(sent().length).toBeGreaterThan(5)
  })

  it('is not sent when Stripe could not express it or its key', async () => {
    expect(await refund({ currency: 'MGA', amount_minor: 50n })).toMatchObject({
      code: 'amount_not_expressible',
    })
    expect(await refund({ key: 'k'.repeat(256) })).toMatchObject({ code: 'key_unusable' })
    expect(sent()).toEqual([])
  })
})

describe('charge', () => {
  it('charges the stored means of payment for our order, off session, under our key', async () => {
    const answer = await charge({ method: 'pm_1' })
    expect(answer).toMatchObject({
      outcome: 'accepted',
      facts: [
        { content: { milestone: 'succeeded', amount_minor: 1200n, currency: 'USD', order: 'A-2' } },
        { content: { milestone: 'succeeded', amount_minor: 1200n, order: 'A-2' } },
      ],
    })
    const [request] = sent()
    expect(request?.headers).toMatchObject({ 'idempotency-key': CHARGE.key })
    expect(Object.fromEntries(new URLSearchParams(request?.body.toString()))).toMatchObject({
      amount: '1200',
      currency: 'usd',
      customer: 'cus_1',
      payment_method: 'pm_1',
      confirm: 'true',
      off_session: 'true',
      'metadata[order_id]': 'A-2',
    })
  })

  it('P37 charges once when the answer was lost', async () => {
    fake.faults.lost_answers = 2
    expect(await charge()).toMatchObject({ outcome: 'unknown' })
    expect(await charge()).toMatchObject({ outcome: 'accepted' })
    const payments = await listed(lookupAt(fake).list('payments', day, CONTEXT))
    expect(payments.filter((item) => item.id !== 'pi_1')).toHaveLength(1)
  })

  it('takes a declined card for a no, the same under the same key', async () => {
    for (const _ of [1, 2]) {
      expect(await charge({ method: 'pm_declined' })).toMatchObject({
        outcome: 'declined',
        code: 'insufficient_funds',
      })
    }
  })

  it('keeps the amount exact in currencies whose units differ', async () => {
    expect(await charge({ currency: 'UGX', amount_minor: 5n })).toMatchObject({
      facts: [{ content: { amount_minor: 5n, currency: 'UGX' } }, {}],
    })
    expect(new URLSearchParams(sent()[0]?.body.toString()).get('amount')).toBe('500')
  })
})
