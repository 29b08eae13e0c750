import fc from 'fast-check'
import { Webhook } from 'standardwebhooks'
import { describe, expect, it } from 'vitest'
import type { SignedProvider } from '../contract.ts'
import type { StandardWebhooksOptions } from './index.ts'
import { paymentMilestone, signStandardWebhook, standardWebhookSample, standardWebhooks } from './index.ts'
import { sender, translateInvoice } from './vectors.ts'

const SECRET = 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8='
const NOW_MS = 1_760_000_000_000
const BODY = standardWebhookSample({ payment: 'inv_1', amount_minor: 5243, order: 'A-1' })

function code(
  provider: SignedProvider,
  headers: Readonly<Record<string, string | string[]>>,
  body: string = BODY,
) {
  const answer = provider.verify({ method: 'POST', headers, body: Buffer.from(body) }, NOW_MS)
  return answer.refused ? answer.code : null
}

/** Headers with any id and timestamp, validly signed for them. */
function signedAs(id: string, timestamp: string): Record<string, string> {
  const signature = new Webhook(SECRET).sign(id, new Date(Number(timestamp) * 1000), BODY)
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature }
}

describe('signature', () => {
  it('P02 accepts what the reference library signs', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.stringMatching(/^[a-z0-9_]{1,40}$/), (body, id) => {
        const headers = {
          'webhook-id': id,
          'webhook-timestamp': '1760000000',
          'webhook-signature': new Webhook(SECRET).sign(id, new Date(NOW_MS), body),
        }
        expect(code(sender(SECRET), headers, body)).toBeNull()
      }),
      { numRuns: 50 },
    )
  })

  it('P35 signs what the reference library accepts', () => {
    // The library reads the clock itself, so its digest is compared instead of its verdict.
    const { 'webhook-signature': signature } = signStandardWebhook(BODY, SECRET, 'msg_1', NOW_MS)
    expect(signature).toBe(new Webhook(SECRET).sign('msg_1', new Date(NOW_MS), BODY))
  })

  it('P48 takes the event id from the signed header', () => {
    const delivery = { method: 'POST', headers: signedAs('msg_1', '1760000000'), body: Buffer.from(BODY) }
    const verified = sender(SECRET).verify(delivery, NOW_MS)
    expect(verified).toMatchObject({ refused: false, signed_id: 'msg_1' })
    if (verified.refused) return
    expect(sender(SECRET).translate(delivery, verified).event_id).toBe('msg_1')
    expect(sender(SECRET).translate(delivery, { ...verified, signed_id: null }).event_id).toBe('msg_1')
    expect(code(sender(SECRET), { ...signedAs('msg_1', '1760000000'), 'webhook-id': 'msg_2' })).toBe(
      'signature_wrong',
    )
  })

  it('P04 refuses an id that could shift the signed parts, even when it is validly signed', () => {
    for (const id of ['msg.1', '', ' ', 'a b', 'msg_1, msg_1', 'é', 'x'.repeat(256)]) {
      expect([id, code(sender(SECRET), signedAs(id, '1760000000'))]).toEqual([id, 'signature_malformed'])
    }
  })

  it('P03 takes the timestamp strictly, although the reference library does not', () => {
    for (const timestamp of [
      '01760000000',
      ' 1760000000',
      '1760000000.5',
      '1760000000000',
      '',
      '0',
      '-1',
      '1e9',
    ]) {
      const headers = { ...signedAs('msg_1', '1760000000'), 'webhook-timestamp': timestamp }
      expect([timestamp, code(sender(SECRET), headers)]).toEqual([timestamp, 'signature_malformed'])
    }
  })

  it('P04 counts only v1 entries in the one base64 spelling', () => {
    const good = signedAs('msg_1', '1760000000')
    const [, base64 = ''] = good['webhook-signature']!.split(',')
    const signature = (text: string) => code(sender(SECRET), { ...good, 'webhook-signature': text })
    expect(signature(`v1a,AAAA v1,${base64}`)).toBeNull()
    expect(signature(`v1,AAAA, v1,${base64}`)).toBeNull()
    for (const odd of [
      `v1a,${base64}`,
      `v2,${base64}`,
      base64,
      `v1,${base64.slice(0, -1)}`,
      `v1, ${base64}`,
      `v1=${base64}`,
    ]) {
      expect([odd, signature(odd)]).toEqual([odd, 'signature_malformed'])
    }
    const urlSafe = `v1,${base64.replace(/\+/g, '-').replace(/\//g, '_')}`
    expect(signature(urlSafe)).toBe(urlSafe === `v1,${base64}` ? null : 'signature_malformed')
  })

  it('takes one complete header set or none, never a mixture', () => {
    const good = signedAs('msg_1', '1760000000')
    const svix = Object.fromEntries(
      Object.entries(good).map(([name, value]) => [name.replace('webhook', 'svix'), value]),
    )
    const both = standardWebhooks({
      name: 'invoicer',
      secrets: SECRET,
      svixHeaders: true,
      translate: translateInvoice,
    })
    expect(code(both, svix)).toBeNull()
    expect(code(both, good)).toBeNull()
    expect(code(sender(SECRET), svix)).toBe('signature_missing')
    const { 'webhook-id': _, ...withoutId } = good
    expect(code(both, { ...withoutId, 'svix-id': 'msg_1' })).toBe('signature_missing')
    expect(code(both, { ...svix, ...good, 'webhook-id': 'msg_2' })).toBe('signature_wrong')
  })
})

describe('configuration', () => {
  it('reads secrets with and without prefix or padding, and whole texts where the sender signs with them', () => {
    const headers = signedAs('msg_1', '1760000000')
    for (const secret of [
      SECRET,
      `${SECRET} \n`,
      `v1,${SECRET}`,
      SECRET.replace('whsec_', ''),
      SECRET.replace('=', ''),
    ]) {
      expect(code(sender(secret), headers)).toBeNull()
    }
    const text = standardWebhooks({
      name: 'polar',
      secrets: 'polar_whs_text',
      secretFormat: 'text',
      translate: translateInvoice,
    })
    const encoded = Buffer.from('polar_whs_text').toString('base64')
    const signature = new Webhook(encoded).sign('msg_1', new Date(NOW_MS), BODY)
    expect(code(text, { ...headers, 'webhook-signature': signature })).toBeNull()
  })

  it.each([
    ['blank', { secrets: '' }, 'secret_missing'],
    ['placeholder', { secrets: 'whsec_...' }, 'secret_missing'],
    ['asymmetric', { secrets: 'whpk_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=' }, 'config_invalid'],
    ['too short', { secrets: 'whsec_AAEC' }, 'config_invalid'],
    ['not base64', { secrets: 'whsec_not base64 at all, is it' }, 'config_invalid'],
    ['odd name', { name: 'My Sender' }, 'config_invalid'],
    ['name of another adapter', { name: 'stripe' }, 'config_invalid'],
    ['tolerance off', { tolerance_s: 0 }, 'config_invalid'],
  ])('P06 refuses a secret or name that is %s', (_, options: Partial<StandardWebhooksOptions>, expected) => {
    const make = () =>
      standardWebhooks({ name: 'invoicer', secrets: SECRET, translate: translateInvoice, ...options })
    expect(make).toThrow(expect.objectContaining({ code: expected }))
  })
})

describe('translate', () => {
  const verified = { refused: false, secret_label: '', signed_at_ms: null, signed_id: 'msg_1' } as const
  const run = (translate: unknown, body: string = BODY, options: Partial<StandardWebhooksOptions> = {}) =>
    standardWebhooks({
      name: 'invoicer',
      secrets: SECRET,
      translate: translate as StandardWebhooksOptions['translate'],
      ...options,
    }).translate({ method: 'POST', headers: {}, body: Buffer.from(body) }, verified)

  it('gives the facts of the user with id, type and time of the message', () => {
    expect(run(translateInvoice)).toEqual({
      event_id: 'msg_1',
      type: 'invoice.paid',
      occurred_at: '2025-10-09T08:53:20.000Z',
      mode: null,
      account: null,
      api_version: null,
      outcome: 'facts',
      reason: '',
      facts: [
        {
          subject: { kind: 'payment', namespace: 'invoicer', account: 'default', id: 'inv_1' },
          key: 'payment/succeeded',
          kind: 'payment_milestone',
          content: { milestone: 'succeeded', amount_minor: 5243n, currency: 'USD', order: 'A-1' },
        },
      ],
    })
  })

  it('P48 lets no translation replace the signed id', () => {
    expect(run(() => ({ event_id: 'evt_other', ignored: 'x' })).event_id).toBe('msg_1')
  })

  it('P27 passes on what is ignored, not ours or not expected, with the reason', () => {
    expect(run(() => ({ ignored: 'a ping' }))).toMatchObject({
      outcome: 'ignored',
      reason: 'a ping',
      facts: [],
    })
    expect(run(() => ({ not_ours: 'another shop' }))).toMatchObject({
      outcome: 'not_ours',
      reason: 'another shop',
    })
    const expects = ['invoice.refunded']
    expect(run(translateInvoice, BODY, { expects })).toMatchObject({ outcome: 'ignored', facts: [] })
  })

  const subject = { kind: 'payment', namespace: 'invoicer', account: 'default', id: 'inv_1' } as const
  const stating = (content: object) => () => ({
    facts: [paymentMilestone(subject, { milestone: 'succeeded', ...content })],
  })

  it.each<[string, unknown]>([
    ['throws', () => JSON.parse('no')],
    ['answers nothing', () => undefined],
    ['is async', async () => ({ ignored: 'x' })],
    ['gives neither facts nor a reason', () => ({ facts: [] })],
    ['gives facts that are no list', () => ({ facts: 'many' })],
    ['states a number for an amount', stating({ amount_minor: 5243 })],
    ['states an amount below zero', stating({ amount_minor: -1n })],
    ['states an amount beyond what is stored', stating({ amount_minor: 10n ** 78n })],
    ['states a switch for an order', stating({ order: true })],
    ['states a field that cannot be named', stating({ 'a\u0000': 'x' })],
    ['states a year that is not stored', stating({ moved_at: '0000-01-01T00:00:00.000Z' })],
    ['states a currency in lower case', stating({ currency: 'usd' })],
    ['states a local time', stating({ moved_at: '2025-10-09 08:53' })],
    ['states an object for an order', stating({ order: { id: 1 } })],
    [
      'states an unprintable id',
      () => ({ facts: [paymentMilestone({ ...subject, id: 'a\u0000' }, { milestone: 'created' })] }),
    ],
    [
      'states it of another account',
      () => ({ facts: [paymentMilestone({ ...subject, account: 'b' }, { milestone: 'created' })] }),
    ],
    ['decides something', () => ({ facts: [{ subject, key: 'decision/1', kind: 'decision', content: {} }] })],
    [
      'sets terms',
      () => ({
        facts: [
          { subject: { kind: 'order', reference: 'A' }, key: 'terms', kind: 'order_terms', content: {} },
        ],
      }),
    ],
    ['gives half a fact', () => ({ facts: [null] })],
    ['names an unknown mode', () => ({ mode: 'prod', ignored: 'x' })],
  ])('P30 keeps the event as unreadable when the translation %s', (_, translate) => {
    expect(run(translate)).toMatchObject({
      outcome: 'unreadable',
      event_id: 'msg_1',
      type: 'invoice.paid',
      facts: [],
    })
  })

  it('P45 quotes no payload in the reason of a translation that throws', () => {
    const { reason } = run(() => {
      throw new TypeError('cannot read Mira Lind')
    })
    expect(reason).toBe('reading it failed with TypeError')
  })

  it('takes only times whose zone is known', () => {
    const at = (timestamp: string) =>
      run(translateInvoice, standardWebhookSample({ payment: 'i', amount_minor: 1, occurred_at: timestamp }))
        .occurred_at
    expect(at('2025-10-09T08:53:20.123456Z')).toBe('2025-10-09T08:53:20.123Z')
    expect(at('2025-10-09T14:38:20+05:45')).toBe('2025-10-09T08:53:20.000Z')
    for (const odd of ['2025-10-09T08:53:20', 'yesterday Z', '']) expect(at(odd)).toBeNull()
  })

  it('P30 takes only times that a database takes', () => {
    const at = (timestamp: string) =>
      run(() => ({ ignored: 'a ping' }), JSON.stringify({ timestamp })).occurred_at
    expect(at('0001-01-01T00:00:00Z')).toBe('0001-01-01T00:00:00.000Z')
    expect(at('9999-12-31T23:59:59Z')).toBe('9999-12-31T23:59:59.000Z')
    for (const far of ['0000-01-01T00:00:00Z', '-000001-01-01T00:00:00Z', '+275760-09-13T00:00:00Z'])
      expect(at(far)).toBeNull()
  })
})
