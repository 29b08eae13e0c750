import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Fact } from '../../facts/fact.ts'
import { startFakeServer } from '../fake-server.ts'
import { cleanText } from '../field.ts'
import type { LookupAnswer } from '../lookup.ts'
import { CONTEXT, listed, lookupAt, NOW_MS } from './asking.ts'
import type { StripeFake } from './fake.ts'
import { startStripeFake } from './fake.ts'
import { stripe } from './index.ts'
import { newStripeLookup } from './lookup.ts'
import { translate } from './told.ts'

const DAY = { from_ms: NOW_MS - 86_400_000, to_ms: NOW_MS + 1000 }
let now_ms = NOW_MS
let fake: StripeFake

beforeEach(async () => {
  now_ms = NOW_MS
  fake = await startStripeFake({ now_ms: () => now_ms })
})
afterEach(() => fake.close())

const keys = (facts: readonly Fact[]) =>
  facts.map(({ subject, key }) => `${subject.kind === 'order' ? '' : subject.id} / ${key}`)
const told = (answer: LookupAnswer) => (answer.outcome === 'found' ? keys(answer.facts) : answer)
const fetching = (object: string, id: string, at = lookupAt(fake)) => at.fetch({ object, id }, null, CONTEXT)

describe('fetch', () => {
  it('tells a payment with its charge, its refunds and its disputes', async () => {
    const payment = fake.pay({ payment: 'pi_1', amount_minor: 1999n, order: 'A-1' })
    const refund = fake.giveBack({ payment, amount_minor: 500n })
    const dispute = fake.dispute({ payment, amount_minor: 1499n })
    const answer = await fetching('payment_intent', payment)
    expect(told(answer)).toEqual([
      'pi_1 / attempt/ch_1/succeeded',
      'pi_1 / attempt/ch_1/succeeded',
      `pi_1 / refund/${refund}/succeeded`,
      'pi_1 / refund_total/ch_1/500',
      `pi_1 / dispute/${dispute}/chargeback/needs_response/2025-10-09T09:01:40.000Z`,
      `pi_1 / dispute_funds/${dispute}/withdrawn/txn_${dispute}_0`,
    ])
    expect(answer).toMatchObject({
      facts: [
        { content: { amount_minor: 1999n, currency: 'USD', order: 'A-1' } },
        { content: { moved_at: '2025-10-09T09:01:40.000Z', method: 'card' } },
        {},
        {},
        {},
        {},
      ],
    })
  })

  it.each([
    ['processing', ['pi_1 / attempt/ch_1/pending', 'pi_1 / attempt/ch_1/pending']],
    ['authorized', ['pi_1 / attempt/ch_1/authorized', 'pi_1 / attempt/ch_1/authorized']],
    ['failed', ['pi_1 / attempt/ch_1/failed', 'pi_1 / attempt/ch_1/failed']],
    ['requires_action', ['pi_1 / payment/requires_action']],
  ] as const)('tells a payment that is %s', async (status, facts) => {
    fake.pay({ payment: 'pi_1', amount_minor: 1999n, status })
    expect(told(await fetching('payment', 'pi_1'))).toEqual(facts)
  })

  it('P15 P52 says the same of a payment as the webhooks about it', async () => {
    const payment = fake.pay({ payment: 'pi_1', amount_minor: 1999n, order: 'A-1' })
    fake.giveBack({ payment, amount_minor: 500n })
    const sent = fake.webhooks().flatMap((body) => translate(body).facts)
    const answer = await fetching('payment_intent', payment)
    if (answer.outcome !== 'found') throw new Error(answer.outcome)
    for (const fact of sent) {
      const same = answer.facts.filter(
        (one) => one.key === fact.key && one.subject.kind === fact.subject.kind,
      )
      const united = Object.assign({}, ...same.map(({ content }) => defined(content)))
      expect(united).toMatchObject(defined(fact.content))
    }
    expect(sent.length).toBeGreaterThan(2)
  })

  it('reads charges, refunds, disputes and sessions, and says what to ask next', async () => {
    const payment = fake.pay({ payment: 'pi_1', amount_minor: 1999n, order: 'A-1', session: true })
    const refund = fake.giveBack({ payment, amount_minor: 500n, status: 'pending' })
    const dispute = fake.dispute({ payment })
    const asked = [{ object: 'payment_intent', id: 'pi_1' }]
    expect(await fetching('charge', 'ch_1')).toMatchObject({ outcome: 'found', lookups: asked })
    expect(told(await fetching('refund', refund))).toEqual([`pi_1 / refund/${refund}/pending`])
    expect(told(await fetching('dispute', dispute))).toHaveLength(2)
    const session = await fetching('checkout.session', 'cs_test_1')
    expect(session).toMatchObject({ outcome: 'found', lookups: asked })
    expect(told(session)).toEqual(['pi_1 / payment/succeeded'])
  })

  it('P15 reads an invoice with its payment, and a subscription as it is now', async () => {
    const payments = { data: [{ is_default: true, status: 'paid', payment: { payment_intent: 'pi_1' } }] }
    const invoice = { id: 'in_1', created: 1, amount_paid: 1999, currency: 'usd', status: 'paid', payments }
    fake.put('invoices', invoice)
    fake.put('subscriptions', { id: 'sub_1', created: 1, status: 'past_due' })
    const answer = await fetching('payment', 'in_1')
    expect(answer).toMatchObject({ lookups: [{ object: 'payment_intent', id: 'pi_1' }] })
    expect(told(answer)).toEqual(['in_1 / payment/created', 'in_1 / link'])
    expect(told(await fetching('subscription', 'sub_1'))).toEqual([
      'sub_1 / status/2025-10-09T09:01:40.000Z/past_due',
    ])
    fake.put('invoices', { ...invoice, status: 'open', amount_paid: 0, payments: null })
    expect(told(await fetching('invoice', 'in_1'))).toEqual(['in_1 / payment/created'])
    fake.put('subscriptions', { id: 'sub_1', created: 1, status: 'asleep' })
    expect(await fetching('subscription', 'sub_1')).toMatchObject({ outcome: 'unreadable' })
  })

  it('P53 tells a decision that was turned round under a later time than the one before', async () => {
    const dispute = fake.dispute({ payment: fake.pay({ amount_minor: 1999n }) })
    const statusOf = async () => {
      const answer = await fetching('dispute', dispute)
      return told(answer)
    }
    expect(await statusOf()).toContainEqual(expect.stringContaining('needs_response/2025-10-09T09:01:40'))
    now_ms += 60_000
    fake.decide(dispute, 'won')
    expect(await statusOf()).toContainEqual(expect.stringContaining('/won/2025-10-09T09:02:40'))
    expect(await statusOf()).toEqual(await statusOf())
  })

  it('P51 does not take an answer about another object for the one that was asked about', async () => {
    for (const payment of ['pi_1', 'pi_2']) fake.pay({ payment, amount_minor: 1999n, order: 'A-1' })
    const mixed = await startFakeServer(async ({ path, query, headers: { authorization = '' } }) => {
      const swapped = path.replace('pi_1', 'pi_2').replace('ch_1', 'ch_2')
      const answer = await fetch(`${fake.url}${swapped}?${query}`, { headers: { authorization } })
      return { status: answer.status, body: (await answer.json()) as object }
    })
    try {
      const at = lookupAt(fake, { apiUrl: mixed.url })
      expect(told(await fetching('payment', 'pi_2', at))).toContain('pi_2 / attempt/ch_2/succeeded')
      for (const id of ['pi_1', 'ch_1'])
        expect(await fetching('payment', id, at)).toEqual({
          outcome: 'unreadable',
          reason: 'the answer is about another object',
        })
    } finally {
      await mixed.close()
    }
  })

  it('says that there is none, and what it cannot be asked', async () => {
    expect(await fetching('payment_intent', 'pi_none')).toEqual({ outcome: 'not_found' })
    expect(await fetching('payment_intent', '../refunds')).not.toMatchObject({ outcome: 'found' })
    expect(await fetching('payout', 'po_1')).toMatchObject({ outcome: 'unreadable' })
    expect(await fetching('payment', 'sub_1')).toMatchObject({ outcome: 'unreadable' })
    expect(await fetching('toString', 'pi_1')).toMatchObject({ outcome: 'unreadable' })
  })

  it('P51 calls unknown what nobody knows, and says when to ask again', async () => {
    fake.pay({ payment: 'pi_1', amount_minor: 1999n })
    fake.faults.throttled = 1
    expect(await fetching('payment', 'pi_1')).toMatchObject({ outcome: 'unavailable', retry_after_ms: 1000 })
    fake.faults.errors_before = 1
    expect(await fetching('payment', 'pi_1')).toMatchObject({ outcome: 'unavailable' })
    // The SDK itself asks a second time when a connection is closed.
    fake.faults.lost_answers = 2
    expect(await fetching('payment', 'pi_1')).toMatchObject({ outcome: 'unavailable' })
    fake.faults.delay_ms = 200
    const hasty = { ...CONTEXT, limit_ms: 50 }
    const answer = await lookupAt(fake).fetch({ object: 'payment', id: 'pi_1' }, null, hasty)
    expect(answer).toMatchObject({ outcome: 'unavailable' })
    fake.faults.delay_ms = 0
    fake.faults.locked_out = true
    const refused = await fetching('payment', 'pi_1')
    expect(refused).toMatchObject({ outcome: 'refused' })
    expect(JSON.stringify(refused)).not.toContain('forTestsOnly')
  })

  it('says what to install when the official library is missing', async () => {
    const lookup = newStripeLookup({
      namespace: 'stripe',
      account: 'default',
      orderReference: {},
      connectedAccount: undefined,
      apiKey: 'sk_test_forTestsOnly',
      apiUrl: fake.url,
      loadSdk: () => Promise.reject(new Error("Cannot find package 'stripe'")),
    })
    expect(await lookup.fetch({ object: 'payment', id: 'pi_1' }, null, CONTEXT)).toEqual({
      outcome: 'refused',
      reason: 'Look-ups at Stripe need its official library: npm install stripe',
    })
    expect(fake.requests).toEqual([])
  })

  it('asks for the objects of the connected account', async () => {
    await fetching('payment', 'pi_1', lookupAt(fake, { connectedAccount: 'acct_1' }))
    expect(fake.requests[0]?.headers).toMatchObject({ 'stripe-account': 'acct_1' })
  })

  it('has nothing to look up with without an API key', () => {
    expect(stripe({ webhookSecrets: 'whsec_forTestsOnly' }).lookup).toBeUndefined()
    for (const apiUrl of ['http://api.stripe.com', 'ftp://127.0.0.1', 'nowhere']) {
      expect(() => lookupAt(fake, { apiUrl })).toThrow(expect.objectContaining({ code: 'config_invalid' }))
    }
  })
})

describe('find', () => {
  it('finds the payment of any reference, and no other', async () => {
    const references = fc.uniqueArray(
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 }).filter(isClean),
      {
        minLength: 1,
        maxLength: 4,
      },
    )
    const property = fc.asyncProperty(references, fc.uuid(), async (orders, run) => {
      for (const [at, order] of orders.entries()) {
        fake.pay({ payment: `pi_${run}_${at}`, amount_minor: 100n, order: `${run}${order}` })
      }
      for (const [at, order] of orders.entries()) {
        const answer = await lookupAt(fake).find(`${run}${order}`, null, CONTEXT)
        expect(new Set(told(answer) as string[])).toEqual(
          new Set([`pi_${run}_${at} / attempt/ch_${run}_${at}/succeeded`]),
        )
      }
    })
    await fc.assert(property, { numRuns: 30 })
  })

  it('finds the payments of an order, however its reference is written', async () => {
    const references = ['A-1', "O'Neill", 'back\\slash', '"quoted"', "x' OR metadata['a']:'b"]
    for (const [at, order] of references.entries()) {
      fake.pay({ payment: `pi_${at}`, amount_minor: 100n, order })
      const answer = await lookupAt(fake).find(order, null, CONTEXT)
      expect([order, told(answer)]).toEqual([
        order,
        expect.arrayContaining([`pi_${at} / attempt/ch_${at}/succeeded`]),
      ])
    }
  })

  it('looks through sessions where only they hold the reference', async () => {
    fake.pay({ payment: 'pi_1', amount_minor: 100n, order: 'A-1', session: true })
    const expected = { amount_minor: 100n, currency: 'USD', order: 'A-1', started_at_ms: NOW_MS - 60_000 }
    expect(await lookupAt(fake).find('A-1', expected, CONTEXT)).toMatchObject({
      outcome: 'found',
      lookups: [{ object: 'payment_intent', id: 'pi_1' }],
    })
    expect(await lookupAt(fake).find('A-2', expected, CONTEXT)).toEqual({ outcome: 'not_found' })
    const unread = { orderReference: { clientReferenceId: false, metadataKey: 'ref' } }
    expect(await lookupAt(fake, unread).find('A-1', expected, CONTEXT)).toEqual({ outcome: 'not_found' })
  })

  it('gives up, and says what to do, when there are too many sessions to look through', async () => {
    for (let at = 0; at < 2001; at += 1) fake.pay({ amount_minor: 100n, session: true })
    expect(await lookupAt(fake).find('A-1', null, CONTEXT)).toMatchObject({
      outcome: 'refused',
      reason: expect.stringContaining('payment_intent_data.metadata'),
    })
  })

  it('does not see what Stripe does not show yet', async () => {
    fake.pay({ payment: 'pi_1', amount_minor: 100n, order: 'A-1' })
    fake.faults.lag_ms = 60_000
    expect(await lookupAt(fake).find('A-1', null, CONTEXT)).toEqual({ outcome: 'not_found' })
    expect(await fetching('payment', 'pi_1')).toEqual({ outcome: 'not_found' })
    now_ms += 60_000
    expect(await lookupAt(fake).find('A-1', null, CONTEXT)).toMatchObject({ outcome: 'found' })
  })
})

describe('list', () => {
  it('lists every payment of the window, over pages, and none of the next', async () => {
    for (let at = 0; at < 230; at += 1) {
      now_ms = NOW_MS - at * 1000
      fake.pay({ payment: `pi_${at}`, amount_minor: 100n })
    }
    now_ms = NOW_MS
    const window = { from_ms: NOW_MS - 219_000, to_ms: NOW_MS }
    const items = await listed(lookupAt(fake).list('payments', window, CONTEXT))
    expect(new Set(items.map((item) => item.id)).size).toBe(219)
    expect(items).not.toContainEqual(expect.objectContaining({ id: 'pi_0' }))
    expect(items[0]).toMatchObject({
      payment: 'pi_1',
      amount_minor: 100n,
      currency: 'USD',
      status: 'succeeded',
    })
  })

  it('lists attempts that hold money, and no others', async () => {
    fake.pay({ payment: 'pi_1', amount_minor: 100n, status: 'failed' })
    fake.pay({ payment: 'pi_2', amount_minor: 100n, status: 'authorized' })
    fake.pay({ payment: 'pi_3', amount_minor: 100n, order: 'theirs' })
    const at = lookupAt(fake, { orderReference: { pattern: /^A-/ } })
    expect(await listed(at.list('payments', DAY, CONTEXT))).toMatchObject([
      { id: 'pi_2', status: 'requires_capture' },
    ])
  })

  it('lists refunds and disputes with the payment that they belong to', async () => {
    const payment = fake.pay({ payment: 'pi_1', amount_minor: 1999n })
    const refund = fake.giveBack({ payment, amount_minor: 500n })
    const dispute = fake.dispute({ payment, amount_minor: 1499n })
    const refunds = await listed(lookupAt(fake).list('refunds', DAY, CONTEXT))
    expect(refunds).toMatchObject([
      { id: refund, payment, amount_minor: 500n, at: '2025-10-09T09:01:40.000Z' },
    ])
    expect(keys(refunds[0]!.facts)).toEqual([`pi_1 / refund/${refund}/succeeded`])
    const disputes = await listed(lookupAt(fake).list('disputes', DAY, CONTEXT))
    expect(disputes).toMatchObject([{ id: dispute, payment, amount_minor: 1499n, status: 'needs_response' }])
  })

  it('does not end as if it were whole when a page is missing', async () => {
    for (let at = 0; at < 120; at += 1) fake.pay({ amount_minor: 100n })
    fake.faults.list_breaks = true
    await expect(listed(lookupAt(fake).list('payments', DAY, CONTEXT))).rejects.toMatchObject({
      code: 'provider_unavailable',
      retriable: true,
    })
  })
})

function defined(content: object): object {
  return Object.fromEntries(
    Object.entries(content).filter(([name, value]) => value !== undefined && name !== 'event'),
  )
}

/** What a reference can hold at all. */
function isClean(text: string): boolean {
  return cleanText(text) !== undefined
}
