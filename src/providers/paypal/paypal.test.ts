import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Translation } from '../../facts/event.ts'
import type { PaypalOptions } from './index.ts'
import { paypal } from './index.ts'
import { samples, standInRoot } from './sample.ts'
import { collision, standIn } from './vectors.ts'

const good: PaypalOptions = {
  webhookIds: '8PT597110X687430LKGECATA',
  environment: 'sandbox',
  clientId: 'AYSq3RDGsmBLJE-otTkBtM',
  clientSecret: 'EGnHDxD_qRPdaLdZz8iCr8N7',
}

describe('configuration', () => {
  it('P06 is refused without the credentials without which nothing could be granted', () => {
    for (const missing of [{ clientId: '' }, { clientSecret: ' ' }, { clientId: undefined as never }]) {
      expect(() => paypal({ ...good, ...missing })).toThrow(
        expect.objectContaining({ code: 'config_invalid', message: expect.stringContaining('clientSecret') }),
      )
    }
  })

  it.each<[Partial<PaypalOptions>, string]>([
    [{ webhookIds: '' }, 'secret_missing'],
    [{ webhookIds: [] }, 'secret_missing'],
    [{ webhookIds: 'your-webhook-id' }, 'secret_missing'],
    // The literal that PayPal's simulator signs with.
    [{ webhookIds: 'WEBHOOK_ID' }, 'config_invalid'],
    [{ webhookIds: 'https://shop.example/webhooks' }, 'config_invalid'],
    [{ clientSecret: 'changeme' }, 'secret_missing'],
    [{ environment: 'production' as never }, 'config_invalid'],
    [{ tolerance_s: 0 }, 'config_invalid'],
    [{ account: 'a/b' }, 'config_invalid'],
    [{ environment: 'live', baseUrl: 'http://127.0.0.1:1' }, 'config_invalid'],
    [{ environment: 'live', trustedRoots: [standInRoot] }, 'config_invalid'],
    [{ trustedRoots: ['no certificate'] }, 'config_invalid'],
    [{ intermediates: ['no certificate'] }, 'config_invalid'],
    [{ baseUrl: 'not an address' }, 'config_invalid'],
  ])('P06 refuses %j', (wrong, code) => {
    expect(() => paypal({ ...good, ...wrong })).toThrow(expect.objectContaining({ code }))
  })

  it('says what its secrets are for', () => {
    expect(paypal(good)).toMatchObject({ secrets_mode: 'test', namespace: 'paypal', account: 'default' })
    expect(paypal({ ...good, environment: 'live' }).secrets_mode).toBe('live')
    expect(paypal({ ...good, webhookIds: ' 8PT597110X687430LKGECATA ' }).secrets).toMatchObject([
      { trimmed: true },
    ])
  })
})

describe('translation', () => {
  it('P17 P51 two bodies with one CRC-32 and different amounts say the same: ask about the capture', () => {
    const [genuine, forged] = [collision.genuine, collision.forged].map(({ body }) => read(body))
    expect(genuine).toEqual(forged)
    expect(genuine).toMatchObject({ lookups: [{ object: 'capture', id: '3C679366HH908993F' }] })
    expect(JSON.stringify(genuine!.facts)).not.toMatch(/10\.00|99\.00|succeeded|amount/)
  })

  it('P51 never states money, an order or an end, whatever the body says', () => {
    const wish = { order: 'A-1', amount_minor: 500n, currency: 'EUR', payment: samples.payment('a'), at_s: 1 }
    fc.assert(
      fc.property(fc.constantFrom(...samples.events), fc.jsonValue(), (event, other) => {
        const { body } = samples.make({ ...wish, event, live: false }, 'x', 0)
        const message = JSON.parse(body)
        for (const resource of [message.resource, { ...message.resource, status: other, amount: other }]) {
          const { facts } = read(JSON.stringify({ ...message, resource }))
          for (const { kind, content } of facts) {
            expect(kind).toBe('payment_milestone')
            expect(Object.keys(content)).toEqual(['milestone'])
            expect(['created', 'pending']).toContain('milestone' in content && content.milestone)
          }
        }
      }),
    )
  })

  it('names the capture of a refund by its link up and never by its own id', () => {
    const wish = {
      event: 'PAYMENT.CAPTURE.REFUNDED',
      amount_minor: 500n,
      currency: 'EUR',
      at_s: 1,
      live: false,
    }
    const { body } = samples.make({ ...wish, payment: 'CAPTURE1' }, 'x', 0)
    expect(read(body).facts.map(({ subject }) => subject)).toMatchObject([{ id: 'CAPTURE1' }])
    const message = JSON.parse(body)
    const { facts, lookups } = read(
      JSON.stringify({ ...message, resource: { ...message.resource, links: [] } }),
    )
    expect([facts, lookups]).toEqual([[], [{ object: 'refund', id: message.resource.id }]])
  })

  it('P28 takes the mode from the endpoint, and lets links to the other system raise the alarm', () => {
    const event = { id: 'WH-1', event_type: 'PAYMENT.CAPTURE.COMPLETED', resource: { id: 'C1' } }
    const linked = (host: string) => ({ ...event, links: [{ rel: 'self', href: `https://${host}/v1/x` }] })
    expect(read(JSON.stringify(event)).mode).toBe('test')
    expect(read(JSON.stringify(linked('api.sandbox.paypal.com'))).mode).toBe('test')
    expect(read(JSON.stringify(linked('api.paypal.com'))).mode).toBe('live')
    expect(
      read(JSON.stringify(linked('api.sandbox.paypal.com')), { ...good, environment: 'live' }).mode,
    ).toBe('test')
    expect(read(JSON.stringify(event), { ...good, environment: 'live' }).mode).toBe('live')
  })

  it("P29 keeps another merchant's money and asks nothing", () => {
    const wish = { amount_minor: 500n, currency: 'EUR', at_s: 1, live: false, payment: 'C1' }
    for (const event of [
      'PAYMENT.CAPTURE.COMPLETED',
      'CHECKOUT.ORDER.APPROVED',
      'CUSTOMER.DISPUTE.CREATED',
    ]) {
      const { body } = samples.make({ ...wish, event }, 'x', 0)
      expect(read(body, { ...good, merchantId: 'STANDINSELLER' })).toMatchObject({
        outcome: 'facts',
        account: null,
      })
      expect(read(body, { ...good, merchantId: 'OTHERMERCHANT' })).toMatchObject({
        outcome: 'not_ours',
        account: 'STANDINSELLER',
        facts: [],
      })
    }
  })

  it('P47 stores events that are not expected and asks nothing', () => {
    const { body } = samples.make(
      { amount_minor: 1n, currency: 'EUR', payment: 'C1', at_s: 1, live: false },
      'x',
      0,
    )
    const translation = read(body, { ...good, expects: ['CUSTOMER.DISPUTE.CREATED'] })
    expect([translation.outcome, translation.lookups]).toEqual(['ignored', undefined])
  })

  it('P30 refuses ids that could lead an address astray', () => {
    const event = { id: 'WH-1', event_type: 'PAYMENT.CAPTURE.COMPLETED', resource: { id: '../v1/oauth2' } }
    expect(read(JSON.stringify(event))).toMatchObject({ outcome: 'unreadable', facts: [] })
  })
})

function read(body: string | Uint8Array, options: Partial<PaypalOptions> = {}): Translation {
  const provider = options.environment === 'live' ? paypal({ ...good, ...options }) : standIn(options)
  const verified = { refused: false, secret_label: '', signed_at_ms: null, signed_id: null } as const
  return provider.translate({ method: 'POST', headers: {}, body: Buffer.from(body) }, verified)
}
