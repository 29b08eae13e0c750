import fc from 'fast-check'
import Stripe from 'stripe'
import { describe, expect, it } from 'vitest'
import { Fault } from '../../facts/fault.ts'
import type { StripeOptions } from './index.ts'
import { signStripe, stripe, stripeEvents } from './index.ts'
import { changed, SAMPLE_NAMES, sample, told, translate } from './told.ts'

const PI = 'pi_3QxA1001'
const SECRET = 'whsec_abcdefghijklmnopqrstuvwxyz123456'
const NOW_MS = 1_760_000_000_500
const sdk = new Stripe('sk_test_nothing')

const provider = (options: Partial<StripeOptions> = {}) => stripe({ webhookSecrets: SECRET, ...options })

describe('signature', () => {
  it('P02 accepts what the official SDK signs', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme' }),
        fc.integer({ min: 1_700_000_000, max: 1_900_000_000 }),
        (payload, timestamp) => {
          const header = sdk.webhooks.generateTestHeaderString({ payload, secret: SECRET, timestamp })
          const delivery = {
            method: 'POST',
            headers: { 'stripe-signature': header },
            body: Buffer.from(payload),
          }
          expect(provider().verify(delivery, timestamp * 1000)).toMatchObject({
            refused: false,
            signed_at_ms: timestamp * 1000,
          })
        },
      ),
      { numRuns: 50 },
    )
  })

  it('P02 signs so that the official SDK accepts, and makes events that it reads', () => {
    for (const make of Object.values(stripeEvents)) {
      const body = make({ payment: PI, amount_minor: 5243, order: 'A-1001', charged_minor: 5243 })
      const header = signStripe(body, SECRET, NOW_MS)['stripe-signature']!
      expect(sdk.webhooks.constructEvent(body, header, SECRET, 300, undefined, NOW_MS)).toMatchObject({
        object: 'event',
      })
    }
  })

  it('P03 case-03 takes the stamp strictly as seconds', () => {
    const { body, signature } = signed('1760000000')
    const verify = (header: string) =>
      provider().verify({ method: 'POST', headers: { 'stripe-signature': header }, body }, NOW_MS)
    expect(verify(`t=1760000000,v1=${signature}`).refused).toBe(false)
    for (const stamp of [
      '1760000000000',
      '12abc',
      '',
      ' ',
      '+1760000000',
      '1760000000.0',
      '01760000000',
      '1e9',
      '0x10',
    ]) {
      expect(verify(`t=${stamp},v1=${signed(stamp).signature}`)).toMatchObject({
        refused: true,
        code: 'signature_malformed',
      })
    }
  })

  it('P04 case-05 tolerates blanks round commas and upper-case digits, but no other scheme than v1', () => {
    const { body, signature } = signed('1760000000')
    const code = (header: string) => {
      const answer = provider().verify(
        { method: 'POST', headers: { 'stripe-signature': header }, body },
        NOW_MS,
      )
      return answer.refused ? answer.code : null
    }
    expect(code(` t=1760000000 , v1=${signature.toUpperCase()}`)).toBeNull()
    expect(code(`t=1760000000,v2=x,v1=${'0'.repeat(64)},v1=${signature}`)).toBeNull()
    expect(code(`t=1760000000,v0=${signature}`)).toBe('signature_malformed')
    expect(code(`t=1760000000,V1=${signature}`)).toBe('signature_malformed')
    expect(code(`v1=${signature}`)).toBe('signature_malformed')
    expect(code(`t=1760000001,v1=${signature}`)).toBe('signature_wrong')
    expect(code(`t=1,v1=${signature},t=2,v1=${signature},t=1760000000,v1=${signature}`)).toBe(
      'signature_malformed',
    )
  })

  function signed(stamp: string) {
    const body = Buffer.from('{}')
    const header = sdk.webhooks.generateTestHeaderString({
      payload: '{}',
      secret: SECRET,
      timestamp: stamp as unknown as number,
    })
    return { body, signature: /v1=([0-9a-f]{64})/.exec(header)![1]! }
  }
})

describe('configuration', () => {
  it.each([
    [''],
    ['  \n'],
    ['whsec_'],
    ['whsec_...'],
    ['whsec_xxxxxxxx'],
    ['changeme'],
    ['<your secret>'],
    ['your-webhook-secret'],
    ['whsec_your_secret'],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a placeholder that nothing replaced
    ['${STRIPE_WHSEC}'],
    [[]],
    [[SECRET, '']],
    [[undefined as unknown as string]],
    [[{ label: 'x', secret: ' ' }]],
    [undefined as unknown as string],
  ])('P06 case-04 refuses the blank or placeholder secret %j', (webhookSecrets) => {
    expect(() => provider({ webhookSecrets })).toThrow(expect.objectContaining({ code: 'secret_missing' }))
  })

  it('case-04 cuts white space from a secret and says so', () => {
    const trimmed = provider({ webhookSecrets: `${SECRET}\n` })
    const body = Buffer.from('{}')
    const delivery = { method: 'POST', headers: signStripe(body, SECRET, NOW_MS), body }
    expect(trimmed.verify(delivery, NOW_MS).refused).toBe(false)
    expect(trimmed.secrets).toEqual([{ label: '2def7429', fingerprint: '2def7429', trimmed: true }])
  })

  it('P45 keeps no secret where it could be printed', () => {
    const printed = JSON.stringify(provider({ apiKey: 'sk_test_veryprivate' }))
    expect(printed).not.toContain(SECRET)
    expect(printed).not.toContain('veryprivate')
  })

  it('P06 tells live from test by the prefix of the API key', () => {
    expect(provider().secrets_mode).toBeNull()
    expect(provider({ apiKey: 'sk_test_1' }).secrets_mode).toBe('test')
    expect(provider({ apiKey: 'rk_live_1' }).secrets_mode).toBe('live')
    expect(() => provider({ apiKey: '' })).toThrow(expect.objectContaining({ code: 'secret_missing' }))
    expect(() => provider({ apiKey: 'pk_live_1' })).toThrow(
      expect.objectContaining({ code: 'config_invalid' }),
    )
  })

  it('refuses a tolerance that would switch the check off, a blank account and one label for two secrets', () => {
    const labels = [1, 2].map((n) => ({ label: 'same', secret: `${SECRET}${n}` }))
    const wrong: Partial<StripeOptions>[] = [
      { tolerance_s: 0 },
      { tolerance_s: Number.NaN },
      { tolerance_s: Number.POSITIVE_INFINITY },
      { account: ' ' },
      { account: 'eu/shop' },
      { webhookSecrets: 'sk_live_pasted' },
      { webhookSecrets: labels },
    ]
    for (const options of wrong) expect(() => provider(options)).toThrow(Fault)
  })
})

describe('envelope', () => {
  it('reads id, type, time, mode and version', () => {
    expect(translate(sample('payment_intent.succeeded'))).toMatchObject({
      event_id: 'evt_3QxA1001n02',
      type: 'payment_intent.succeeded',
      occurred_at: '2025-10-09T08:53:21.000Z',
      mode: 'test',
      account: null,
      api_version: '2026-10-28.endive',
      outcome: 'facts',
    })
    expect(translate(changed('payment_intent.succeeded', {}, { livemode: true })).mode).toBe('live')
    expect(translate(changed('payment_intent.succeeded', {}, { livemode: 'yes' })).mode).toBeNull()
  })

  it('P13 case-11 takes a blank or missing event id as none', () => {
    for (const id of ['', '  ', null, undefined, 5, {}]) {
      expect(translate(changed('payment_intent.succeeded', {}, { id })).event_id).toBeNull()
    }
  })

  it('P27 case-10 ignores types that it has never seen, thin events and unexpected types, with a reason', () => {
    const thin = { object: 'v2.core.event', id: 'evt_1', type: 'v1.charge.succeeded', related_object: {} }
    const events = [
      changed('refund.created', {}, { type: 'shield.raised' }),
      thin,
      changed('refund.created', {}, { type: 'payout.paid' }),
    ]
    for (const event of events)
      expect(translate(event)).toMatchObject({ outcome: 'ignored', reason: /./, facts: [] })
    expect(translate(sample('refund.created'), { expects: ['refund.failed'] })).toMatchObject({
      outcome: 'ignored',
    })
    expect(translate(sample('refund.created'), { expects: ['refund.created'] })).toMatchObject({
      outcome: 'facts',
    })
  })

  it('P29 case-49 gives the endpoint its own account only for events of the connected account', () => {
    const account = (named: string | undefined, options: Partial<StripeOptions>) =>
      translate(
        stripeEvents.paymentIntentSucceeded({
          payment: PI,
          amount_minor: 5,
          ...(named ? { account: named } : {}),
        }),
        options,
      )
    const connect = { account: 'shop-b', connectedAccount: 'acct_B' }
    expect(account('acct_B', connect)).toMatchObject({
      account: 'shop-b',
      facts: [{ subject: { account: 'shop-b' } }],
    })
    expect(account('acct_A', connect).account).toBe('acct_A')
    expect(account(undefined, connect).account).toBe('(platform)')
    expect(account('acct_A', { account: 'acct_B' }).account).toBe('acct_A')
    expect(account('acct_A', {}).account).toBeNull()
    expect(account(undefined, {}).account).toBeNull()
  })
})

describe('one history', () => {
  /** One payment of Stripe as all its events tell it, with whatever of its amounts and ways can differ. */
  const histories = fc
    .record({
      amount: fc.integer({ min: 1, max: 99_999_999 }),
      refunds: fc.array(fc.integer({ min: 1, max: 500 }), { maxLength: 3 }),
    })
    .map(({ amount, refunds }) => {
      const about = { payment: PI, amount_minor: amount, currency: 'EUR', order: 'A-1001' }
      const declined = { ...about, charge: 'ch_declined' }
      const disputed = { ...about, at_s: 1_761_000_000 }
      return [
        stripeEvents.paymentIntentCreated(about),
        stripeEvents.paymentFailed(declined),
        stripeEvents.chargeFailed({ ...declined, code: 'expired_card' }),
        stripeEvents.paymentIntentProcessing(about),
        stripeEvents.checkoutCompleted({ ...about, payment_status: 'unpaid' }),
        stripeEvents.chargeSucceeded(about),
        stripeEvents.paymentIntentSucceeded({ ...about, at_s: 1_760_000_009 }),
        stripeEvents.checkoutAsyncSucceeded(about),
        ...refunds.flatMap((part, index) => {
          const refund = { ...about, amount_minor: part, refund: `re_${index}`, at_s: 1_760_100_000 + index }
          return [
            stripeEvents.refundCreated({ ...refund, status: 'pending' }),
            stripeEvents.refundUpdated(refund),
            stripeEvents.chargeRefunded({ ...about, charged_minor: amount, amount_minor: part }),
            stripeEvents.refundFailed(refund),
          ]
        }),
        stripeEvents.disputeCreated(disputed),
        stripeEvents.fundsWithdrawn(disputed),
        stripeEvents.disputeUpdated(disputed),
        stripeEvents.fundsReinstated(disputed),
        stripeEvents.disputeClosed({ ...disputed, status: 'won' }),
      ]
    })

  /** Now and then Stripe makes two events of one change. */
  const toldAgain = (body: string) => {
    const event = JSON.parse(body)
    return JSON.stringify({ ...event, id: `${event.id}again`, created: event.created + 1 })
  }

  const conflicts = (bodies: readonly (string | Buffer)[]) => {
    const stated = new Map<string, unknown>()
    return bodies.flatMap((body) =>
      translate(body).facts.flatMap(({ subject, key, content }) =>
        Object.entries(content).flatMap(([name, value]) => {
          const field = JSON.stringify([subject, key, name])
          const before = stated.get(field) ?? value
          if (value !== undefined) stated.set(field, value)
          return value === undefined || before === value ? [] : [field]
        }),
      ),
    )
  }

  it('P19 never states two values for one field of one fact', () => {
    fc.assert(
      fc.property(histories, (history) => {
        expect(conflicts([...history, ...history.map(toldAgain)])).toEqual([])
      }),
    )
    expect(conflicts(SAMPLE_NAMES.map(sample))).toEqual([])
  })

  it('P52 puts every event of a payment under one payment id', () => {
    fc.assert(
      fc.property(histories, (history) => {
        for (const body of history) for (const [id] of told(body)) expect(id).toBe(PI)
      }),
    )
  })

  it('makes samples of a realistic size, the same each time, with an id of its own for each event', () => {
    const about = { payment: PI, amount_minor: 5243n, order: 'A-1001' }
    const body = stripeEvents.paymentIntentSucceeded(about)
    expect(stripeEvents.paymentIntentSucceeded(about)).toBe(body)
    expect(body.length).toBeGreaterThan(1_100)
    expect(body.length).toBeLessThan(1_500)
    const all = Object.values(stripeEvents).map((make) => make({ ...about, charged_minor: 5243 }))
    expect(new Set(all.map((text) => JSON.parse(text).id)).size).toBe(all.length)
  })
})
