import { createHmac } from 'node:crypto'
import { sign as octokitSign, verify as octokitVerify } from '@octokit/webhooks-methods'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Translation } from '../../facts/event.ts'
import type { Fact } from '../../facts/fact.ts'
import { deriveSubscription } from '../../rules/derive-subscription.ts'
import type { Delivery } from '../contract.ts'
import type { GitHubOptions } from './index.ts'
import { github, marketplaceBody, signGitHub, sponsorshipBody } from './index.ts'
import { formBody } from './sample.ts'
import { asking, sample } from './vectors.ts'

const SECRET = 'gh-test-secret-0001'
const NOW_MS = 1_760_000_000_000

const deaf = (options: Partial<GitHubOptions> = {}) => github({ webhookSecrets: SECRET, ...options })
const code = (delivery: Delivery) => {
  const answer = deaf().verify(delivery, NOW_MS)
  return answer.refused ? answer.code : null
}
const verified = { refused: false, secret_label: '', signed_at_ms: null, signed_id: null } as const

function translate(
  body: string | Buffer,
  options: Partial<GitHubOptions> = {},
  headers: Delivery['headers'] = {},
): Translation {
  return asking(options).translate({ method: 'POST', headers, body: Buffer.from(body) }, verified)
}

function told(translation: Translation) {
  return translation.facts.map(({ subject, content }) => {
    const stated = Object.entries(content).filter(([, value]) => value !== undefined)
    return [subject.kind === 'subscription' && subject.id, Object.fromEntries(stated)]
  })
}

const team = { id: 1313, monthly_price_in_cents: 900, price_model: 'PER_UNIT' } as const
const solo = { id: 1312, monthly_price_in_cents: 1900 }
const day = (date: string) => `${date}T00:00:00+00:00`

describe('signature', () => {
  it('P02 verifies what the official library signs, and signs what it verifies, for any text', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string({ minLength: 1, unit: 'binary' }),
        fc.string({ minLength: 8 }).map((text) => `s${text.trim()}x`),
        async (text, secret) => {
          // A lone surrogate is no text that could be sent.
          const body = Buffer.from(text, 'utf8').toString('utf8')
          const signature = await octokitSign(secret, body)
          const delivery = {
            method: 'POST',
            headers: { 'x-hub-signature-256': signature },
            body: Buffer.from(body),
          }
          expect(github({ webhookSecrets: secret }).verify(delivery, NOW_MS).refused).toBe(false)
          const ours = signGitHub('sponsorship', body, secret)['x-hub-signature-256']!
          expect(await octokitVerify(secret, body, ours)).toBe(true)
        },
      ),
    )
  })

  it('P04 refuses a delivery without a signature, which a hook without a secret sends', () => {
    const { 'x-hub-signature-256': _, ...headers } = signGitHub('ping', '{}', SECRET)
    expect(code({ method: 'POST', headers, body: Buffer.from('{}') })).toBe('signature_missing')
  })

  it('P04 takes no SHA-1 signature for a proof', () => {
    const body = Buffer.from('{}')
    const sha1 = `sha1=${createHmac('sha1', SECRET).update(body).digest('hex')}`
    expect(code({ method: 'POST', headers: { 'x-hub-signature': sha1 }, body })).toBe('signature_missing')
    expect(code({ method: 'POST', headers: { 'x-hub-signature-256': sha1 }, body })).toBe(
      'signature_malformed',
    )
  })

  it('case-02 reads tier descriptions beyond ASCII, in JSON and in forms', () => {
    const json = sponsorshipBody({ id: 'S_1', created_at: '2026-03-03T12:00:00Z' })
    expect(json).toContain('☕')
    for (const body of [json, formBody(json)]) {
      const headers = signGitHub('sponsorship', body, SECRET, body !== json)
      expect(code({ method: 'POST', headers, body: Buffer.from(body) })).toBeNull()
    }
  })

  it.each([
    ['blank', { webhookSecrets: ' ' }, 'secret_missing'],
    ['placeholder', { webhookSecrets: 'changeme' }, 'secret_missing'],
    ['blank token', { sponsorsToken: '' }, 'secret_missing'],
    [
      'placeholder client secret',
      { marketplace: { clientId: 'Iv1.1', clientSecret: '...' } },
      'secret_missing',
    ],
    ['no key', { marketplace: { appId: '1', privateKey: 'not a key' } }, 'config_invalid'],
    ['login for a number', { sponsorable: Number.NaN }, 'config_invalid'],
    ['plain address', { apiUrl: 'http://api.github.com' }, 'config_invalid'],
  ])('P06 stops the start for a %s', (_, options, expected) => {
    expect(() => deaf(options as Partial<GitHubOptions>)).toThrow(expect.objectContaining({ code: expected }))
  })

  it('P06 lets the stubbed endpoints serve test installations only', () => {
    const marketplace = { clientId: 'Iv1.0123456789abcdef', clientSecret: 'a-client-secret', stubbed: true }
    expect(deaf({ marketplace }).secrets_mode).toBe('test')
    expect(deaf({ marketplace: { ...marketplace, stubbed: false } }).secrets_mode).toBeNull()
  })
})

describe('the key of an event', () => {
  const purchased = sample('marketplace_purchase.purchased')

  it('P48 comes from the signed body: a new X-GitHub-Delivery makes no new event', () => {
    const ids = ['a', 'b'].map((guid) => translate(purchased, {}, { 'x-github-delivery': guid }).event_id)
    expect(ids[0]).toBe(ids[1])
    expect(ids[0]).toMatch(
      /^marketplace_purchase\.purchased\/990417\/1313\/2026-03-03T00:00:00.000Z\/monthly\/5\/[0-9a-f]{32}$/,
    )
    expect(asking().stored_headers).not.toContain('x-github-delivery')
  })

  it('P48 does not follow the unsigned event header, also for events that mean nothing', () => {
    const keys = ['push', 'issues'].map(
      (event) => translate('{"a":1}', {}, { 'x-github-event': event }).event_id,
    )
    expect(keys[0]).toBe(keys[1])
  })

  it('is the same for both content types of one payload, and any payload has one', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (payload) => {
        const json = JSON.stringify(payload)
        const { event_id, outcome } = translate(json)
        expect(translate(formBody(json))).toMatchObject({ event_id, outcome })
        expect(event_id === null || event_id.length <= 255).toBe(true)
      }),
    )
  })

  it('is another one for the way back from a failed upgrade of the same day', () => {
    const five = { account: 7, plan: team, unit_count: 5 }
    const eight = { ...five, unit_count: 8 }
    const ten = { ...five, unit_count: 10 }
    const changed = (purchase: typeof five, previous: typeof five) =>
      translate(
        marketplaceBody({ ...purchase, previous, action: 'changed', effective_date: day('2026-04-03') }),
      )
    expect(changed(eight, five).event_id).not.toBe(changed(eight, ten).event_id)
  })
})

describe('the claimed event', () => {
  it.each([
    ['sponsorship', 'marketplace_purchase.purchased'],
    ['marketplace_purchase', 'sponsorship.created'],
    ['ping', 'marketplace_purchase.cancelled'],
    ['push', 'sponsorship.cancelled'],
    ['marketplace_purchase', 'ping'],
  ])('P48 is not believed when a header says %s and the body is %s', (claimed, name) => {
    const {
      outcome,
      reason,
      facts,
      lookups = [],
    } = translate(sample(name), {}, { 'x-github-event': claimed })
    expect([outcome, facts, lookups]).toEqual(['unreadable', [], []])
    expect(reason).toContain('X-GitHub-Event')
  })

  it.each(['marketplace_purchase', 'sponsorship'])(
    'must be there: %s without its object is unreadable',
    (event) => {
      expect(translate('{"action":"created"}', {}, { 'x-github-event': event }).outcome).toBe('unreadable')
    },
  )

  it('cannot be two events at once', () => {
    const body = '{"action":"created","marketplace_purchase":{},"sponsorship":{}}'
    expect(translate(body)).toMatchObject({ outcome: 'unreadable', facts: [] })
  })

  it('P27 keeps other events of the hook as ignored', () => {
    expect(translate('{"action":"opened"}', {}, { 'x-github-event': 'issues' })).toMatchObject({
      type: 'issues.opened',
      outcome: 'ignored',
    })
  })

  it('P47 limits an endpoint to the types that it expects', () => {
    const expects = ['sponsorship.created']
    expect(translate(sample('sponsorship.created'), { expects }).outcome).toBe('facts')
    expect(translate(sample('sponsorship.cancelled'), { expects })).toMatchObject({
      outcome: 'ignored',
      facts: [],
    })
  })
})

describe('forms', () => {
  const json = sample('sponsorship.created').toString('utf8')

  it('gives the same as the JSON, whatever the unsigned content type says', () => {
    for (const type of ['application/json', 'application/x-www-form-urlencoded', undefined]) {
      expect(translate(formBody(json), {}, { 'content-type': type })).toEqual(translate(json))
    }
  })

  it.each([
    ['a second payload', `${formBody(json)}&payload=%7B%7D`],
    ['another field', `${formBody(json)}&x=1`],
    ['half an escape', 'payload=%7B%2'],
    ['no UTF-8', 'payload=%FF'],
    ['bytes that no form has', 'payload={"é":1}'],
    ['no JSON', 'payload=zen'],
    ['nothing', 'payload='],
  ])('P30 keeps a form with %s as unreadable, never as ignored', (_, body) => {
    expect(translate(body)).toMatchObject({ outcome: 'unreadable', facts: [] })
  })
})

describe('marketplace', () => {
  it('states plan, cycle and units from the effective date, and no money', () => {
    const translation = translate(sample('marketplace_purchase.changed'))
    expect(translation).toMatchObject({ type: 'marketplace_purchase.changed', mode: null, account: null })
    expect(told(translation)).toEqual([
      [
        '990417',
        { status: 'active', at: '2026-04-03T00:00:00.000Z', product: '1313', price: '1313/monthly/8' },
      ],
    ])
  })

  it.each([
    [{ ...team, price_model: 'per-unit' as never }, 'monthly', '1313/monthly/8'],
    [{ ...solo, price_model: 'FLAT_RATE' as const }, 'yearly', '1312/yearly'],
    [{ ...solo, price_model: 'flat-rate' as never }, 'yearly', '1312/yearly'],
    [{ ...solo, price_model: 'FREE' as const }, null, '1312'],
  ] as const)('reads price models of the old and the new schema: %j', (plan, billing_cycle, price) => {
    const body = marketplaceBody({
      account: 7,
      plan,
      billing_cycle,
      unit_count: 8,
      effective_date: day('2026-04-03'),
    })
    expect(told(translate(body))).toMatchObject([['7', { price }]])
  })

  it('P20 keeps a cancelled plan ended when an older change comes late', () => {
    const cancelled = translate(sample('marketplace_purchase.cancelled')).facts
    const changed = translate(sample('marketplace_purchase.changed')).facts
    expect(deriveSubscription([...cancelled, ...changed]).status).toBe('paused')
  })

  it('P53 lets an account that buys again go on, in any order of arrival', () => {
    const again = translate(
      marketplaceBody({ account: 990_417, plan: solo, effective_date: day('2026-07-03') }),
    )
    const facts = ['purchased', 'changed', 'cancelled'].flatMap(
      (action) => translate(sample(`marketplace_purchase.${action}`)).facts,
    )
    fc.assert(
      fc.property(fc.shuffledSubarray([...facts, ...again.facts], { minLength: 4 }), (order: Fact[]) => {
        expect(deriveSubscription(order)).toMatchObject({
          status: 'active',
          product: '1312',
          conflicted: false,
        })
      }),
    )
  })

  it('holds two changes of one day for a person or a look-up, since nothing tells which came last', () => {
    const facts = [5, 8].flatMap(
      (unit_count) =>
        translate(marketplaceBody({ account: 7, plan: team, unit_count, effective_date: day('2026-04-03') }))
          .facts,
    )
    expect(deriveSubscription(facts).status).toBe('conflicted')
  })

  it('asks only when it has something to ask with', () => {
    const body = sample('marketplace_purchase.purchased')
    expect(translate(body).lookups).toEqual([{ object: 'marketplace_account', id: '990417' }])
    expect(translate(body, { marketplace: undefined }).lookups).toEqual([])
  })

  it.each([
    ['an unknown action', { action: 'renewed' }],
    ['no action', { action: null }],
    ['no effective date', { effective_date: null }],
    ['a date without a zone', { effective_date: '2026-04-03 00:00:00' }],
    ['no account', { marketplace_purchase: { plan: { id: 1 } } }],
    ['no plan', { marketplace_purchase: { account: { id: 1 } } }],
    ['an odd trial', { marketplace_purchase: { account: { id: 1 }, plan: { id: 1 }, on_free_trial: 'yes' } }],
  ])('P30 keeps a purchase with %s as unreadable', (_, change) => {
    const body = JSON.parse(sample('marketplace_purchase.purchased').toString('utf8'))
    expect(translate(JSON.stringify({ ...body, ...change }))).toMatchObject({
      outcome: 'unreadable',
      facts: [],
    })
  })

  it('P56 names an order only where the user makes one of the ids of GitHub', () => {
    const orderReference: GitHubOptions['orderReference'] = ({ source, payer, product }) =>
      source === 'marketplace' ? `GH-${payer}-${product}` : undefined
    const order = (name: string) => told(translate(sample(name), { orderReference }))
    expect(order('marketplace_purchase.purchased')).toMatchObject([['990417', { order: 'GH-990417-1313' }]])
    expect(order('marketplace_purchase.cancelled')).toMatchObject([['990417', { order: 'GH-990417-1313' }]])
    expect(order('sponsorship.created')[0]![1]).not.toHaveProperty('order')
    const odd = translate(sample('sponsorship.created'), { orderReference: () => '' })
    expect(odd).toMatchObject({ outcome: 'unreadable', reason: expect.stringContaining('orderReference') })
  })
})

describe('sponsors', () => {
  it('states a sponsorship from its creation, monthly or one-time, also of a sponsor who hides', () => {
    expect(told(translate(sample('sponsorship.created')))).toEqual([
      [
        'S_kwHOABCDEF84AAQx',
        {
          status: 'active',
          at: '2026-03-03T12:00:00.000Z',
          product: 'ST_kwDOAAExM84AAQ5',
          price: 'ST_kwDOAAExM84AAQ5/monthly',
        },
      ],
    ])
    expect(told(translate(sample('sponsorship.created.one_time')))).toMatchObject([
      ['S_kwHOABCDEF84AAQy', { status: 'active', price: 'ST_kwDOAAExM84AAQ99/one_time' }],
    ])
  })

  it.each(['tier_changed', 'cancelled'])(
    'P51 asks about %s, which has no time, instead of believing it',
    (action) => {
      for (const sponsorsToken of ['ghp_forTestsOnly', undefined]) {
        const { facts, lookups, outcome } = translate(sample(`sponsorship.${action}`), { sponsorsToken })
        expect([outcome, facts, lookups?.length]).toEqual(['facts', [], 1])
      }
    },
  )

  it('P29 keeps sponsorships of another maintainer as not ours', () => {
    for (const action of ['created', 'tier_changed', 'cancelled']) {
      const body = sample(`sponsorship.${action}`)
      expect(translate(body, { sponsorable: 770_001 }).outcome).toBe('facts')
      expect(translate(body, { sponsorable: 770_002 })).toMatchObject({ outcome: 'not_ours', facts: [] })
    }
  })

  it.each([
    ['an unknown action', { action: 'paused' }],
    ['a node id with a slash', { sponsorship: { node_id: 'a/b', tier: {} } }],
    ['no tier', { sponsorship: { node_id: 'S_1' } }],
  ])('P30 keeps a sponsorship with %s as unreadable', (_, change) => {
    const body = JSON.parse(sample('sponsorship.created').toString('utf8'))
    expect(translate(JSON.stringify({ ...body, ...change }))).toMatchObject({
      outcome: 'unreadable',
      facts: [],
    })
  })
})
