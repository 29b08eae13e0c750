import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  askingContext,
  asPosted,
  asReturn,
  begun,
  cannedContext,
  NOW_MS,
  START,
} from '../../../test/wallet.ts'
import { NO_FAULTS } from '../fake-server.ts'
import type { FakeKhalti } from './fake.ts'
import { startFakeKhalti } from './fake.ts'
import type { KhaltiOptions } from './index.ts'
import { khalti } from './index.ts'

const PIDX = 'bZQLD9wRVWo4CdESSfuSsB'
const OPTIONS: KhaltiOptions = {
  secretKey: 'test-key-of-the-stand-in',
  mode: 'test',
  websiteUrl: 'https://shop.example.com',
}
const provider = khalti(OPTIONS)

describe('return', () => {
  const hint = (canceled = false) => ({ lookup: { object: 'payment', id: PIDX }, canceled })

  it('P01 names the payment to ask about and states nothing', () => {
    const query = `pidx=${PIDX}&txnId=4H7A&amount=270000&total_amount=270000&status=Completed&mobile=98XXXXX000&tidx=4H7A&purchase_order_id=ORD-1001&purchase_order_name=Pass&transaction_id=4H7A`
    expect(provider.readReturn!(asReturn(query))).toEqual(hint())
    const verdict = provider.verify(asPosted(query), NOW_MS)
    if (verdict.refused) throw new Error(verdict.detail)
    const translation = provider.translate(asPosted(query), verdict)
    expect(translation).toMatchObject({
      outcome: 'facts',
      facts: [],
      lookups: [hint().lookup],
      event_id: null,
    })
    expect(JSON.stringify(translation)).not.toMatch(/98XXXXX000|ORD-1001|270000/)
  })

  it.each(['User canceled', 'Canceled', 'user cancelled'])('knows that the buyer gave up: %s', (status) => {
    expect(provider.readReturn!(asReturn(`pidx=${PIDX}&status=${status.replace(' ', '+')}`))).toEqual(
      hint(true),
    )
  })

  it('P04 is no hint without a pidx, and breaks nothing: some failures bring only a message', () => {
    for (const query of [
      '',
      'message=Failed',
      'pidx=',
      'pidx=a',
      'pidx=../../x',
      `pidx=${PIDX}&pidx=other-one`,
      `pidx=${'A'.repeat(65)}`,
    ]) {
      expect(provider.readReturn!(asReturn(query)), query).toBeNull()
      expect(provider.verify(asReturn(query), NOW_MS), query).toMatchObject({ refused: true, status: 401 })
    }
  })

  it('takes nothing at its webhook address, since Khalti sends nothing there', () => {
    expect(provider.methods).toEqual([])
  })
})

describe('start', () => {
  let fake: FakeKhalti
  beforeAll(async () => {
    fake = await startFakeKhalti()
  })
  beforeEach(() => void Object.assign(fake.faults, NO_FAULTS))
  afterAll(() => fake.close())
  const here = () => khalti({ ...OPTIONS, baseUrl: fake.url })

  it('P17 begins a payment with our amount in paisa and states it before the buyer leaves', async () => {
    const { payment, facts, redirect } = begun(await here().start!(START, askingContext()))
    const request = fake.requests.at(-1)!
    expect(request.path).toBe('/api/v2/epayment/initiate/')
    expect(request.headers.authorization).toBe('Key test-key-of-the-stand-in')
    expect(JSON.parse(request.body.toString())).toEqual({
      return_url: 'https://shop.example.com/return/wallet',
      website_url: 'https://shop.example.com',
      amount: 270_000,
      purchase_order_id: 'ORD-1001',
      purchase_order_name: 'Pass',
    })
    expect(redirect).toEqual({
      method: 'GET',
      url: `https://test-pay.khalti.com/?pidx=${payment}`,
      fields: {},
    })
    expect(facts).toMatchObject([
      {
        subject: { namespace: 'khalti', id: payment },
        key: 'payment/created',
        content: { amount_minor: 270_000n, currency: 'NPR', order: 'ORD-1001' },
      },
    ])
    expect(here().readReturn!(asReturn(fake.returnOf(payment)))?.lookup.id).toBe(payment)
  })

  it('P16 lets one order have several payments, each with a pidx of its own', async () => {
    const [one, other] = [
      begun(await here().start!(START, askingContext())),
      begun(await here().start!({ ...START, attempt: 'ORD-1001-A2' }, askingContext())),
    ]
    expect(one.payment).not.toBe(other.payment)
  })

  it('P37 does not call a payment begun when the answer is lost or odd', async () => {
    for (const fault of ['lost_answers', 'errors_before', 'errors_after', 'throttled'] as const) {
      fake.faults[fault] = 1
      expect(await here().start!(START, askingContext())).toMatchObject({ outcome: 'unavailable' })
    }
    for (const body of [
      '<html/>',
      'null',
      '{}',
      `{"pidx":"${PIDX}"}`,
      `{"pidx":"${PIDX}","payment_url":"javascript:alert(1)"}`,
      '{"pidx":"../x","payment_url":"https://pay.khalti.com/"}',
    ]) {
      expect(await provider.start!(START, cannedContext(200, body)), body).toMatchObject({
        outcome: 'unavailable',
      })
    }
  })

  it('says which field Khalti complains about, and nothing that stands in it', async () => {
    const body = '{"return_url":["Mira Lind is no address"],"error_key":"validation_error"}'
    const declined = await provider.start!(START, cannedContext(400, body))
    expect(declined).toEqual({
      outcome: 'declined',
      reason: 'Khalti answered with HTTP 400, about return_url, error_key',
    })
    fake.faults.locked_out = true
    expect(await here().start!(START, askingContext())).toMatchObject({ outcome: 'declined' })
  })

  it.each([
    ['another currency', { currency: 'USD' }],
    ['less than 10 rupees', { amount_minor: 999n }],
    ['more than a number can hold', { amount_minor: 2n ** 53n }],
    ['no address to come back to', { return_url: '' }],
  ])('P18 declines %s without asking', async (_, change) => {
    const asked: string[] = []
    expect(await provider.start!({ ...START, ...change }, cannedContext(200, '', asked))).toMatchObject({
      outcome: 'declined',
    })
    expect(asked).toEqual([])
  })
})

describe('configuration', () => {
  it.each([
    ['a blank key', { secretKey: '' }, 'secret_missing'],
    ['a placeholder', { secretKey: '<live_secret_key>' }, 'secret_missing'],
    ['the word Key before the key', { secretKey: 'Key 0123456789' }, 'config_invalid'],
    ['no mode, since the key does not tell', { mode: undefined }, 'config_invalid'],
    ['no shop', { websiteUrl: 'shop' }, 'config_invalid'],
    ['a test system in live mode', { mode: 'live', baseUrl: 'https://dev.khalti.com' }, 'config_invalid'],
    ['plain http', { baseUrl: 'http://khalti.com' }, 'config_invalid'],
  ])('P06 refuses %s', (_, change, fault) => {
    expect(() => khalti({ ...OPTIONS, ...change } as KhaltiOptions)).toThrow(
      expect.objectContaining({ code: fault }),
    )
  })

  it('cuts white space off the key and says so', () => {
    expect(khalti({ ...OPTIONS, secretKey: `${OPTIONS.secretKey}\n` }).secrets).toMatchObject([
      { trimmed: true },
    ])
  })

  it('asks the host of its mode', async () => {
    for (const [mode, host] of [
      ['live', 'khalti.com'],
      ['test', 'dev.khalti.com'],
    ] as const) {
      const asked: string[] = []
      await khalti({ ...OPTIONS, mode }).start!(START, cannedContext(500, '', asked))
      expect(asked).toEqual([`https://${host}/api/v2/epayment/initiate/`])
    }
  })
})
