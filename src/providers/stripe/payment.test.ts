import { describe, expect, it } from 'vitest'
import type { StripeOptions } from './index.ts'
import { changed, sample, told, translate } from './told.ts'

const PI = 'pi_3QxA1001'
const CH = 'ch_3QxA1001'
const INVOICE = 'in_1QxA1001'
const MONEY = { amount_minor: 5243n, currency: 'EUR' }

describe('payment events', () => {
  it('P15 P52 tells one fact of one charge from intent and charge, and one payment from all', () => {
    expect(told(sample('payment_intent.succeeded'))).toEqual([
      [PI, `attempt/${CH}/succeeded`, { milestone: 'succeeded', attempt: CH, ...MONEY, order: 'A-1001' }],
    ])
    expect(told(sample('charge.succeeded'))).toEqual([
      [
        PI,
        `attempt/${CH}/succeeded`,
        {
          milestone: 'succeeded',
          attempt: CH,
          ...MONEY,
          moved_at: '2025-10-09T08:53:20.000Z',
          order: 'A-1001',
          method: 'card',
        },
      ],
    ])
    expect(told(sample('checkout.session.completed'))).toEqual([
      [PI, 'payment/succeeded', { milestone: 'succeeded', ...MONEY, order: 'A-1001' }],
    ])
  })

  it('takes what was received, not what was asked for', () => {
    const [fact] = told(changed('payment_intent.succeeded', { amount_received: 700 }))
    expect(fact?.[2]).toMatchObject({ amount_minor: 700n })
  })

  it('names the attempt of versions that list charges, and falls back to the payment', () => {
    const listed = changed('payment_intent.succeeded', {
      latest_charge: undefined,
      charges: { data: [{ id: 'ch_9' }] },
    })
    expect(told(listed)[0]?.[1]).toBe('attempt/ch_9/succeeded')
    const expanded = changed('payment_intent.succeeded', { latest_charge: { id: 'ch_8', object: 'charge' } })
    expect(told(expanded)[0]?.[1]).toBe('attempt/ch_8/succeeded')
    expect(told(changed('payment_intent.succeeded', { latest_charge: null }))[0]?.[1]).toBe(
      'payment/succeeded',
    )
  })

  it('P20 case-28 keeps a failed attempt apart from the good one', () => {
    const failed = { milestone: 'failed', attempt: `${CH}declined`, order: 'A-1001' }
    expect(told(sample('payment_intent.payment_failed'))).toEqual([
      [PI, `attempt/${CH}declined/failed`, failed],
    ])
    expect(told(sample('charge.failed'))).toEqual([
      [PI, `attempt/${CH}declined/failed`, { ...failed, ...MONEY, method: 'card', reason: 'card_declined' }],
    ])
  })

  it('takes an authorisation for what it is: nothing was collected', () => {
    expect(told(changed('charge.succeeded', { captured: false, amount_captured: 0 }))[0]?.slice(1)).toEqual([
      `attempt/${CH}/authorized`,
      { milestone: 'authorized', attempt: CH, ...MONEY, order: 'A-1001', method: 'card' },
    ])
    expect(
      told(changed('charge.succeeded', { amount_captured: 700 }, { type: 'charge.captured' }))[0]?.slice(1),
    ).toEqual([
      `attempt/${CH}/succeeded`,
      expect.objectContaining({ milestone: 'succeeded', amount_minor: 700n }),
    ])
  })

  it('states no amount for a capture in parts, which grows', () => {
    const payment_method_details = { type: 'card', card: { multicapture: { status: 'available' } } }
    const [fact] = told(changed('charge.succeeded', { payment_method_details }, { type: 'charge.captured' }))
    expect(fact?.[2]).not.toHaveProperty('amount_minor')
  })

  it.each([
    ['payment_intent.created', 'payment/created', MONEY],
    ['payment_intent.requires_action', 'payment/requires_action', {}],
    ['payment_intent.partially_funded', 'payment/pending', {}],
    ['payment_intent.processing', `attempt/${CH}/pending`, { attempt: CH }],
    ['payment_intent.amount_capturable_updated', `attempt/${CH}/authorized`, { attempt: CH }],
    ['payment_intent.canceled', 'payment/canceled', { reason: 'abandoned' }],
  ])('reads %s as %s', (type, key, content) => {
    const event = changed('payment_intent.succeeded', { cancellation_reason: 'abandoned' }, { type })
    expect(told(event)).toEqual([
      [PI, key, { milestone: key.split('/').at(-1), order: 'A-1001', ...content }],
    ])
  })

  it.each([
    ['charge.pending', 'pending'],
    ['charge.expired', 'expired'],
  ])('reads %s as %s', (type, milestone) => {
    expect(told(changed('charge.succeeded', {}, { type }))[0]?.[1]).toBe(`attempt/${CH}/${milestone}`)
  })

  it('keeps a charge without a payment intent under its own id', () => {
    expect(told(changed('charge.succeeded', { payment_intent: null }))[0]?.[0]).toBe(CH)
  })

  it('P18 case-33 keeps amounts that are not exact, and missing or unknown currencies, as unreadable', () => {
    for (const object of [
      { amount_received: 19.99 },
      { amount_received: '1,000' },
      { amount_received: -1 },
      { amount_received: null },
      { amount_received: 2 ** 60 },
      { currency: undefined },
      { currency: '' },
      { currency: 'zzz' },
      { id: null },
    ]) {
      expect(translate(changed('payment_intent.succeeded', object))).toMatchObject({
        outcome: 'unreadable',
        facts: [],
      })
    }
  })
})

describe('checkout sessions', () => {
  it('case-43 takes unpaid as pending, and the later success as the money', () => {
    expect(told(sample('checkout.session.completed.unpaid'))).toEqual([
      [PI, 'payment/pending', { milestone: 'pending', order: 'A-1001' }],
    ])
    expect(told(sample('checkout.session.async_payment_succeeded'))).toEqual(
      told(sample('checkout.session.completed')),
    )
    const failed = changed(
      'checkout.session.completed.unpaid',
      {},
      { type: 'checkout.session.async_payment_failed' },
    )
    expect(told(failed)[0]?.[1]).toBe('payment/failed')
  })

  it('P32 case-34 takes a session with nothing to pay as a zero payment of its own', () => {
    expect(told(sample('checkout.session.completed.free'))).toEqual([
      [
        'cs_test_a1QxA1002',
        'payment/succeeded',
        { milestone: 'succeeded', amount_minor: 0n, currency: 'EUR', order: 'A-1002' },
      ],
    ])
    const trial = changed('checkout.session.completed.free', { mode: 'subscription', invoice: INVOICE })
    expect(told(trial)[0]?.slice(0, 2)).toEqual([INVOICE, 'payment/succeeded'])
    const later = changed('checkout.session.completed.free', { amount_total: 4900 })
    expect(told(later)[0]?.[1]).toBe('payment/pending')
    expect(
      translate(changed('checkout.session.completed.free', { mode: 'setup', amount_total: null })).outcome,
    ).toBe('ignored')
  })

  it('P52 lets the invoice stand in for the payment of a subscription, without money', () => {
    expect(told(sample('checkout.session.completed.subscription'))).toEqual([
      [INVOICE, 'payment/created', { milestone: 'created', order: 'A-1001', subscription: 'sub_1QxA1001' }],
    ])
  })

  it('links the invoice that a one-off session makes', () => {
    expect(told(changed('checkout.session.completed', { invoice: INVOICE })).at(1)).toEqual([
      INVOICE,
      'link',
      { payment: PI },
    ])
  })

  it('marks an expired session and one that it cannot place', () => {
    const expired = changed(
      'checkout.session.completed',
      { payment_intent: null },
      { type: 'checkout.session.expired' },
    )
    expect(told(expired)[0]?.slice(0, 2)).toEqual(['cs_test_a1QxA1001', 'payment/expired'])
    expect(translate(changed('checkout.session.completed', { payment_intent: null })).outcome).toBe(
      'unreadable',
    )
    expect(translate(changed('checkout.session.completed', { payment_status: 'maybe' })).outcome).toBe(
      'unreadable',
    )
  })

  it('takes our own currency of a session that was converted for the buyer', () => {
    const currency_conversion = {
      amount_total: 6000,
      amount_subtotal: 6000,
      fx_rate: '1.14',
      source_currency: 'usd',
    }
    const [fact] = told(changed('checkout.session.completed', { currency_conversion }))
    expect(fact?.[2]).toMatchObject({ amount_minor: 6000n, currency: 'USD' })
  })
})

describe('order reference', () => {
  const session = (metadata: object, client_reference_id: unknown) =>
    changed('checkout.session.completed', { metadata, client_reference_id })
  const order = (event: object, orderReference: StripeOptions['orderReference'] = {}) =>
    translate(event, { orderReference }).facts.map(({ content }) =>
      'order' in content ? content.order : undefined,
    )[0]

  it('takes the metadata key first, then the client reference id', () => {
    expect(order(session({ order_id: 'A-1' }, 'user-7'))).toBe('A-1')
    expect(order(session({}, 'A-2'))).toBe('A-2')
    expect(order(session({}, 'user-7'), { clientReferenceId: false })).toBeUndefined()
    expect(order(session({ ref: 'A-3' }, null), { metadataKey: 'ref' })).toBe('A-3')
  })

  it('takes references that do not match the pattern as absent', () => {
    const pattern = /^A-\d+$/g
    expect(order(session({ order_id: 'cart' }, 'A-2'), { pattern })).toBe('A-2')
    expect(order(session({ order_id: 'cart' }, 'A-2'), { pattern })).toBe('A-2')
    expect(order(changed('refund.created', { metadata: { order_id: 'RMA' } }), { pattern })).toBeUndefined()
  })

  it('P27 case-10 calls payments of another system not ours, but never a refund or a dispute', () => {
    const orderReference = { pattern: /^ORD-/ }
    for (const name of [
      'checkout.session.completed',
      'payment_intent.succeeded',
      'charge.succeeded',
      'invoice.paid',
    ]) {
      expect(translate(sample(name), { orderReference })).toMatchObject({
        outcome: 'not_ours',
        reason: /./,
        facts: [],
      })
    }
    for (const name of ['refund.created', 'charge.dispute.created', 'charge.refunded']) {
      expect(translate(sample(name), { orderReference }).outcome).toBe('facts')
    }
  })

  it('states facts without an order where there is no reference at all', () => {
    const event = changed('payment_intent.succeeded', { metadata: {} })
    expect(translate(event, { orderReference: { pattern: /^ORD-/ } }).outcome).toBe('facts')
    expect(order(event)).toBeUndefined()
  })

  it('takes no blank, endless or unprintable text for a reference', () => {
    for (const order_id of ['', '  ', 'x'.repeat(300), 'A\u0000', '\ud800', 5, {}]) {
      expect(order(changed('payment_intent.succeeded', { metadata: { order_id } }))).toBeUndefined()
    }
  })
})
