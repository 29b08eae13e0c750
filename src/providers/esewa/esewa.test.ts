import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { asPosted, asReturn, begun, NOW_MS, START } from '../../../test/wallet.ts'
import { NO_FAULTS } from '../fake-server.ts'
import type { FakeEsewa } from './fake.ts'
import { startFakeEsewa } from './fake.ts'
import type { EsewaOptions } from './index.ts'
import { esewa } from './index.ts'
import { RETURN_NAMES } from './return-data.ts'
import { esewaReturn } from './sample.ts'
import { digestOf, signedText } from './signed-text.ts'

const SECRET = '8gBm/:&EnhH.1/q'
const provider = esewa({ productCode: 'EPAYTEST', secret: SECRET, mode: 'test' })
const context = { now_ms: NOW_MS, limit_ms: 1, ask: () => Promise.reject(new Error('nothing is asked')) }

/** A query whose JSON is validly signed over the names that it lists. */
function signed(names: readonly string[], values: Record<string, string>): string {
  const told = { ...values, signed_field_names: names.join(',') }
  const signature = digestOf(signedText(names, told), Buffer.from(SECRET)).toString('base64')
  const data = Buffer.from(JSON.stringify({ ...told, signature })).toString('base64')
  return `data=${encodeURIComponent(data)}`
}

const VALUES = {
  transaction_code: '0009TST',
  status: 'COMPLETE',
  total_amount: '2,700.0',
  transaction_uuid: 'ORD-1001-A1',
  product_code: 'EPAYTEST',
}

function code(query: string): string | null {
  const verdict = provider.verify(asReturn(query), NOW_MS)
  return verdict.refused ? verdict.code : null
}

describe('signature of a return', () => {
  it('P02 verifies 1000.0 as a bare number over the text as sent', () => {
    const query = esewaReturn({ payment: 'A-1', amount_minor: 100_000n, amount: 'number' }, SECRET)
    const text = Buffer.from(new URLSearchParams(query).get('data')!, 'base64').toString('utf8')
    expect(text).toContain('"total_amount":1000.0,')
    expect(code(query)).toBeNull()
    const rendered = Buffer.from(JSON.stringify(JSON.parse(text))).toString('base64')
    expect(code(`data=${encodeURIComponent(rendered)}`)).toBe('signature_wrong')
  })

  it('P02 verifies any amount in either form, and no other amount', () => {
    fc.assert(
      fc.property(fc.bigInt(1n, 10n ** 12n), fc.constantFrom('text', 'number'), (amount_minor, amount) => {
        const query = esewaReturn({ payment: 'A-1', amount_minor, amount }, SECRET)
        expect(code(query)).toBeNull()
        const text = Buffer.from(new URLSearchParams(query).get('data')!, 'base64').toString('utf8')
        const more = text.replace(/("total_amount":"?)/, '$19')
        expect(code(`data=${encodeURIComponent(Buffer.from(more).toString('base64'))}`)).toBe(
          'signature_wrong',
        )
      }),
      { numRuns: 100 },
    )
  })

  it('takes the other alphabet, missing padding and a blank for a plus sign', () => {
    const data = new URLSearchParams(esewaReturn({ payment: 'A-1', amount_minor: 100n }, SECRET)).get('data')!
    for (const spelling of [
      data.replace(/=+$/, ''),
      data.replaceAll('+', '-').replaceAll('/', '_'),
      data.replaceAll('+', ' '),
    ]) {
      expect(code(`data=${encodeURIComponent(spelling)}`)).toBeNull()
    }
  })

  it('P04 refuses data with a signature that does not cover what matters', () => {
    const [first = '', ...rest] = RETURN_NAMES
    const lists = [[], [first], rest, [...RETURN_NAMES, 'status'], RETURN_NAMES.slice(0, 5)]
    for (const names of lists)
      expect([names, code(signed(names, VALUES))]).toEqual([names, 'signature_malformed'])
    expect(code(signed(RETURN_NAMES, VALUES))).toBeNull()
    expect(code(signed(['note', ...RETURN_NAMES], { ...VALUES, note: 'x' }))).toBeNull()
  })

  it('P04 refuses a value that could shift the border between two signed fields', () => {
    for (const values of [
      { ...VALUES, transaction_code: 'X,status=COMPLETE' },
      { ...VALUES, status: 'a=b' },
      { ...VALUES, total_amount: '1,transaction_uuid=B-2' },
    ]) {
      expect(code(signed(RETURN_NAMES, values))).toBe('signature_malformed')
    }
  })

  it('P04 refuses what is no data of eSewa, whatever it is', () => {
    for (const data of ['', '=', '%', 'e30', 'bnVsbA==', 'W10=', 'A'.repeat(5000), 'Zm9', 'Zm9=v']) {
      expect(code(`data=${encodeURIComponent(data)}`)).toBe('signature_malformed')
    }
    expect(code('')).toBe('signature_missing')
    const good = esewaReturn({ payment: 'A-1', amount_minor: 100n }, SECRET)
    expect(code(`${good}&data=other`)).toBe('signature_missing')
  })

  it('never takes the signature of our own form for one of eSewa', async () => {
    const { redirect } = begun(await provider.start!(START, context))
    const data = Buffer.from(JSON.stringify({ ...redirect.fields, status: 'COMPLETE' })).toString('base64')
    expect(code(`data=${encodeURIComponent(data)}`)).toBe('signature_malformed')
  })
})

describe('return', () => {
  const hint = (payment: string, canceled = false) => ({
    lookup: { object: 'payment', id: payment },
    canceled,
  })

  it('P01 names the payment to ask about and states nothing', () => {
    const query = esewaReturn({ payment: 'ORD-1001-A1', amount_minor: 270_000n }, SECRET)
    expect(provider.readReturn!(asReturn(query))).toEqual(hint('ORD-1001-A1'))
    expect(provider.readReturn!(asPosted(query))).toEqual(hint('ORD-1001-A1'))
    expect(provider.readReturn!(asReturn(`shop=1?${query}`))).toEqual(hint('ORD-1001-A1'))
    const verified = provider.verify(asPosted(query), NOW_MS)
    expect(verified).toMatchObject({ refused: false, signed_at_ms: null, signed_id: null })
    if (verified.refused) return
    expect(provider.translate(asPosted(query), verified)).toMatchObject({ facts: [], outcome: 'facts' })
  })

  it('P01 is no hint with a wrong signature or for another merchant code', () => {
    const forged = esewaReturn({ payment: 'ORD-1001-A1', amount_minor: 270_000n }, 'another secret')
    const foreign = esewaReturn({ payment: 'A-1', amount_minor: 1n, productCode: 'NP-ES-OTHER' }, SECRET)
    for (const query of [forged, foreign, '', 'data=', 'payment=', 'payment=a%20b', 'transaction_uuid=A-1']) {
      expect(provider.readReturn!(asReturn(query)), query).toBeNull()
    }
  })

  it('knows the failure address that it handed out', async () => {
    const { redirect } = begun(await provider.start!(START, context))
    const { search } = new URL(redirect.fields.failure_url!)
    expect(provider.readReturn!(asReturn(search.slice(1)))).toEqual(hint('ORD-1001-A1', true))
  })
})

describe('start', () => {
  let fake: FakeEsewa
  beforeAll(async () => {
    fake = await startFakeEsewa()
  })
  beforeEach(() => void Object.assign(fake.faults, NO_FAULTS))
  afterAll(() => fake.close())

  it('signs the form as eSewa documents it', async () => {
    const example = { ...START, attempt: '241028', amount_minor: 11_000n }
    const documented = begun(await provider.start!(example, context)).redirect
    expect(documented).toMatchObject({
      method: 'POST',
      url: 'https://rc-epay.esewa.com.np/api/epay/main/v2/form',
      fields: { total_amount: '110', signature: 'i94zsd3oXF6ZsSr/kGqT4sSzYQzjj1W/waxjWyRwaME=' },
    })
    expect(begun(await provider.start!(START, context)).redirect.fields).toEqual({
      amount: '2700',
      tax_amount: '0',
      product_service_charge: '0',
      product_delivery_charge: '0',
      total_amount: '2700',
      transaction_uuid: 'ORD-1001-A1',
      product_code: 'EPAYTEST',
      success_url: 'https://shop.example.com/return/wallet',
      failure_url: 'https://shop.example.com/return/wallet?payment=ORD-1001-A1',
      signed_field_names: 'total_amount,transaction_uuid,product_code',
      signature: 'NOdh04BIdib/lcL4cZCm0qPKIzRQB3+KDjc7m0nbdM8=',
    })
  })

  it('does not match the documented digest that is wrong in the documentation', async () => {
    const wrong = { ...START, attempt: '11-201-13', amount_minor: 10_000n }
    const { signature } = begun(await provider.start!(wrong, context)).redirect.fields
    expect(signature).toBe('5DZywcrTKD0gia/rsSMcrRHmJl+4Tbol6S+lWgdJ94E=')
  })

  it('P17 states our own amount and order before the buyer leaves', async () => {
    const { payment, facts } = begun(await provider.start!(START, context))
    expect(payment).toBe('ORD-1001-A1')
    expect(facts).toEqual([
      {
        subject: { kind: 'payment', namespace: 'esewa', account: 'default', id: 'ORD-1001-A1' },
        key: 'payment/created',
        kind: 'payment_milestone',
        content: { milestone: 'created', amount_minor: 270_000n, currency: 'NPR', order: 'ORD-1001' },
      },
    ])
  })

  it('makes a form that eSewa takes, once', async () => {
    const here = esewa({ productCode: 'EPAYTEST', secret: SECRET, mode: 'test', formBaseUrl: fake.url })
    const { redirect } = begun(await here.start!({ ...START, amount_minor: 270_050n }, context))
    const post = () =>
      fetch(redirect.url, { method: 'POST', body: new URLSearchParams(redirect.fields) }).then(
        ({ status }) => status,
      )
    expect([await post(), await post()]).toEqual([200, 409])
    const query = fake.returnOf('ORD-1001-A1')
    expect(here.readReturn!(asReturn(query))?.lookup.id).toBe('ORD-1001-A1')
  })

  it.each([
    ['another currency', { currency: 'USD' }],
    ['no amount', { amount_minor: 0n }],
    ['an attempt that eSewa would not take', { attempt: 'a_1' }],
    ['no address to come back to', { return_url: 'shop' }],
  ])('P18 declines %s', async (_, change) => {
    expect(await provider.start!({ ...START, ...change }, context)).toMatchObject({ outcome: 'declined' })
  })
})

describe('configuration', () => {
  it.each([
    ['a blank secret', { secret: ' ' }, 'secret_missing'],
    ['a placeholder', { secret: '<secret>' }, 'secret_missing'],
    ['a blank code', { productCode: '' }, 'secret_missing'],
    ['the published secret in live mode', { productCode: 'NP-ES-SHOP', mode: 'live' }, 'config_invalid'],
    ['the test code in live mode', { secret: 'own-secret', mode: 'live' }, 'config_invalid'],
    ['no mode', { mode: undefined }, 'config_invalid'],
    ['the bracket of the documentation', { secret: `${SECRET}(` }, 'config_invalid'],
    [
      'a test system in live mode',
      { productCode: 'S', secret: 'own-secret', mode: 'live', statusBaseUrl: 'https://rc.esewa.com.np' },
      'config_invalid',
    ],
    ['plain http', { statusBaseUrl: 'http://epay.esewa.com.np' }, 'config_invalid'],
    ['an address with a query', { statusBaseUrl: 'https://epay.esewa.com.np/?a=b' }, 'config_invalid'],
  ])('P06 refuses %s', (_, change, fault) => {
    const options = { productCode: 'EPAYTEST', secret: SECRET, mode: 'test', ...change } as EsewaOptions
    expect(() => esewa(options)).toThrow(expect.objectContaining({ code: fault }))
  })

  it('cuts white space off the secret and says so', () => {
    const made = esewa({ productCode: 'EPAYTEST', secret: `${SECRET}\n`, mode: 'test' })
    expect(made.secrets).toMatchObject([{ trimmed: true }])
    expect(
      made.verify(asReturn(esewaReturn({ payment: 'A', amount_minor: 1n }, SECRET)), NOW_MS).refused,
    ).toBe(false)
  })

  it('takes nothing at its webhook address, since eSewa sends nothing there', () => {
    expect(provider.methods).toEqual([])
  })

  it('P47 leaves alone what is not expected', () => {
    const choosy = esewa({ productCode: 'EPAYTEST', secret: SECRET, mode: 'test', expects: ['COMPLETE'] })
    const verified = { refused: false, secret_label: '', signed_at_ms: null, signed_id: null } as const
    const body = asPosted(esewaReturn({ payment: 'A-1', amount_minor: 1n, status: 'PENDING' }, SECRET))
    expect(choosy.translate(body, verified)).toMatchObject({ outcome: 'ignored', facts: [] })
  })
})
