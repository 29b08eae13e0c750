import { createPublicKey, verify } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Fact } from '../../facts/fact.ts'
import { deriveSubscription } from '../../rules/derive-subscription.ts'
import { newAsk } from '../ask.ts'
import type { LookupAnswer, LookupContext } from '../lookup.ts'
import type { FakeGitHub } from './fake.ts'
import { startFakeGitHub } from './fake.ts'
import type { GitHubOptions } from './index.ts'
import { github } from './index.ts'
import { APP_KEYS, asking } from './vectors.ts'

const SECRET = 'gh-test-secret-0001'
const team = { id: 1313, monthly_price_in_cents: 900, price_model: 'PER_UNIT' } as const
const solo = { id: 1312, monthly_price_in_cents: 1900 }
const TOKEN = 'ghp_forTestsOnly'

let fake: FakeGitHub
let now_ms: number
const wait = (seconds: number) => {
  now_ms += seconds * 1000
}

beforeEach(async () => {
  now_ms = Date.UTC(2026, 3, 3, 9)
  fake = await startFakeGitHub({
    now_ms: () => now_ms,
    plans: [solo, team],
    authorizes: (authorization) => authorization === `Bearer ${TOKEN}` || isAppToken(authorization),
  })
})
afterEach(() => fake.close())

/** As GitHub checks it: signed with the App's key, made in the past, and for ten minutes at most. */
function isAppToken(authorization: string): boolean {
  const [head = '', claims = '', signature = ''] = authorization.replace(/^Bearer /, '').split('.')
  if (signature === '') return false
  const key = createPublicKey(APP_KEYS.publicKey)
  const signed = verify('sha256', Buffer.from(`${head}.${claims}`), key, Buffer.from(signature, 'base64url'))
  const { iat, exp, iss } = JSON.parse(Buffer.from(claims, 'base64url').toString())
  return signed && iss === 'Iv1.0123456789abcdef' && iat * 1000 < now_ms && exp - iat <= 600
}

const provider = (options: Partial<GitHubOptions> = {}) => asking({ apiUrl: fake.url, ...options })
const context = (): LookupContext => ({ now_ms, ask: newAsk(fetch, () => now_ms), limit_ms: 2_000 })

function fetchOne(object: string, id: string, options: Partial<GitHubOptions> = {}): Promise<LookupAnswer> {
  return provider(options).lookup!.fetch({ object, id }, null, context())
}

/** What the facts come to when every message that GitHub sent arrives, and what it asks for is looked up. */
async function settled(options: Partial<GitHubOptions> = {}) {
  const facts: Fact[] = []
  const unseen: string[] = []
  const receiver = provider(options)
  for (const { headers, body } of fake.deliveries(SECRET)) {
    const delivery = { method: 'POST', headers, body: Buffer.from(body) }
    const verdict = receiver.verify(delivery, now_ms)
    if (verdict.refused) throw new Error(verdict.code)
    const translation = receiver.translate(delivery, verdict)
    facts.push(...translation.facts)
    for (const request of translation.lookups ?? []) {
      const answer = await receiver.lookup!.fetch(request, null, context())
      if (answer.outcome === 'found') facts.push(...answer.facts)
      else unseen.push(`${request.object} ${answer.outcome}`)
    }
  }
  return { ...deriveSubscription(facts), unseen }
}

describe('marketplace', () => {
  it('states the plan at the time at which GitHub changed it', async () => {
    fake.purchase({ account: 7, plan: team, unit_count: 5, on_free_trial: true })
    expect(await fetchOne('marketplace_account', '7')).toMatchObject({
      outcome: 'found',
      facts: [
        {
          subject: { kind: 'subscription', namespace: 'github', account: 'default', id: '7' },
          content: {
            status: 'trialing',
            at: '2026-04-03T09:00:00.000Z',
            product: '1313',
            price: '1313/monthly/5',
          },
        },
      ],
    })
  })

  it('settles what happened several times on one day: an upgrade, and the way back when it was not paid', async () => {
    fake.purchase({ account: 7, plan: team, unit_count: 5 })
    wait(60)
    fake.change({ account: 7, plan: team, unit_count: 8 })
    wait(60)
    fake.change({ account: 7, plan: team, unit_count: 5 })
    expect(await settled()).toMatchObject({ status: 'active', price: '1313/monthly/5' })
  })

  it('settles a trial that is cancelled on the day on which it began', async () => {
    fake.purchase({ account: 7, plan: team, on_free_trial: true })
    wait(60)
    await settled()
    fake.cancel(7)
    wait(5)
    expect(await settled()).toMatchObject({ status: 'paused', conflicted: false })
  })

  it('P20 a lagging answer states what is old and takes nothing back', async () => {
    fake.purchase({ account: 7, plan: solo })
    fake.deliveries(SECRET)
    wait(86_400)
    fake.change({ account: 7, plan: team, unit_count: 8 })
    fake.faults.lag_ms = 60_000
    expect(await settled()).toMatchObject({ status: 'active', product: '1313' })
  })

  it('calls a plan that is not to be seen yet not found, and one that has ended ended', async () => {
    expect(await fetchOne('marketplace_account', '7')).toEqual({ outcome: 'not_found' })
    expect(await fetchOne('marketplace_cancellation', '7')).toMatchObject({
      outcome: 'found',
      facts: [{ content: { status: 'paused', at: '2026-04-03T09:00:00.000Z' } }],
    })
  })

  it('P41 lists everybody on every plan, over several pages', async () => {
    for (let account = 1; account <= 230; account += 1)
      fake.purchase({ account, plan: account % 2 ? team : solo })
    for (let account = 301; account <= 420; account += 1) fake.purchase({ account, plan: team })
    const answer = await fetchOne('marketplace_listing', 'all')
    expect(answer.outcome === 'found' && answer.facts.length).toBe(350)
    fake.faults.list_breaks = true
    expect(await fetchOne('marketplace_listing', 'all')).toMatchObject({ outcome: 'unavailable' })
  })

  it('asks as an OAuth app, and the stubbed endpoints, where it is told to', async () => {
    const marketplace = { clientId: 'Iv1.0123', clientSecret: 'client-secret-1', stubbed: true }
    await fetchOne('marketplace_account', '7', { marketplace })
    const [asked] = fake.requests
    expect(asked?.path).toBe('/marketplace_listing/stubbed/accounts/7')
    expect(asked?.headers.authorization).toBe(
      `Basic ${Buffer.from('Iv1.0123:client-secret-1').toString('base64')}`,
    )
  })
})

describe('sponsors', () => {
  it('settles changes, an end and a return under one id, which carry no time', async () => {
    fake.sponsor('S_1', 'ST_1')
    expect(await settled()).toMatchObject({ status: 'active', product: 'ST_1' })
    wait(60)
    fake.changeTier('S_1', 'ST_2')
    expect(await settled()).toMatchObject({ status: 'active', product: 'ST_2' })
    wait(60)
    fake.cancelSponsorship('S_1')
    expect(await settled()).toMatchObject({ status: 'paused', unseen: [] })
    wait(60)
    fake.sponsor('S_1', 'ST_1')
    expect(await settled()).toMatchObject({ status: 'active', product: 'ST_1' })
  })

  it.each([
    ['an end', () => fake.cancelSponsorship('S_1'), 'sponsorship_cancellation'],
    ['another tier', () => fake.changeTier('S_1', 'ST_2'), 'sponsorship'],
  ])(
    'P51 asks again about %s that does not show yet, instead of stating the former state',
    async (_, act, object) => {
      fake.sponsor('S_1', 'ST_1')
      fake.deliveries(SECRET)
      wait(60)
      act()
      fake.faults.lag_ms = 30_000
      expect((await settled()).unseen).toEqual([`${object} not_found`])
      fake.faults.lag_ms = 0
      expect(await fetchOne(object, object === 'sponsorship' ? 'S_1/ST_2' : 'S_1')).toMatchObject({
        outcome: 'found',
      })
    },
  )

  it('P41 lists everybody who sponsors, those who ended included, over several pages', async () => {
    for (let number = 1; number <= 230; number += 1)
      fake.sponsor(`S_${number}`, 'ST_1', { one_time: number === 1 })
    fake.cancelSponsorship('S_230')
    const answer = await fetchOne('sponsorships_of', 'example-maintainer')
    const facts = answer.outcome === 'found' ? answer.facts : []
    expect(facts).toHaveLength(230)
    expect(facts[0]?.content).toMatchObject({ status: 'active', price: 'ST_1/one_time' })
    expect(facts.at(-1)?.content).toMatchObject({ status: 'paused' })
    fake.faults.list_breaks = true
    expect(await fetchOne('sponsorships_of', 'example-maintainer')).toMatchObject({ outcome: 'unavailable' })
    expect(await fetchOne('sponsorships_of', 'nobody')).toEqual({ outcome: 'not_found' })
  })

  it('P29 takes no other maintainer of the list for ours', async () => {
    fake.sponsor('S_1', 'ST_1')
    expect(await fetchOne('sponsorship', 'S_1', { sponsorable: 5 })).toEqual({ outcome: 'found', facts: [] })
  })
})

describe('when no answer comes', () => {
  const each = [
    ['marketplace_account', '7'],
    ['sponsorship', 'S_1'],
  ] as const

  it.each(each)('P37 %s: lost, failed and throttled requests are unavailable', async (object, id) => {
    fake.faults.lost_answers = 1
    expect(await fetchOne(object, id)).toMatchObject({ outcome: 'unavailable' })
    fake.faults.errors_before = 1
    expect(await fetchOne(object, id)).toMatchObject({ outcome: 'unavailable' })
    fake.faults.throttled = 1
    expect(await fetchOne(object, id)).toMatchObject({ outcome: 'unavailable', retry_after_ms: 1000 })
    fake.faults.delay_ms = 200
    const hurried = { ...context(), limit_ms: 20 }
    expect(await provider().lookup!.fetch({ object, id }, null, hurried)).toMatchObject({
      outcome: 'unavailable',
    })
  })

  it.each(each)(
    '%s: wrong credentials are refused, and missing ones say which option to set',
    async (object, id) => {
      fake.faults.locked_out = true
      expect(await fetchOne(object, id)).toMatchObject({ outcome: 'refused' })
      const other = object === 'sponsorship' ? { sponsorsToken: undefined } : { marketplace: undefined }
      const answer = await fetchOne(object, id, other)
      expect(answer).toMatchObject({ outcome: 'refused', reason: expect.stringContaining('set the option') })
    },
  )

  it.each([
    [403, { 'x-ratelimit-remaining': '0' }, '{}', 'unavailable'],
    [403, { 'retry-after': '60' }, '{}', 'unavailable'],
    [403, {}, '{}', 'refused'],
    [302, { location: 'https://example.net/' }, '', 'unreadable'],
    [422, {}, '{}', 'unreadable'],
    [200, {}, 'nothing', 'unreadable'],
    [200, {}, '{"id":8,"marketplace_purchase":{}}', 'unreadable'],
    [200, {}, '{"id":7,"marketplace_purchase":{"plan":{"id":1}}}', 'unreadable'],
    [200, {}, '{"id":7,"marketplace_purchase":null}', 'not_found'],
    [404, {}, '', 'not_found'],
  ])('reads the answer %i %j %s as what it is', async (status, headers, body, outcome) => {
    const answering = async () => new Response(body, { status, headers })
    const ask = newAsk(answering as typeof fetch, () => now_ms)
    const request = { object: 'marketplace_account', id: '7' }
    expect(await asking().lookup!.fetch(request, null, { ...context(), ask })).toMatchObject({ outcome })
  })

  it('waits until the limit of the hour is reset', async () => {
    const headers = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(now_ms / 1000 + 90) }
    const ask = newAsk(
      (async () => new Response('{}', { status: 403, headers })) as typeof fetch,
      () => now_ms,
    )
    const request = { object: 'marketplace_listing', id: 'all' }
    expect(await asking().lookup!.fetch(request, null, { ...context(), ask })).toMatchObject({
      outcome: 'unavailable',
      retry_after_ms: 90_000,
    })
  })

  it.each([
    ['NOT_FOUND', 'not_found'],
    ['RATE_LIMITED', 'unavailable'],
    ['FORBIDDEN', 'refused'],
    ['INSUFFICIENT_SCOPES', 'refused'],
    ['SOMETHING_NEW', 'unreadable'],
  ])('reads the GraphQL error %s, told inside a 200, as %s', async (type, outcome) => {
    const body = JSON.stringify({ data: null, errors: [{ type, message: 'Mira Lind cannot be seen' }] })
    const ask = newAsk((async () => new Response(body)) as typeof fetch, () => now_ms)
    const answer = await asking().lookup!.fetch({ object: 'sponsorship', id: 'S_1' }, null, {
      ...context(),
      ask,
    })
    expect(answer).toMatchObject({ outcome })
    expect(JSON.stringify(answer)).not.toContain('Mira')
  })

  it('offers no look-up without credentials, and refuses objects that GitHub does not have', async () => {
    expect(github({ webhookSecrets: SECRET }).lookup).toBeUndefined()
    expect(await fetchOne('payment', '1')).toMatchObject({ outcome: 'refused' })
  })
})
