import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { deriveDispute } from '../../rules/derive-dispute.ts'
import { derivePayment } from '../../rules/derive-payment.ts'
import { paymentObject, refundRow } from './objects.ts'
import { changed, digests, sample, told, translate } from './told.ts'

const MOVED = '2025-10-09T08:53:00.123Z'

describe('a payment', () => {
  it('P17 states what the buyer was charged, tax included, with its order', () => {
    expect(told(translate(sample('payment.succeeded')).facts)).toEqual([
      [
        'pay_QxBook1001',
        'payment/succeeded',
        {
          milestone: 'succeeded',
          amount_minor: 2165n,
          currency: 'USD',
          moved_at: MOVED,
          order: 'A-1001',
          method: 'card',
        },
      ],
    ])
  })

  it('P08 takes the event id from the signed header, since bodies have none', () => {
    expect(translate(sample('payment.succeeded'))).toMatchObject({
      event_id: 'msg_1',
      type: 'payment.succeeded',
      occurred_at: '2025-10-09T08:53:20.123Z',
      mode: null,
    })
  })

  it('P15 tells one fact whether a late processing or a succeeded message brings it', () => {
    const [late, own] = ['payment.processing.late', 'payment.succeeded'].map((name) =>
      translate(sample(name)),
    )
    expect(digests(late!.facts)).toEqual(digests(own!.facts))
  })

  it('P18 reads amounts by ISO 4217: whole yen, thousandths of a dinar', () => {
    for (const currency of ['JPY', 'KWD', 'USD']) {
      const { facts } = translate(changed('payment.succeeded', { total_amount: 5000, currency }))
      expect(facts[0]!.content).toMatchObject({ amount_minor: 5000n, currency })
    }
  })

  it.each([
    ['a fraction', 21.65],
    ['a text', '2165'],
    ['beyond 2^53', 2 ** 53],
    ['below zero', -1],
    ['nothing', null],
  ])('P18 refuses %s as an amount', (_, total_amount) => {
    expect(translate(changed('payment.succeeded', { total_amount }))).toMatchObject({
      outcome: 'unreadable',
      reason: expect.stringContaining('data.total_amount'),
    })
  })

  it('P30 keeps a state, a currency or a payment that it does not know', () => {
    for (const data of [{ status: 'melted' }, { status: null }, { currency: 'XTS' }, { payment_id: '' }])
      expect(translate(changed('payment.succeeded', data)).outcome).toBe('unreadable')
  })

  it('states no amount of a payment that was captured in part', () => {
    for (const status of ['partially_captured', 'partially_captured_and_capturable']) {
      const [fact] = translate(changed('payment.processing.late', { status })).facts
      expect(fact!.content).not.toHaveProperty('amount_minor')
      expect(derivePayment([fact!]).captured_minor).toBe(0n)
    }
  })

  it('P33 a renewal, which carries the metadata of its subscription, does not pay the first order again', () => {
    const [renewal] = translate(sample('payment.succeeded.renewal')).facts
    expect(renewal!.content).toMatchObject({ subscription: 'sub_QxClub01' })
    expect(renewal!.content).not.toHaveProperty('order', 'A-1004')
    const first = changed('payment.succeeded.renewal', { checkout_session_id: 'cks_QxClub01' })
    expect(translate(first).facts[0]!.content).toMatchObject({ order: 'A-1004' })
    const charged = changed('payment.succeeded.renewal', {
      metadata: { order_id: 'A-1005', paidonce_charge: 'op-1' },
    })
    expect(translate(charged).facts[0]!.content).toMatchObject({ order: 'A-1005' })
  })

  it('names no subscription where one payment pays for several', () => {
    const several = {
      subscription_id: null,
      subscription_ids: ['sub_1', 'sub_2'],
      is_multi_subscription: true,
    }
    expect(translate(changed('payment.succeeded', several)).facts[0]!.content).not.toHaveProperty(
      'subscription',
      'sub_1',
    )
  })

  it('counts money that a change of the payment method collected, and grants nothing for it', () => {
    const [fact] = translate(changed('payment.succeeded', { is_update_payment_method: true })).facts
    expect(fact!.content).toMatchObject({ amount_minor: 2165n, order: undefined })
  })

  it('reads an order reference that is a number, and leaves another system’s alone', () => {
    const numbered = changed('payment.succeeded', { metadata: { order_id: 1001 } })
    expect(translate(numbered).facts[0]!.content).toMatchObject({ order: '1001' })
    const orderReference = { pattern: /^ORD-/g }
    expect(translate(sample('payment.succeeded'), { orderReference }).outcome).toBe('not_ours')
    expect(translate(sample('refund.succeeded'), { orderReference }).outcome).toBe('facts')
  })

  it('P55 keeps a code and no sentence as the reason of a failure', () => {
    expect(translate(sample('payment.failed')).facts[0]!.content).toMatchObject({
      reason: 'INSUFFICIENT_FUNDS',
    })
    const sentence = changed('payment.failed', { error_code: 'Ask Mira Lind' })
    expect(translate(sentence).facts[0]!.content).toMatchObject({ reason: undefined })
  })
})

describe('bodies rendered anew under one id', () => {
  it('P14 raise nothing when they yield the same facts', () => {
    const first = translate(sample('payment.succeeded'))
    const rendered = [
      { updated_at: '2025-10-09T09:00:00Z', digital_products_delivered: true },
      { invoice_id: 'inv_1', invoice_url: 'https://example.org/inv_1' },
      { customer: { customer_id: 'cus_QxMira01', name: 'Mira Quince' }, retry_attempt: 1 },
    ]
    for (const data of rendered)
      expect(digests(translate(changed('payment.succeeded', data)).facts)).toEqual(digests(first.facts))
  })

  it('P14 tell the refund that came meanwhile by the same fact as its own message', () => {
    const anew = digests(translate(sample('payment.succeeded.refunded')).facts)
    const known = [
      ...digests(translate(sample('payment.succeeded')).facts),
      ...digests(translate(sample('refund.succeeded')).facts),
    ]
    expect(anew).toEqual(known)
  })

  it('P14 state something new, and so a conflict, when amount, currency or order differ', () => {
    const first = translate(sample('payment.succeeded')).facts
    for (const data of [{ total_amount: 2164 }, { currency: 'EUR' }, { metadata: { order_id: 'A-9' } }]) {
      const anew = translate(changed('payment.succeeded', data)).facts
      expect(digests(anew)).not.toEqual(digests(first))
      expect(derivePayment([...first, ...anew]).status).toBe('conflicted')
    }
  })

  it('P53 a subscription message says what was so at its time, whatever the object shows by now', () => {
    const first = translate(sample('subscription.renewed')).facts
    const anew = translate(changed('subscription.renewed', { status: 'cancelled' })).facts
    expect(digests(anew)).toEqual(digests(first))
  })
})

describe('adaptive currency', () => {
  const body = sample('payment.succeeded.adaptive-currency')
  const apiKey = 'dodo_key_qx'
  const stated = (orderTotals: 'charged' | 'charged_without_tax' | 'settled' | 'settled_without_tax') => {
    const { amount_minor, currency } = translate(body, { orderTotals, apiKey, mode: 'test' }).facts[0]!
      .content as { amount_minor: bigint; currency: string }
    return `${amount_minor} ${currency}`
  }

  it('P17 states the amount in the terms in which orders are registered, by default what was charged', () => {
    expect(stated('charged')).toBe('3084 CAD')
    expect(stated('charged_without_tax')).toBe('2849 CAD')
    expect(stated('settled')).toBe('2165 USD')
    expect(stated('settled_without_tax')).toBe('2000 USD')
  })

  it('P51 states no amount of a refund in other terms than charged, and asks for its payment', () => {
    const refund = translate(sample('refund.succeeded'), { orderTotals: 'settled', apiKey, mode: 'test' })
    expect(refund.facts[0]!.content).not.toHaveProperty('amount_minor')
    expect(refund.lookups).toEqual([{ object: 'payment', id: 'pay_QxBook1001' }])
  })

  it('P18 refunds of parts that add up to any payment add up to what was stated of it, none below zero', () => {
    const payments = fc.record({
      parts: fc.array(fc.integer({ min: 1, max: 10 ** 7 }), { minLength: 1, maxLength: 6 }),
      settled: fc.integer({ min: 0, max: 10 ** 8 }),
      tax: fc.integer({ min: 0, max: 100 }),
    })
    fc.assert(
      fc.property(payments, ({ parts, settled, tax }) => {
        const amount = parts.reduce((sum, part) => sum + part, 0)
        const part_tax = Math.floor((settled * tax) / 100)
        const refunds = parts.map((part, at) =>
          refundRow({
            refund: `ref_${at}`,
            payment: 'pay_1',
            amount: part,
            currency: 'CAD',
            partial: parts.length > 1,
            status: 'succeeded',
            created_at: `2025-10-10T10:00:0${at}.000000Z`,
          }),
        )
        const payment = paymentObject({
          payment: 'pay_1',
          amount,
          currency: 'CAD',
          status: 'succeeded',
          created_at: '2025-10-09T08:53:00Z',
          settlement: { amount: settled, currency: 'USD', tax: part_tax },
          refunds,
        })
        const message = Buffer.from(JSON.stringify({ type: 'payment.succeeded', data: payment }))
        const { facts } = translate(message, { orderTotals: 'settled_without_tax', apiKey, mode: 'test' })
        const state = derivePayment(facts)
        expect(state.captured_minor).toBe(BigInt(settled - part_tax))
        expect(state.refunded_minor).toBe(state.captured_minor)
        for (const refund of state.refunds) expect(refund.amount_minor! >= 0n).toBe(true)
      }),
    )
  })
})

describe('a refund', () => {
  it('P23 tells its own amount and its own state', () => {
    expect(told(translate(sample('refund.succeeded')).facts)).toEqual([
      [
        'pay_QxBook1001',
        'refund/ref_QxBook1001/succeeded',
        {
          refund: 'ref_QxBook1001',
          milestone: 'succeeded',
          amount_minor: 1000n,
          currency: 'USD',
          moved_at: '2025-10-10T10:00:00.000Z',
        },
      ],
    ])
    const review = translate(changed('refund.succeeded', { status: 'review' }))
    expect(review.facts[0]!.key).toBe('refund/ref_QxBook1001/pending')
  })

  it('P51 asks for the payment when amount or currency are null, and guesses neither', () => {
    for (const data of [{ amount: null }, { currency: null }]) {
      const { facts, lookups } = translate(changed('refund.succeeded', data))
      expect(facts[0]!.content).not.toHaveProperty('amount_minor')
      expect(facts[0]!.content).not.toHaveProperty('currency')
      expect(lookups).toEqual([{ object: 'payment', id: 'pay_QxBook1001' }])
    }
  })
})

describe('a dispute', () => {
  const disputed = (name: string, data: object = {}) => {
    const { facts } = translate(changed(name, data))
    const contents = facts.flatMap((fact) => (fact.kind === 'dispute_status' ? [fact.content] : []))
    return deriveDispute('dp', contents, [], 'USD', 2165n)
  }

  it('P23 withholds the whole payment, whatever its amount says in an unconfirmed unit', () => {
    for (const amount of ['2165', '21.65', '4', 2165])
      expect(disputed('dispute.opened', { amount }).disputed_minor).toBe(2165n)
  })

  it('P23 a rapid resolution, told as a lost pre-dispute, takes the money', () => {
    expect(disputed('dispute.lost.rdr').lost_minor).toBe(2165n)
  })

  it('P23 a pre-dispute takes no money while it is open or when it is called off', () => {
    for (const dispute_status of [
      'dispute_opened',
      'dispute_challenged',
      'dispute_cancelled',
      'dispute_won',
    ]) {
      const { disputed_minor, lost_minor } = disputed('dispute.opened', {
        dispute_stage: 'pre_dispute',
        dispute_status,
      })
      expect([disputed_minor, lost_minor]).toEqual([0n, 0n])
    }
  })

  it('takes stage and status from one moment: a late won message of a dispute that goes on is not won', () => {
    const late = { dispute_stage: 'pre_arbitration', dispute_status: 'dispute_opened' }
    const body = changed('dispute.opened', late, { type: 'dispute.won' })
    expect(translate(body).facts[0]!.content).toMatchObject({
      stage: 'pre_arbitration',
      status: 'needs_response',
    })
  })

  it('P30 keeps a stage or a status that it does not know', () => {
    for (const data of [{ dispute_stage: 'post' }, { dispute_status: 'dispute_paused' }])
      expect(translate(changed('dispute.opened', data)).outcome).toBe('unreadable')
  })
})

describe('whose message it is', () => {
  const body = sample('payment.succeeded')

  it('P29 settles only messages of the configured business and brand', () => {
    expect(translate(body, { businessId: 'bus_QxBusiness01', account: 'shop' })).toMatchObject({
      outcome: 'facts',
      account: 'shop',
    })
    expect(translate(body, { businessId: 'bus_other', account: 'shop' })).toMatchObject({
      outcome: 'not_ours',
      account: 'bus_QxBusiness01',
      facts: [],
    })
    expect(translate(body, { brandId: 'brnd_other' })).toMatchObject({ outcome: 'not_ours', facts: [] })
    expect(translate(body, { brandId: 'brnd_QxBrand01' }).outcome).toBe('facts')
  })

  it('P47 stores what it does not expect and states nothing', () => {
    expect(translate(body, { expects: ['refund.succeeded'] })).toMatchObject({
      outcome: 'ignored',
      facts: [],
    })
  })

  it('P27 a new event of a family is read by its object, of no family it is ignored', () => {
    const settled = changed('payment.succeeded', {}, { type: 'payment.settled' })
    expect(digests(translate(settled).facts)).toEqual(digests(translate(body).facts))
    expect(translate(changed('payment.succeeded', {}, { type: 'gift.sent' })).outcome).toBe('ignored')
  })
})
