import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { changed, sample, told, totalled, translate } from './told.ts'

const TXN = told(sample('transaction.completed'))[0]![0]
const PAID = JSON.parse(sample('transaction.completed').toString('utf8')).data.payments[0]
const DECLINED = JSON.parse(sample('transaction.payment_failed').toString('utf8')).data.payments[0]
const keys = (body: object | Buffer) => told(body).map(([, key]) => key)

describe('transactions', () => {
  it('P15 tells one payment under the transaction, its attempts under their own ids', () => {
    expect(told(sample('transaction.completed'))).toEqual([
      [
        TXN,
        'payment/succeeded',
        { milestone: 'succeeded', amount_minor: 2165n, currency: 'EUR', order: 'A-1001' },
      ],
      [
        TXN,
        `attempt/${PAID.payment_attempt_id}/succeeded`,
        {
          milestone: 'succeeded',
          attempt: PAID.payment_attempt_id,
          moved_at: '2025-10-09T08:56:40.000Z',
          method: 'card',
        },
      ],
    ])
  })

  it('P20 keeps a declined attempt apart from the one that succeeds later', () => {
    const [created, failed] = told(sample('transaction.payment_failed'))
    expect(created?.slice(0, 2)).toEqual([TXN, 'payment/created'])
    expect(failed).toEqual([
      TXN,
      `attempt/${DECLINED.payment_attempt_id}/failed`,
      { milestone: 'failed', attempt: DECLINED.payment_attempt_id, method: 'card', reason: 'declined' },
    ])
    expect(keys(changed('transaction.completed', { payments: [PAID, DECLINED] }))).toEqual([
      'payment/succeeded',
      `attempt/${PAID.payment_attempt_id}/succeeded`,
      `attempt/${DECLINED.payment_attempt_id}/failed`,
    ])
  })

  it('does not grant at `paid`, while Paddle is still working on it', () => {
    expect(keys(sample('transaction.paid'))).toEqual([
      'payment/pending',
      `attempt/${PAID.payment_attempt_id}/pending`,
    ])
  })

  it.each([
    ['draft', 'created'],
    ['ready', 'created'],
    ['billed', 'pending'],
    ['paid', 'pending'],
    ['past_due', 'pending'],
    ['completed', 'succeeded'],
    ['canceled', 'canceled'],
  ])('follows the status %s, whatever the event is called', (status, milestone) => {
    for (const event_type of ['transaction.updated', 'transaction.completed', 'transaction.unheard_of']) {
      const body = changed('transaction.completed', { status, payments: [] }, { event_type })
      expect(keys(body)).toEqual([`payment/${milestone}`])
    }
  })

  it('P30 keeps a status that it does not know as unreadable and names the field', () => {
    for (const status of ['teleported', null, undefined, 5]) {
      expect(translate(changed('transaction.completed', { status }))).toMatchObject({
        outcome: 'unreadable',
        reason: expect.stringContaining('data.status'),
      })
    }
  })

  it.each([
    ['created', 'created'],
    ['authorized', 'authorized'],
    ['authorized_flagged', 'authorized'],
    ['action_required', 'requires_action'],
    ['pending_no_action_required', 'pending'],
    ['captured', 'pending'],
    ['canceled', 'canceled'],
    ['error', 'failed'],
    ['dropped', 'failed'],
  ])('reads an attempt that is %s as %s while the transaction is open', (status, milestone) => {
    const payments = [{ ...DECLINED, status, error_code: null }]
    expect(keys(changed('transaction.payment_failed', { payments }))[1]).toBe(
      `attempt/${DECLINED.payment_attempt_id}/${milestone}`,
    )
  })

  it('lets no attempt that it cannot read hide the money', () => {
    for (const payments of [
      [],
      null,
      [null, 5],
      [{ ...PAID, status: 'unknown' }],
      [{ ...PAID, status: 'beamed' }],
    ]) {
      expect(keys(changed('transaction.completed', { payments }))).toEqual(['payment/succeeded'])
    }
    expect(keys(changed('transaction.payment_failed', { payments: [] }))).toEqual([
      'payment/created',
      'payment/failed',
    ])
  })

  it('takes the time of billing where no attempt was captured', () => {
    const [fact] = told(changed('transaction.completed', { payments: [] }))
    expect(fact?.[2]).toMatchObject({ moved_at: '2025-10-09T08:56:40.000Z' })
    expect(
      told(changed('transaction.completed', { payments: [], billed_at: null }))[0]?.[2],
    ).not.toHaveProperty('moved_at')
  })

  it('ignores a revision: what it gives back is an adjustment', () => {
    const revised = changed('transaction.completed', {}, { event_type: 'transaction.revised' })
    expect(translate(revised)).toMatchObject({ outcome: 'ignored', reason: /adjustment/ })
  })
})

describe('amounts', () => {
  const money = (body: object, amounts?: 'gross' | 'net') =>
    told(body, amounts === undefined ? {} : { amounts })[0]?.[2]

  it('P18 states what the buyer pays: after discount, tax and credit', () => {
    const totals = {
      subtotal: '2000',
      discount: '100',
      tax: '165',
      total: '2065',
      credit: '65',
      grand_total: '2000',
    }
    expect(money(totalled('transaction.completed', totals))).toMatchObject({ amount_minor: 2000n })
    expect(money(totalled('transaction.completed', totals), 'net')).toMatchObject({ amount_minor: 1900n })
  })

  it('P18 reads whole units where a currency has no smaller ones, and amounts of any size', () => {
    const yen = totalled(
      'transaction.completed',
      { grand_total: '100', currency_code: 'JPY' },
      { currency_code: 'JPY' },
    )
    expect(money(yen)).toMatchObject({ amount_minor: 100n, currency: 'JPY' })
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 30n }), (amount) => {
        expect(money(totalled('transaction.completed', { grand_total: String(amount) }))).toMatchObject({
          amount_minor: amount,
        })
      }),
    )
  })

  it.each(['21.65', '1e3', '-5', ' 5', '1,000', '', null, undefined, {}])(
    'P18 P30 refuses the amount %j rather than guess',
    (grand_total) => {
      expect(translate(totalled('transaction.completed', { grand_total }))).toMatchObject({
        outcome: 'unreadable',
        reason: expect.stringContaining('details.totals.grand_total'),
      })
    },
  )

  it('P17 refuses a currency that it does not know, and two that differ', () => {
    for (const currency_code of ['eur', 'XYZ', null, 'USD']) {
      expect(translate(changed('transaction.completed', { currency_code })).outcome).toBe('unreadable')
    }
  })
})

describe('what a transaction pays', () => {
  it('P33 tells a renewal as money of its subscription, not of the order that began it', () => {
    const [fact] = told(sample('transaction.completed.renewal'))
    expect(fact?.[2]).toEqual({
      milestone: 'succeeded',
      amount_minor: 2165n,
      currency: 'EUR',
      subscription: expect.stringMatching(/^sub_/),
    })
    for (const origin of ['subscription_charge', 'subscription_update', 'subscription_of_tomorrow']) {
      expect(told(changed('transaction.completed', { origin }))[0]?.[2]).not.toHaveProperty('order')
    }
    for (const origin of ['web', 'api', 'carrier_pigeon', null]) {
      expect(told(changed('transaction.completed', { origin }))[0]?.[2]).toHaveProperty('order', 'A-1001')
    }
  })

  it('P32 grants nothing for a change of the payment method', () => {
    const name = 'transaction.completed.payment_method_change'
    expect(translate(sample(name))).toMatchObject({ outcome: 'ignored', facts: [] })
    expect(told(totalled(name, { grand_total: '500' }))[0]?.[2]).toMatchObject({ amount_minor: 500n })
    expect(told(totalled(name, { grand_total: '500' }))[0]?.[2]).not.toHaveProperty('order')
  })

  it('P32 tells a trial or a free order as a payment of nothing', () => {
    const free = totalled('transaction.completed', { grand_total: '0' }, { payments: [] })
    expect(told(free)).toEqual([
      [
        TXN,
        'payment/succeeded',
        {
          milestone: 'succeeded',
          amount_minor: 0n,
          currency: 'EUR',
          order: 'A-1001',
          moved_at: '2025-10-09T08:56:40.000Z',
        },
      ],
    ])
  })

  it('P27 puts aside what carries another system’s reference', () => {
    const pattern = /^ORD-\d+$/g
    expect(translate(sample('transaction.completed'), { orderReference: { pattern } })).toMatchObject({
      outcome: 'not_ours',
      facts: [],
    })
    for (const custom_data of [null, {}, 'text', { order_id: '  ' }]) {
      const body = changed('transaction.completed', { custom_data })
      expect(translate(body, { orderReference: { pattern } }).outcome).toBe('facts')
    }
  })
})

describe('subscriptions', () => {
  it('P33 tells status, period end and what is bought, and names the first payment', () => {
    const [status, payment] = told(sample('subscription.created'))
    expect(status).toEqual([
      expect.stringMatching(/^sub_/),
      'status/2025-10-09T08:56:41.000Z/active',
      {
        status: 'active',
        at: '2025-10-09T08:56:41.000Z',
        period_end: '2025-11-08T08:56:41.000Z',
        order: 'A-1001',
        price: expect.stringMatching(/^pri_/),
        product: expect.stringMatching(/^pro_/),
      },
    ])
    expect(payment).toEqual([
      TXN,
      'payment/created',
      { milestone: 'created', order: 'A-1001', subscription: status?.[0] },
    ])
    expect(told(sample('subscription.canceled'))).toHaveLength(1)
  })

  it.each(['active', 'trialing', 'past_due', 'paused', 'canceled'])(
    'follows the status %s, whatever the event is called',
    (status) => {
      const body = changed('subscription.canceled', { status }, { event_type: 'subscription.updated' })
      expect(told(body)[0]?.[2]).toMatchObject({ status })
    },
  )

  it('tells a planned cancellation as planned, and a planned pause not at all', () => {
    const scheduled = (action: string) =>
      told(
        changed('subscription.created', {
          scheduled_change: { action, effective_at: '2025-11-08T08:56:41.5Z', resume_at: null },
        }),
      )[0]?.[2]
    expect(scheduled('cancel')).toMatchObject({ status: 'active', cancel_at: '2025-11-08T08:56:41.500Z' })
    expect(scheduled('pause')).not.toHaveProperty('cancel_at')
  })

  it('P53 keeps a return to a former status, and two events of one instant, as facts of their own', () => {
    const events = ['evt_1', 'evt_2'].map((event_id) => changed('subscription.canceled', {}, { event_id }))
    expect(new Set(events.map((event) => translate(event).facts[0]?.key)).size).toBe(2)
  })

  it('P30 keeps an unknown status or a missing time as unreadable', () => {
    expect(translate(changed('subscription.created', { status: 'asleep' })).outcome).toBe('unreadable')
    expect(translate(changed('subscription.created', {}, { occurred_at: 'soon' })).outcome).toBe('unreadable')
  })
})
