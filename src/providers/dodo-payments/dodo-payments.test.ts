import { DodoPayments } from 'dodopayments'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { dodoPayments } from './index.ts'
import { makeDodoSample, samples } from './sample.ts'
import { SECRET, sample } from './told.ts'

const NOW_MS = Date.now()
const sdk = new DodoPayments({ bearerToken: 'key', webhookKey: SECRET })
const provider = dodoPayments({ webhookSecrets: SECRET })
const wish = { amount_minor: 2165n, currency: 'USD', payment: 'pay_1', order: 'A-1', live: false }

describe('beside the official SDK', () => {
  it.each(samples.events)('P02 both verify the same message: %s', (event) => {
    const { headers, body } = makeDodoSample(
      { ...wish, event, at_s: Math.floor(NOW_MS / 1000) },
      SECRET,
      NOW_MS,
    )
    const payload = sdk.webhooks.unwrap(body, { headers, key: SECRET })
    expect(payload.type).toBe(event)
    expect(provider.verify({ method: 'POST', headers, body: Buffer.from(body) }, NOW_MS).refused).toBe(false)
  })

  it('P02 any body that its library signs is verified, any other is not', async () => {
    const { Webhook } = await import('standardwebhooks')
    const webhook = new Webhook(SECRET)
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme' }),
        fc.stringMatching(/^msg_[A-Za-z0-9]{1,20}$/),
        (body, id) => {
          const headers = {
            'webhook-id': id,
            'webhook-timestamp': `${Math.floor(NOW_MS / 1000)}`,
            'webhook-signature': webhook.sign(id, new Date(NOW_MS), body),
          }
          const delivery = { method: 'POST', headers, body: Buffer.from(body) }
          expect(provider.verify(delivery, NOW_MS)).toMatchObject({ refused: false, signed_id: id })
          const other = { ...delivery, body: Buffer.from(`${body} `) }
          expect(provider.verify(other, NOW_MS)).toMatchObject({ refused: true })
        },
      ),
    )
  })

  it('P04 refuses what its unwrap returns when it is called without headers', () => {
    const body = sample('payment.succeeded').toString('utf8').replaceAll('2165', '999999')
    const careless = sdk.webhooks.unwrap as (body: string, options: object) => { data: object }
    expect(careless.call(sdk.webhooks, body, {}).data).toMatchObject({ total_amount: 999999 })
    expect(provider.verify({ method: 'POST', headers: {}, body: Buffer.from(body) }, NOW_MS)).toMatchObject({
      refused: true,
      code: 'signature_missing',
    })
  })
})

describe('configuration', () => {
  const make = (options: object) => () => dodoPayments({ webhookSecrets: SECRET, ...options })

  it.each([
    ['no secret', { webhookSecrets: undefined }, 'secret_missing'],
    ['a blank secret', { webhookSecrets: ' ' }, 'secret_missing'],
    ['a placeholder', { webhookSecrets: 'whsec_...' }, 'secret_missing'],
    ['a secret of another form', { webhookSecrets: 'sk_live_a.b' }, 'config_invalid'],
    ['a blank key', { apiKey: ' ', mode: 'live' }, 'secret_missing'],
    ['a placeholder key', { apiKey: 'your_key', mode: 'live' }, 'secret_missing'],
    ['a key of which nobody knows the mode', { apiKey: 'k1' }, 'config_invalid'],
    [
      'a test system in live mode',
      { apiKey: 'k1', mode: 'live', baseUrl: 'https://test.dodopayments.com' },
      'config_invalid',
    ],
    ['a base address that is none', { apiKey: 'k1', baseUrl: 'dodo' }, 'config_invalid'],
    ['amounts without tax and no way to ask', { orderTotals: 'charged_without_tax' }, 'config_invalid'],
    ['amounts in unknown terms', { orderTotals: 'net' }, 'config_invalid'],
    ['a tolerance of nothing', { tolerance_s: 0 }, 'config_invalid'],
    ['an account with a slash', { account: 'a/b' }, 'config_invalid'],
  ])('P06 refuses %s', (_, options, code) => {
    expect(make(options)).toThrow(expect.objectContaining({ code }))
  })

  it('P06 says what its secrets are for, so that start-up can refuse the wrong mode', () => {
    expect(make({})().secrets_mode).toBeNull()
    expect(make({ mode: 'test' })().secrets_mode).toBe('test')
  })

  it('offers look-ups exactly with a key', () => {
    expect(make({ mode: 'test' })().lookup).toBeUndefined()
    expect(make({ mode: 'test', apiKey: 'k1' })().lookup).toBeDefined()
  })

  it('cuts white space round a secret and notes it', () => {
    expect(dodoPayments({ webhookSecrets: ` ${SECRET}\n` }).secrets).toMatchObject([{ trimmed: true }])
  })
})

describe('a buyer who comes back', () => {
  const back = (query: string) =>
    provider.readReturn!({ method: 'GET', headers: {}, body: Buffer.alloc(0), query })

  it('P01 only names the payment to ask about, whatever the status says', () => {
    const lookup = { object: 'payment', id: 'pay_1' }
    expect(back('payment_id=pay_1&status=succeeded')).toEqual({ lookup, canceled: false })
    expect(back('payment_id=pay_1&status=cancelled')).toEqual({ lookup, canceled: true })
    for (const query of [
      '',
      'status=succeeded',
      'payment_id=',
      'payment_id=a%2Fb',
      'payment_id=..%2Frefunds',
    ])
      expect(back(query)).toBeNull()
  })
})
