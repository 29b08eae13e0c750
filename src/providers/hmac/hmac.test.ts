import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { HmacScheme } from './index.ts'
import { hmac, hmacSample, signHmac } from './index.ts'
import { gateway, SCHEME, translateGateway } from './vectors.ts'

const SECRET = 'gateway-key'
const NOW_MS = 1_760_000_000_123
const BODY = hmacSample({ payment: 'pay_1', amount: '19.99', currency: 'USD', order: 'A-1' })

const schemes = fc.record({
  algorithm: fc.constantFrom('sha1' as const, 'sha256' as const, 'sha384' as const, 'sha512' as const),
  encoding: fc.constantFrom('hex' as const, 'base64' as const),
  prefix: fc.constantFrom('', 'sha256=', 'v0:'),
  unit: fc.constantFrom('s' as const, 'ms' as const),
  signed: fc.constantFrom('{body}', '{time}.{body}', '{id}.{time}.{body}', 'v0:{time}:{body}', '{body}{id}'),
})

function schemeOf({ unit, signed, ...scheme }: Parameters<Parameters<typeof schemes.map>[0]>[0]): HmacScheme {
  return {
    ...scheme,
    header: 'X-Sig',
    signed,
    ...(signed.includes('{time}') ? { time: { header: 'X-Time', unit, tolerance_s: 60 } } : {}),
    ...(signed.includes('{id}') ? { id: { header: 'X-Id' } } : {}),
  }
}

function code(
  scheme: HmacScheme,
  headers: Readonly<Record<string, string | string[]>>,
  now_ms = NOW_MS,
  body = BODY,
) {
  const answer = gateway(SECRET, scheme).verify({ method: 'POST', headers, body: Buffer.from(body) }, now_ms)
  return answer.refused ? answer.code : null
}

describe('signature', () => {
  it('P02 P03 P48 verifies every scheme, and refuses it with any signed part changed', () => {
    fc.assert(
      fc.property(schemes.map(schemeOf), (scheme) => {
        const headers = signHmac(scheme, BODY, SECRET, NOW_MS, 'msg_1')
        expect(code(scheme, headers)).toBeNull()
        expect(code(scheme, headers, NOW_MS, `${BODY} `)).toBe('signature_wrong')
        if (scheme.id) expect(code(scheme, { ...headers, 'x-id': 'msg_2' })).toBe('signature_wrong')
        if (scheme.time) {
          expect(code(scheme, { ...headers, 'x-time': `${Number(headers['x-time']) + 1}` })).toBe(
            'signature_wrong',
          )
          expect(code(scheme, headers, NOW_MS + 61_000)).toBe('signature_stale')
          expect(code(scheme, headers, NOW_MS - 61_000)).toBe('signature_ahead')
        }
      }),
    )
  })

  it('P02 computes what a plain HMAC over the parts gives', () => {
    const expected = createHmac('sha256', SECRET).update(`1760000000.${BODY}`).digest('hex')
    expect(signHmac(SCHEME, BODY, SECRET, NOW_MS)).toMatchObject({
      'x-gateway-signature': `sha256=${expected}`,
      'x-gateway-time': '1760000000',
    })
  })

  it('P03 case-03 fixes the unit of the time and never guesses it', () => {
    const withUnit = (unit: 's' | 'ms'): HmacScheme => ({
      ...SCHEME,
      time: { header: 'X-Gateway-Time', unit, tolerance_s: 60 },
    })
    const inSeconds = signHmac(withUnit('s'), BODY, SECRET, NOW_MS)
    const inMilliseconds = signHmac(withUnit('ms'), BODY, SECRET, NOW_MS)
    expect(code(withUnit('ms'), inSeconds)).toBe('signature_malformed')
    expect(code(withUnit('s'), inMilliseconds)).toBe('signature_malformed')
  })

  it('P04 case-05 takes hex in either case, and only the configured encoding', () => {
    const headers = signHmac(SCHEME, BODY, SECRET, NOW_MS)
    const digest = headers['x-gateway-signature']!.slice('sha256='.length)
    const signature = (text: string) => code(SCHEME, { ...headers, 'x-gateway-signature': text })
    expect(signature(`sha256=${digest.toUpperCase()}`)).toBeNull()
    expect(signature(digest)).toBe('signature_malformed')
    expect(signature(`sha1=${digest}`)).toBe('signature_malformed')
    expect(signature(`sha256=${Buffer.from(digest, 'hex').toString('base64')}`)).toBe('signature_malformed')
  })

  it('P48 tells the signed id, and none where none is signed', () => {
    const scheme: HmacScheme = {
      header: 'X-Sig',
      algorithm: 'sha256',
      encoding: 'hex',
      signed: '{id}.{body}',
      id: { header: 'X-Id' },
    }
    const delivery = {
      method: 'POST',
      headers: signHmac(scheme, BODY, SECRET, NOW_MS, 'msg_9'),
      body: Buffer.from(BODY),
    }
    expect(gateway(SECRET, scheme).verify(delivery, NOW_MS)).toMatchObject({
      signed_id: 'msg_9',
      signed_at_ms: null,
    })
    expect(gateway(SECRET, scheme).capabilities.event_id).toBe('signed_header')
  })
})

describe('configuration', () => {
  const make = (options: object) => () =>
    hmac({ name: 'gateway', secrets: SECRET, translate: translateGateway, ...SCHEME, ...options })

  it.each([
    ['a time that is not signed', { signed: '{body}' }],
    ['a body that is not signed', { signed: '{time}' }],
    ['a signed time without its header', { time: undefined }],
    ['an id header that is not signed', { id: { header: 'X-Id' } }],
    ['an unknown part', { signed: '{time}.{body}.{url}' }],
    ['the body twice', { signed: '{time}{body}{body}' }],
    ['no tolerance', { time: { header: 'X-Gateway-Time', unit: 's', tolerance_s: 0 } }],
    ['an odd name', { name: 'Gateway!' }],
    ['a namespace that could be two', { namespace: 'gateway/eu' }],
    ['a blank namespace', { namespace: '' }],
    ['an account that could be two', { account: 'eu/shop' }],
    ['a secret that is not hex', { secretFormat: 'hex', secrets: 'not hex' }],
    ['a secret that is not base64', { secretFormat: 'base64', secrets: '!!!!' }],
  ])('P03 P48 refuses a scheme with %s', (_, options) => {
    expect(make(options)).toThrow(expect.objectContaining({ code: 'config_invalid' }))
  })

  it('P06 refuses blank and placeholder secrets', () => {
    for (const secrets of ['', ' ', 'changeme', []]) {
      expect(make({ secrets })).toThrow(expect.objectContaining({ code: 'secret_missing' }))
    }
  })

  it('reads keys that are given in hex or base64', () => {
    const key = Buffer.from('000102ff', 'hex')
    const headers = signHmac(SCHEME, BODY, key, NOW_MS)
    for (const [secretFormat, secrets] of [
      ['hex', '000102FF'],
      ['base64', 'AAEC/w=='],
      ['base64', 'AAEC/w'],
    ]) {
      const answer = make({ secretFormat, secrets })().verify(
        { method: 'POST', headers, body: Buffer.from(BODY) },
        NOW_MS,
      )
      expect(answer.refused).toBe(false)
    }
  })

  it('names the methods, stored headers and capabilities that it was given', () => {
    const provider = make({
      methods: ['PUT'],
      storedHeaders: ['X-Kind'],
      capabilities: { redelivers: true },
    })()
    expect(provider).toMatchObject({
      methods: ['PUT'],
      stored_headers: ['x-kind'],
      capabilities: { redelivers: true, signed_time: true },
    })
  })
})

describe('translate', () => {
  const verified = { refused: false, secret_label: '', signed_at_ms: null, signed_id: null } as const

  it('case-30 reads amounts by the documented format and keeps any other as unreadable', () => {
    const read = (amount: string) =>
      gateway(SECRET).translate(
        { method: 'POST', headers: {}, body: Buffer.from(hmacSample({ payment: 'p', amount })) },
        verified,
      )
    expect(read('1000.50').facts[0]?.content).toMatchObject({ amount_minor: 100_050n, currency: 'NPR' })
    for (const odd of ['1,000', '1 000', '1e3', '1000.505', '', '-5', 'NaN']) {
      expect(read(odd)).toMatchObject({ outcome: 'unreadable', facts: [] })
    }
  })

  it('P13 takes the event id from the body where no header is signed', () => {
    const body = Buffer.from(BODY)
    const headers = { 'x-request-id': 'unsigned' }
    expect(gateway(SECRET).translate({ method: 'POST', headers, body }, verified).event_id).toBe('msg_pay_1')
  })

  it('shows the stored headers to the translation, and no others', () => {
    const provider = hmac({
      ...SCHEME,
      name: 'gateway',
      secrets: SECRET,
      storedHeaders: ['X-Kind', 'X-Absent'],
      translate: (_, { headers }) => ({ ignored: JSON.stringify(headers) }),
    })
    const headers = { 'x-kind': 'payment', 'x-other': 'no' }
    expect(provider.translate({ method: 'POST', headers, body: Buffer.from('{}') }, verified).reason).toBe(
      '{"x-kind":"payment"}',
    )
  })
})
