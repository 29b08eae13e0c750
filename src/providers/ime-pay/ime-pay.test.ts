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
import type { FakeImePay } from './fake.ts'
import { startFakeImePay } from './fake.ts'
import type { ImePayOptions } from './index.ts'
import { imePay } from './index.ts'
import { imePayReturn } from './sample.ts'

const OPTIONS: ImePayOptions = {
  merchantCode: 'TESTMERCH',
  apiUser: 'apiuser',
  password: 'apipass',
  module: 'MODULE',
  mode: 'test',
}
const provider = imePay(OPTIONS)
const PAYMENT = 'ORD-1001-A1~202603031012345678'

const encoded = (text: string) => `data=${encodeURIComponent(Buffer.from(text).toString('base64'))}`

describe('return', () => {
  const hint = (canceled = false) => ({ lookup: { object: 'payment', id: PAYMENT }, canceled })

  it('P01 names the payment to ask about by reference and token, and states nothing', () => {
    const paid =
      'data=MHxTdWNjZXNzfDk4MDAwMDAwMDB8MTAyMjMzNDR8T1JELTEwMDEtQTF8MjcwMC4wMDAwfDIwMjYwMzAzMTAxMjM0NTY3OA=='
    const canceled =
      'data=M3xPcGVyYXRpb24gQ2FuY2VsbGVkIEJ5IFVzZXJ8fDB8T1JELTEwMDEtQTF8MjcwMC4wMDAwfDIwMjYwMzAzMTAxMjM0NTY3OA=='
    expect(provider.readReturn!(asReturn(paid))).toEqual(hint())
    expect(provider.readReturn!(asReturn(canceled))).toEqual(hint(true))
    const posted =
      'ResponseCode=0&ResponseDescription=Success&Msisdn=9800000000&TransactionId=10223344&RefId=ORD-1001-A1&TranAmount=2700.0000&TokenId=202603031012345678'
    expect(provider.readReturn!(asPosted(posted))).toEqual(hint())
    const verdict = provider.verify(asPosted(posted), NOW_MS)
    if (verdict.refused) throw new Error(verdict.detail)
    const translation = provider.translate(asPosted(posted), verdict)
    expect(translation).toMatchObject({
      outcome: 'facts',
      facts: [],
      lookups: [hint().lookup],
      event_id: null,
    })
    expect(JSON.stringify(translation)).not.toContain('9800000000')
  })

  it('reads the same seven parts that it writes', () => {
    const plain = '0|Success||10223344|ORD-1001-A1|2700.0000|202603031012345678'
    expect(imePayReturn({ payment: PAYMENT, amount_minor: 270_000n })).toBe(encoded(plain))
  })

  it('knows the cancel address that it handed out, also with the data behind it', () => {
    const address = `payment=${encodeURIComponent(PAYMENT)}`
    expect(provider.readReturn!(asReturn(address))).toEqual(hint(true))
    const both = `${address}?${imePayReturn({ payment: PAYMENT, amount_minor: 1n })}`
    expect(provider.readReturn!(asReturn(both))).toEqual(hint())
  })

  it('P04 is no hint without the token, with other parts or odd ones', () => {
    for (const query of [
      '',
      'data=',
      encoded('0|Success|9800000000|10223344|ORD-1001-A1|2700.0000'),
      encoded('0|Success|9800000000|10223344|ORD-1001-A1|2700.0000|2026|3'),
      encoded('0|Success|9800000000|10223344|ORD 1001|2700.0000|2026'),
      encoded('0|Success|9800000000|10223344|ORD-1001-A1|2700.0000|'),
      'ResponseCode=0&RefId=ORD-1001-A1&TransactionId=10223344',
      'RefId=A&RefId=B&TokenId=1',
      'payment=ORD-1001-A1',
      'payment=A~1~2',
      'payment=A~',
    ]) {
      expect(provider.readReturn!(asReturn(query)), query).toBeNull()
      expect(provider.verify(asReturn(query), NOW_MS), query).toMatchObject({ refused: true, status: 401 })
    }
  })

  it('takes what the mobile SDK has posted only when it is switched on, and as a hint', () => {
    expect(provider.methods).toEqual([])
    const open = imePay({ ...OPTIONS, deliveryService: true })
    expect(open.methods).toEqual(['POST'])
    const body = asPosted('{"ReferenceId":"ORD-1001-A1","TokenId":202603031012345678,"ResponseCode":0}')
    const verdict = open.verify(body, NOW_MS)
    if (verdict.refused) throw new Error(verdict.detail)
    expect(open.translate(body, verdict)).toMatchObject({ facts: [], lookups: [hint().lookup] })
    expect(open.verify(asPosted('{"ReferenceId":"ORD-1001-A1"}'), NOW_MS).refused).toBe(true)
  })

  it('P04 does not read a body that is larger than any of IME Pay', () => {
    const named = '"ReferenceId":"ORD-1001-A1","TokenId":"202603031012345678"'
    const body = asPosted(`{${named},"more":[${'1,'.repeat(10_000)}1]}`)
    expect(provider.verify(body, NOW_MS)).toMatchObject({ refused: true, code: 'signature_malformed' })
  })
})

describe('start', () => {
  let fake: FakeImePay
  beforeAll(async () => {
    fake = await startFakeImePay()
  })
  beforeEach(() => void Object.assign(fake.faults, NO_FAULTS))
  afterAll(() => fake.close())
  const here = () => imePay({ ...OPTIONS, baseUrl: fake.url })

  it('P17 binds a token to our amount and states both before the buyer leaves', async () => {
    const { payment, facts, redirect } = begun(await here().start!(START, askingContext()))
    expect(payment).toBe(PAYMENT)
    expect(facts).toMatchObject([
      {
        subject: { namespace: 'ime-pay', id: PAYMENT },
        key: 'payment/created',
        content: { amount_minor: 270_000n, currency: 'NPR', order: 'ORD-1001' },
      },
    ])
    const request = fake.requests.at(-1)!
    expect(request.body.toString()).toBe(
      '{"MerchantCode":"TESTMERCH","Amount":2700.00,"RefId":"ORD-1001-A1"}',
    )
    expect(request.headers).toMatchObject({ authorization: 'Basic YXBpdXNlcjphcGlwYXNz', module: 'TU9EVUxF' })
    expect(redirect.url.startsWith(`${fake.url}/WebCheckout/Checkout?data=`)).toBe(true)
    const data = new URL(redirect.url).searchParams.get('data')!
    expect(Buffer.from(data, 'base64').toString().split('|')).toEqual([
      '202603031012345678',
      'TESTMERCH',
      'ORD-1001-A1',
      '2700.00',
      'GET',
      'https://shop.example.com/return/wallet',
      'https://shop.example.com/return/wallet?payment=ORD-1001-A1%7E202603031012345678',
    ])
    expect(here().readReturn!(asReturn(fake.returnOf(PAYMENT)))?.lookup.id).toBe(PAYMENT)
  })

  it('P18 keeps a token whose digits no number can hold', async () => {
    const body = '{"ResponseCode":0,"TokenId":202603031012345678,"Amount":2700.0000,"RefId":"ORD-1001-A1"}'
    const { payment } = begun(await provider.start!(START, cannedContext(200, body)))
    expect(payment).toBe(PAYMENT)
    expect(payment).not.toContain(String(JSON.parse(body).TokenId))
  })

  it('names a long attempt by its digest, the same each time', async () => {
    const attempt = 'ORD-1001-0123456789abcdef0123456789abcdef'
    const asked = { ...START, attempt }
    const { payment } = begun(await here().start!(asked, askingContext()))
    expect(payment).toMatch(/^[0-9a-f]{20}~\d{18}$/)
    expect(await here().start!(asked, askingContext())).toMatchObject({ outcome: 'declined' })
  })

  it('P37 does not call a payment begun when the answer is lost, odd or about something else', async () => {
    fake.faults.lost_answers = 1
    expect(await here().start!({ ...START, attempt: 'B-1' }, askingContext())).toMatchObject({
      outcome: 'unavailable',
    })
    for (const body of [
      '{"ResponseCode":0,"TokenId":"1","RefId":"OTHER"}',
      '{"ResponseCode":0,"TokenId":"","RefId":"ORD-1001-A1"}',
      '{"ResponseCode":0,"TokenId":"1","RefId":"ORD-1001-A1","Amount":1.00}',
      '{"ResponseCode":null,"TokenId":"1","RefId":"ORD-1001-A1"}',
      '{"ResponseCode":"","TokenId":"1","RefId":"ORD-1001-A1"}',
      '<html/>',
    ]) {
      expect(await provider.start!(START, cannedContext(200, body)), body).toMatchObject({
        outcome: 'unavailable',
      })
    }
    fake.faults.locked_out = true
    expect(await here().start!(START, askingContext())).toMatchObject({ outcome: 'declined' })
  })

  it.each([
    ['another currency', { currency: 'USD' }],
    ['no amount', { amount_minor: 0n }],
    ['an address that would shift the fields', { return_url: 'https://shop.example.com/?a=|b' }],
  ])('P18 declines %s', async (_, change) => {
    expect(await provider.start!({ ...START, ...change }, askingContext())).toMatchObject({
      outcome: 'declined',
    })
  })
})

describe('configuration', () => {
  it.each([
    ['a blank password', { password: '' }, 'secret_missing'],
    ['a placeholder', { apiUser: 'your-api-user' }, 'secret_missing'],
    ['a blank module', { module: ' ' }, 'secret_missing'],
    ['a code that is too long', { merchantCode: 'TESTMERCHANT' }, 'config_invalid'],
    ['no mode', { mode: 'production' }, 'config_invalid'],
    [
      'a test system in live mode',
      { mode: 'live', baseUrl: 'https://stg.imepay.com.np:7979' },
      'config_invalid',
    ],
    ['plain http', { baseUrl: 'http://payment.imepay.com.np:7979' }, 'config_invalid'],
  ])('P06 refuses %s', (_, change, fault) => {
    expect(() => imePay({ ...OPTIONS, ...change } as ImePayOptions)).toThrow(
      expect.objectContaining({ code: fault }),
    )
  })

  it('cuts white space off the password and says so', () => {
    expect(imePay({ ...OPTIONS, password: ' apipass\n' }).secrets).toMatchObject([{ trimmed: true }])
  })
})
