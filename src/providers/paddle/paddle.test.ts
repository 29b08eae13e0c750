import { Paddle } from '@paddle/paddle-node-sdk'
import fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { Fault } from '../../facts/fault.ts'
import type { PaddleOptions } from './index.ts'
import { paddle, samples, signPaddle } from './index.ts'
import { changed, SAMPLE_NAMES, SECRET, sample, told, translate } from './told.ts'
import { specimen } from './vectors.ts'

const NOW_MS = 1_760_000_000_500
const sdk = new Paddle('pdl_sdbx_apikey_01nothing')

const provider = (options: Partial<PaddleOptions> = {}) => paddle({ webhookSecrets: SECRET, ...options })
const code = (header: string | string[], body: Uint8Array = Buffer.from('{}'), now_ms = NOW_MS) => {
  const answer = provider().verify({ method: 'POST', headers: { 'paddle-signature': header }, body }, now_ms)
  return answer.refused ? answer.code : null
}
const h1 = (body: string | Uint8Array, now_ms = NOW_MS, secret = SECRET) =>
  /h1=([0-9a-f]{64})/.exec(signPaddle(body, secret, now_ms)['paddle-signature']!)![1]!

afterEach(() => {
  vi.useRealTimers()
})

describe('signature', () => {
  it('P02 signs so that the official SDK accepts, and makes events that it reads', async () => {
    vi.useFakeTimers({ now: NOW_MS })
    const wish = { order: 'A-1001', amount_minor: 2165n, currency: 'EUR', payment: samples.payment('x') }
    for (const event of samples.events.filter((name) => !name.startsWith('payout.'))) {
      const { body, headers } = samples.make(
        { ...wish, event, live: true, at_s: 1_760_000_000 },
        SECRET,
        NOW_MS,
      )
      const read = await sdk.webhooks.unmarshal(body, SECRET, headers['paddle-signature']!)
      expect(read).toMatchObject({ eventType: expect.stringMatching(/^[a-z]+\.[a-z_]+$/) })
      expect(event.startsWith(read.eventType)).toBe(true)
    }
  })

  it('P02 signs any body as the official SDK does', async () => {
    vi.useFakeTimers({ now: NOW_MS })
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'grapheme', minLength: 1 }), async (body) => {
        const header = signPaddle(body, SECRET, NOW_MS)['paddle-signature']!
        expect(await sdk.webhooks.isSignatureValid(body, SECRET, header)).toBe(true)
        expect(code(header, Buffer.from(body))).toBeNull()
      }),
      { numRuns: 50 },
    )
  })

  it('P02 has vectors that the official SDK accepts', async () => {
    const secrets = ['pdl_ntfset_01vec1_testVectorOne0123456789', 'pdl_ntfset_01vec2_new']
    for (const [n, { delivery, now_ms }] of specimen.vectors.entries()) {
      vi.useFakeTimers({ now: now_ms })
      const header = String(delivery.headers['paddle-signature'])
      const body = Buffer.from(delivery.body).toString('utf8')
      expect(await sdk.webhooks.isSignatureValid(body, secrets[n]!, header)).toBe(true)
    }
  })

  it('P05 accepts any of several h1, where the SDK for Node looks at the last alone', async () => {
    vi.useFakeTimers({ now: NOW_MS })
    const [good, bad] = [h1('{}'), '0'.repeat(64)]
    for (const entries of [`h1=${good};h1=${bad}`, `h1=${bad};h1=${good}`, `h1=short;h1=${good};h2=x`]) {
      expect(code(`ts=1760000000;${entries}`)).toBeNull()
    }
    expect(await sdk.webhooks.isSignatureValid('{}', SECRET, `ts=1760000000;h1=${good};h1=${bad}`)).toBe(
      false,
    )
    expect(code(`ts=1760000000;h1=${bad};h1=${bad}`)).toBe('signature_wrong')
  })

  it('P03 case-03 allows 300 seconds both ways, or what is configured', () => {
    const at = (seconds: number, options: Partial<PaddleOptions> = {}) => {
      const body = Buffer.from('{}')
      const delivery = { method: 'POST', headers: signPaddle(body, SECRET, NOW_MS), body }
      const answer = provider(options).verify(delivery, NOW_MS + seconds * 1000)
      return answer.refused ? answer.code : null
    }
    expect([at(6), at(300), at(-300)]).toEqual([null, null, null])
    expect([at(301), at(-301)]).toEqual(['signature_stale', 'signature_ahead'])
    expect([at(5, { tolerance_s: 5 }), at(6, { tolerance_s: 5 })]).toEqual([null, 'signature_stale'])
  })

  it('P03 takes the stamp strictly as seconds, and only one', () => {
    for (const stamp of ['1760000000000', '12abc', '', '+1760000000', '1760000000.0', '01760000000', '1e9']) {
      expect(code(`ts=${stamp};h1=${h1('{}')}`)).toBe('signature_malformed')
    }
    expect(code(`ts=1760000000;ts=1760000000;h1=${h1('{}')}`)).toBe('signature_malformed')
    expect(code(`ts=1760000001;h1=${h1('{}')}`)).toBe('signature_wrong')
  })

  it('P04 case-05 tolerates blanks and upper-case digits, but no commas between entries and no other scheme', () => {
    const good = h1('{}')
    expect(code(` ts=1760000000 ; h1=${good.toUpperCase()}`)).toBeNull()
    expect(code(`h1=${good};ts=1760000000`)).toBeNull()
    for (const header of [
      `ts=1760000000,h1=${good}`,
      `ts=1760000000;v1=${good}`,
      `ts=1760000000;H1=${good}`,
      good,
    ]) {
      expect(code(header)).toBe('signature_malformed')
    }
    const many = Array.from({ length: 3 }, (_, n) => `ts=${n};h1=${good}`)
    expect(code(many)).toBe('signature_malformed')
  })

  it('P02 takes the whole secret for the key, prefix included', () => {
    const bare = SECRET.replace('pdl_ntfset_', '')
    expect(code(`ts=1760000000;h1=${h1('{}', NOW_MS, bare)}`)).toBe('signature_wrong')
  })
})

describe('configuration', () => {
  it.each([
    [''],
    ['  \n'],
    ['pdl_ntfset_'],
    ['pdl_ntfset_...'],
    ['pdl_ntfset_xxxxxxxx'],
    ['pdl_ntfset_your_secret'],
    ['changeme'],
    ['<your secret>'],
    [[]],
    [[SECRET, '']],
    [undefined as unknown as string],
  ])('P06 case-04 refuses the blank or placeholder secret %j', (webhookSecrets) => {
    expect(() => provider({ webhookSecrets })).toThrow(expect.objectContaining({ code: 'secret_missing' }))
  })

  it('case-04 cuts white space from a secret and says so', () => {
    const trimmed = provider({ webhookSecrets: `${SECRET}\n` })
    const body = Buffer.from('{}')
    expect(
      trimmed.verify({ method: 'POST', headers: signPaddle(body, SECRET, NOW_MS), body }, NOW_MS).refused,
    ).toBe(false)
    expect(trimmed.secrets).toEqual([expect.objectContaining({ trimmed: true })])
  })

  it('P06 tells live from sandbox by the prefix of the API key, and refuses a contradiction', () => {
    const mode = (options: Partial<PaddleOptions>) => provider(options).secrets_mode
    expect(mode({})).toBeNull()
    expect(mode({ apiKey: 'pdl_live_apikey_01a' })).toBe('live')
    expect(mode({ apiKey: 'pdl_sdbx_apikey_01a' })).toBe('test')
    expect(mode({ environment: 'sandbox' })).toBe('test')
    expect(mode({ environment: 'live', apiKey: 'a1b2c3d4e5f6' })).toBe('live')
    expect(() => mode({ environment: 'live', apiKey: 'pdl_sdbx_apikey_01a' })).toThrow(/sandbox key/)
    expect(() => mode({ apiKey: 'a1b2c3d4e5f6' })).toThrow(/Set environment/)
  })

  it.each(['', ' ', 'pdl_live_apikey_', 'pdl_sdbx_apikey_xxx', 'your-api-key'])(
    'P06 refuses the blank or placeholder API key %j',
    (apiKey) => {
      expect(() => provider({ apiKey })).toThrow(expect.objectContaining({ code: 'secret_missing' }))
    },
  )

  it('refuses what was pasted into the wrong place, and options that mean nothing', () => {
    const wrong: object[] = [
      { webhookSecrets: 'pdl_live_apikey_01pasted' },
      { apiKey: SECRET, environment: 'live' },
      { apiKey: 'live_clientsidetoken', environment: 'live' },
      { apiKey: 'pdl_live_apikey_01a', baseUrl: 'http://api.paddle.com' },
      { environment: 'production' },
      { tolerance_s: 0 },
      { tolerance_s: Number.POSITIVE_INFINITY },
      { account: ' ' },
      { amounts: 'grand' },
    ]
    for (const options of wrong) expect(() => provider(options)).toThrow(Fault)
  })

  it('P45 keeps no secret where it could be printed', () => {
    const printed = JSON.stringify(provider({ apiKey: 'pdl_sdbx_apikey_01veryprivate' }))
    expect(printed).not.toContain(SECRET)
    expect(printed).not.toContain('veryprivate')
  })

  it('has no look-ups without an API key', () => {
    expect(provider().lookup).toBeUndefined()
    expect(provider({ apiKey: 'pdl_live_apikey_01a' }).lookup).toBeDefined()
  })
})

describe('envelope', () => {
  it('reads id, type and time', () => {
    expect(translate(sample('transaction.completed'))).toMatchObject({
      event_id: expect.stringMatching(/^evt_/),
      type: 'transaction.completed',
      occurred_at: '2025-10-09T08:56:40.000Z',
      mode: null,
      account: null,
      api_version: null,
      outcome: 'facts',
    })
  })

  it('reads times with any number of digits after the point', () => {
    const at = (occurred_at: unknown) =>
      translate(changed('transaction.completed', {}, { occurred_at })).occurred_at
    expect(at('2025-10-09T08:53:22Z')).toBe('2025-10-09T08:53:22.000Z')
    expect(at('2025-10-09T08:53:22.5Z')).toBe('2025-10-09T08:53:22.500Z')
    expect(at('2025-10-09T08:53:22.123456Z')).toBe('2025-10-09T08:53:22.123Z')
    expect(at('2025-10-09T10:53:22.5+02:00')).toBe('2025-10-09T08:53:22.500Z')
    for (const odd of [undefined, null, 5, '', 'yesterday', '2025-10-09T08:53:22']) expect(at(odd)).toBeNull()
  })

  it('P13 case-11 takes a blank or missing event id as none', () => {
    for (const event_id of ['', '  ', null, undefined, 5, {}]) {
      expect(translate(changed('transaction.completed', {}, { event_id })).event_id).toBeNull()
    }
  })

  it('P28 marks simulator events as test, so that they never act in live mode', () => {
    const mode = (ids: object) => translate(changed('transaction.completed', {}, ids)).mode
    expect(mode({ event_id: 'ntfsimevt_01a', notification_id: 'ntfsimntf_01a' })).toBe('test')
    expect(mode({ event_id: 'ntfsimevt_01a' })).toBe('test')
    expect(mode({ notification_id: 'ntfsimntf_01a' })).toBe('test')
    expect(mode({ event_id: ' NTFSIMevt_01a' })).toBe('test')
    expect(mode({ event_id: 'evt_01ntfsim' })).toBeNull()
  })

  it('P27 case-10 ignores types that it has never seen, payouts and unexpected types, with a reason', () => {
    for (const event_type of ['shield.raised', 'payout.paid', 'customer.updated', 'api_key.created']) {
      expect(translate(changed('transaction.completed', {}, { event_type }))).toMatchObject({
        outcome: 'ignored',
        reason: /./,
        facts: [],
      })
    }
    const expecting = (type: string) =>
      translate(sample('transaction.completed'), { expects: [type] }).outcome
    expect(expecting('transaction.paid')).toBe('ignored')
    expect(expecting('transaction.completed')).toBe('facts')
  })

  it('reads the keys of custom data as they are, however they are written', () => {
    const body = changed('transaction.completed', { custom_data: { orderId: 'A-7', order_id: 5 } })
    const orders = (customDataKey?: string) =>
      translate(body, customDataKey === undefined ? {} : { orderReference: { customDataKey } }).facts.map(
        ({ content }) => ('order' in content ? content.order : undefined),
      )
    expect(orders('orderId')).toContain('A-7')
    expect(orders()).toContain('5')
  })
})

describe('samples', () => {
  it('are the same each time, with an id of its own for each event', () => {
    const wish = {
      order: 'A-1',
      amount_minor: 500n,
      currency: 'EUR',
      payment: samples.payment('a'),
      live: true,
    }
    const made = samples.events.map(
      (event) => samples.make({ ...wish, event, at_s: 1_760_000_000 }, SECRET, NOW_MS).body,
    )
    expect(new Set(made.map((body) => JSON.parse(body).event_id)).size).toBe(made.length)
    expect(samples.payment('a')).toMatch(/^txn_[a-z0-9]{26}$/)
    expect(samples.payment('b')).not.toBe(samples.payment('a'))
    expect(() => samples.make({ ...wish, event: 'payment.done', at_s: 1 }, SECRET, NOW_MS)).toThrow(
      /no sample/,
    )
  })

  it('P19 never state two values for one field of one fact', () => {
    const stated = new Map<string, unknown>()
    for (const name of SAMPLE_NAMES) {
      for (const [id, key, content] of told(sample(name))) {
        for (const [field, value] of Object.entries(content)) {
          const place = JSON.stringify([id, key, field])
          expect([place, stated.get(place) ?? value]).toEqual([place, value])
          stated.set(place, value)
        }
      }
    }
  })
})
