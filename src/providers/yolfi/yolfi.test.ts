import { readdirSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Translation } from '../../facts/event.ts'
import { contentDigest, encodeContent } from '../../facts/fact.ts'
import { token } from '../../money/currency.ts'
import { derivePayment } from '../../rules/derive-payment.ts'
import { deriveSubscription } from '../../rules/derive-subscription.ts'
import type { YolfiOptions } from './index.ts'
import { yolfi } from './index.ts'
import { signYolfi } from './sample.ts'

const SECRET = 'yolfi-endpoint-secret-qx-01'
const SAMPLES = new URL('./samples/', import.meta.url)

function sample(name: string): Buffer {
  return readFileSync(new URL(`${name}.json`, SAMPLES))
}

/** A sample with some fields of `data` and of its envelope changed; undefined takes one away. */
function changed(name: string, data: object, envelope: object = {}): Buffer {
  const message = JSON.parse(sample(name).toString('utf8'))
  return Buffer.from(JSON.stringify({ ...message, ...envelope, data: { ...message.data, ...data } }))
}

function translate(body: Buffer, options: Partial<YolfiOptions> = {}): Translation {
  const verified = { refused: false, secret_label: '', signed_at_ms: null, signed_id: null } as const
  const delivery = { method: 'POST', headers: {}, body }
  return yolfi({ webhookSecrets: SECRET, ...options }).translate(delivery, verified)
}

function verify(body: Buffer, headers: Record<string, string | string[]> = {}) {
  const delivery = { method: 'POST', headers: { ...signYolfi(body, SECRET), ...headers }, body }
  return yolfi({ webhookSecrets: SECRET }).verify(delivery, 0)
}

describe('verification', () => {
  const body = sample('payment.confirmed')

  it('P48 refuses a header id that is not the signed id, whatever it is', () => {
    const { id } = JSON.parse(body.toString('utf8'))
    expect(verify(body, { 'x-yolfi-event-id': id })).toMatchObject({ refused: false, signed_id: null })
    const others = fc.oneof(fc.string(), fc.constantFrom('', ` ${id}`, `${id} `, id.toUpperCase()))
    fc.assert(
      fc.property(others, (other) => {
        fc.pre(other !== id)
        expect(verify(body, { 'x-yolfi-event-id': other })).toMatchObject({ refused: true, status: 401 })
      }),
    )
    expect(verify(body, { 'x-yolfi-event-id': [id, id] })).toMatchObject({ refused: true, status: 401 })
  })

  it('P48 refuses a header id of a body that signs none', () => {
    for (const text of ['{}', 'no JSON', '{"id":7}'])
      expect(verify(Buffer.from(text), { 'x-yolfi-event-id': '7' })).toMatchObject({ refused: true })
  })

  it('P48 needs no header id', () => {
    const { 'x-yolfi-event-id': _, ...headers } = signYolfi(body, SECRET)
    const answer = yolfi({ webhookSecrets: SECRET }).verify({ method: 'POST', headers, body }, 0)
    expect(answer.refused).toBe(false)
  })

  it('P04 takes the one canonical spelling of a signature alone', () => {
    const value = signYolfi(body, SECRET)['x-yolfi-signature']!
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
    // The last digit before the padding has two bits that stand for nothing.
    const sibling = alphabet[alphabet.indexOf(value[42]!) ^ 1]!
    const spellings = [
      `${value.slice(0, 42)}${sibling}=`,
      value.replace(/=$/, ''),
      `${value}=`,
      `${value.slice(0, 20)}\n${value.slice(20)}`,
      ` ${value}`,
      Buffer.from(value, 'base64').toString('base64url'),
      Buffer.from(value, 'base64').toString('hex'),
      `v1,${value}`,
    ].filter((spelling) => spelling !== value)
    for (const spelling of spellings)
      expect(verify(body, { 'x-yolfi-signature': spelling })).toMatchObject({
        refused: true,
        code: 'signature_malformed',
      })
  })

  it('P06 never takes the API key for the secret of an endpoint', () => {
    expect(() => yolfi({ webhookSecrets: 'yk_1', apiKey: ' yk_1 ' })).toThrow(
      expect.objectContaining({ code: 'config_invalid' }),
    )
    const headers = signYolfi(body, 'yk_1')
    const provider = yolfi({ webhookSecrets: SECRET, apiKey: 'yk_1' })
    expect(provider.verify({ method: 'POST', headers, body }, 0)).toMatchObject({ code: 'signature_wrong' })
  })

  it.each([
    ['no secret', { webhookSecrets: undefined }, 'secret_missing'],
    ['a placeholder', { webhookSecrets: '<secret>' }, 'secret_missing'],
    ['a blank key', { apiKey: '' }, 'secret_missing'],
    ['plain http elsewhere', { baseUrl: 'http://yolfi.example/api' }, 'config_invalid'],
    ['an account with a slash', { account: 'a/b' }, 'config_invalid'],
  ])('P06 refuses %s', (_, options, code) => {
    expect(() => yolfi({ webhookSecrets: SECRET, ...(options as object) })).toThrow(
      expect.objectContaining({ code }),
    )
  })
})

describe('money', () => {
  const stated = (data: object, options?: Partial<YolfiOptions>) =>
    translate(changed('payment.confirmed', data), options).facts[0]?.content

  it('P17 P56 is what was asked for, never the token amount or the dollar value', () => {
    expect(stated({})).toMatchObject({
      milestone: 'succeeded',
      amount_minor: 2300n,
      currency: 'EUR',
      moved_at: '2026-03-03T12:12:41.000Z',
      order: 'A-1001',
    })
  })

  it('P56 any token amount and dollar value leave the facts as they are', () => {
    const known = digests(translate(sample('payment.confirmed')))
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), fc.jsonValue(), (amount, amountUsd, symbol) => {
        const body = changed('payment.confirmed', { amount, amountUsd, symbol })
        expect(digests(translate(body))).toEqual(known)
      }),
    )
  })

  it('P51 is looked up where the message tells no price, and counts as nothing until then', () => {
    for (const data of [{ sourceAmount: undefined }, { currency: null }]) {
      const { facts, lookups } = translate(changed('payment.confirmed', data))
      expect(lookups).toEqual([{ object: 'payment', id: 'inv_qx5f0c2a9e' }])
      expect(derivePayment(facts)).toMatchObject({ status: 'succeeded', captured_minor: 0n })
    }
  })

  it.each(['23.001', '1e3', '-23.00', '23,00', '', 23, '۲۳'])('P18 refuses %j as a price', (sourceAmount) => {
    expect(translate(changed('payment.confirmed', { sourceAmount }))).toMatchObject({
      outcome: 'unreadable',
      reason: expect.stringContaining('data.sourceAmount'),
    })
  })

  it('P18 reads prices by their currency, and tokens only where they are configured', () => {
    expect(stated({ sourceAmount: '2300', currency: 'JPY' })).toMatchObject({ amount_minor: 2300n })
    const priced = { sourceAmount: '23.000001', currency: 'USDC' }
    expect(stated(priced, { tokens: [token('USDC', 6)] })).toMatchObject({ amount_minor: 23_000_001n })
    expect(translate(changed('payment.confirmed', priced))).toMatchObject({ outcome: 'unreadable' })
  })

  it('P15 reads no payment id out of anything but the invoice', () => {
    const bare = { invoiceId: undefined, txHash: '0xabc', paylinkId: 'pl_1' }
    expect(translate(changed('payment.confirmed', bare))).toMatchObject({
      outcome: 'unreadable',
      reason: 'data.invoiceId is missing',
    })
  })
})

describe('whose order it is', () => {
  const orderOf = (data: object, options?: Partial<YolfiOptions>) => {
    const [fact] = translate(changed('payment.confirmed', data), options).facts
    return fact?.kind === 'payment_milestone' ? fact.content.order : 'none'
  }

  it('P56 is never read from a paylink or a user, and a paylink need not be there', () => {
    expect(orderOf({ merchantOrderId: undefined, paylinkId: 'pl_1' })).toBeUndefined()
    expect(orderOf({ paylinkId: undefined })).toBe('A-1001')
  })

  it('is read from metadata, and from the client reference only where that is configured', () => {
    const bare = { merchantOrderId: undefined }
    expect(orderOf({ ...bare, metadata: { order_id: 'A-7' } })).toBe('A-7')
    expect(orderOf(bare, { orderReference: { clientReferenceId: true } })).toBe('user_qx_17')
  })

  it('another system’s is not ours', () => {
    expect(translate(sample('payment.confirmed'), { orderReference: { pattern: /^B-/ } }).outcome).toBe(
      'not_ours',
    )
  })

  it('P29 settles only messages of the configured organisation, wherever the body names it', () => {
    const body = sample('payment.confirmed')
    expect(translate(body, { organizationId: 'org_qx_01', account: 'shop' })).toMatchObject({
      outcome: 'facts',
      account: 'shop',
    })
    const foreign = changed('payment.confirmed', { orgId: 'org_other' })
    for (const [other, organizationId] of [
      [body, 'org_2'],
      [foreign, 'org_qx_01'],
    ] as const) {
      const { outcome, account, facts } = translate(other, { organizationId, account: 'shop' })
      expect([outcome, facts]).toEqual(['not_ours', []])
      expect(account).not.toBe('shop')
    }
    const metadata = changed('payment.confirmed', { metadata: { orgId: 'org_other' } })
    expect(translate(metadata, { organizationId: 'org_qx_01' }).outcome).toBe('facts')
  })
})

describe('trials from the dashboard', () => {
  it('P28 say that they are tests, and ask for nothing', () => {
    const trial = translate(sample('payment.confirmed.trial'))
    expect(trial).toMatchObject({ mode: 'test', event_id: 'evt_test_qx0f1e2d3c' })
    expect(trial.lookups).toBeUndefined()
  })

  it('P28 that say they are live state nothing', () => {
    const mixed = changed('payment.confirmed', {}, { id: 'evt_test_1', livemode: true })
    expect(translate(mixed)).toMatchObject({ outcome: 'unreadable', facts: [] })
  })

  it('P28 a body that does not say what it is states nothing', () => {
    for (const livemode of [undefined, null, 'true', 1])
      expect(translate(changed('payment.confirmed', {}, { livemode }))).toMatchObject({
        outcome: 'unreadable',
      })
  })
})

describe('shapes of other providers', () => {
  const base = { id: 'evt_1', created: 1772539961, livemode: true }
  const intent = {
    object: 'payment_intent',
    id: 'pi_1',
    amount_received: 2300,
    currency: 'eur',
    status: 'succeeded',
  }
  const posts = [
    'payment_intent.succeeded',
    'charge.succeeded',
    'checkout.session.completed',
    'payment.confirmed',
  ].map((type) => ({ ...base, object: 'event', type, data: { object: intent } }))

  it.each([
    ...posts,
    { ...base, type: 'payment.confirmed', data: { ...intent, invoiceId: 'inv_1' } },
    { meta: { event_name: 'order_created' }, data: { type: 'orders', id: '1', attributes: { total: 2300 } } },
    { event_id: 'evt_1', event_type: 'transaction.completed', data: { id: 'txn_1', status: 'completed' } },
    { business_id: 'bus_1', type: 'payment.succeeded', data: { payment_id: 'pay_1', total_amount: 2300 } },
    { type: 'order.paid', timestamp: '2026-03-03T12:12:41Z', data: { id: 'ord_1', total_amount: 2300 } },
  ])('P46 state nothing at a native endpoint, and a person hears of it: $type', (shape) => {
    const { outcome, facts, lookups } = translate(Buffer.from(JSON.stringify(shape)))
    expect([outcome, facts, lookups]).toEqual(['unreadable', [], undefined])
  })

  it('P46 are told what to mend', () => {
    expect(translate(sample('checkout.session.completed.adapter')).reason).toContain('NONE')
  })

  it('P48 whose three posts share the native id in the header are refused by it', () => {
    for (const [at, post] of posts.entries()) {
      const body = Buffer.from(JSON.stringify({ ...post, id: `evt_of_stripe_${at}` }))
      expect(verify(body, { 'x-yolfi-event-id': 'evt_1' })).toMatchObject({ refused: true, status: 401 })
    }
  })
})

describe('order of arrival', () => {
  it('P20 an invoice that is overdue or created after it was confirmed stays paid', () => {
    const facts = ['payment.confirmed', 'invoice.created', 'invoice.overdue'].flatMap(
      (name) => translate(changed(name, { invoiceId: 'inv_1' })).facts,
    )
    fc.assert(
      fc.property(fc.shuffledSubarray(facts, { minLength: 3 }), (arrived) => {
        expect(derivePayment(arrived)).toMatchObject({ status: 'succeeded', captured_minor: 2300n })
      }),
    )
  })

  it('P16 two confirmed attempts for one order are two payments', () => {
    const ids = ['inv_1', 'inv_2'].map(
      (invoiceId) => translate(changed('payment.confirmed', { invoiceId })).facts[0]!.subject,
    )
    expect(ids).toMatchObject([{ id: 'inv_1' }, { id: 'inv_2' }])
  })

  it('P33 a paid period makes a subscription active until its end, and a later cancellation ends it', () => {
    const paid = translate(sample('payment.confirmed.recurring')).facts[1]!
    expect(deriveSubscription([paid])).toMatchObject({
      status: 'active',
      period_end: '2026-04-03T12:12:41.000Z',
    })
    const canceled = translate(changed('subscription.cancelled', { subscriptionId: 'sub_qx01' })).facts[0]!
    expect(deriveSubscription([canceled, paid])).toMatchObject({ status: 'canceled' })
  })
})

it('P30 every sample says something definite', () => {
  const outcomes = readdirSync(SAMPLES).map((name) => translate(sample(name.replace(/\.json$/, ''))).outcome)
  expect(new Set(outcomes)).toEqual(new Set(['facts', 'unreadable']))
})

function digests({ facts }: Translation): readonly string[] {
  return facts.map(
    ({ key, kind, content }) => `${key} ${contentDigest(kind, encodeContent(content)).toString('hex')}`,
  )
}
