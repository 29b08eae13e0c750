import { describe, expect, it } from 'vitest'
import { changed, sample, told, translate } from './told.ts'

const PI = 'pi_3QxA1001'
const INVOICE = 'in_1QxA1001'
const MONEY = { amount_minor: 5243n, currency: 'EUR' }

describe('invoices and subscriptions', () => {
  const created = { milestone: 'created', order: 'A-1001', subscription: 'sub_1QxA1001' }

  it('case-51 reads the subscription in every shape that it had', () => {
    const parent = {
      subscription_details: { metadata: { order_id: 'A-1001' }, subscription: { id: 'sub_1QxA1001' } },
    }
    expect(told(sample('invoice.paid'))).toEqual([[INVOICE, 'payment/created', created]])
    expect(told(changed('invoice.paid', { parent }))).toEqual([[INVOICE, 'payment/created', created]])
    expect(told(sample('invoice.paid.2024-06-20'))).toEqual([
      [INVOICE, 'payment/created', created],
      [INVOICE, 'link', { payment: PI }],
    ])
    expect(told(changed('invoice.paid', { parent: null }))).toEqual([
      [INVOICE, 'payment/created', { milestone: 'created' }],
    ])
    expect(translate(changed('invoice.paid', {}, { api_version: '2031-01-01.fern' })).outcome).toBe('facts')
  })

  it('P15 P52 links invoice and payment by the one event that knows both', () => {
    expect(told(sample('invoice_payment.paid'))).toEqual([[INVOICE, 'link', { payment: PI }]])
    expect(translate(changed('invoice_payment.paid', { is_default: false })).outcome).toBe('ignored')
    expect(translate(changed('invoice_payment.paid', { payment: { type: 'payment_record' } })).outcome).toBe(
      'ignored',
    )
    const payments = { data: [{ status: 'paid', is_default: true, payment: { payment_intent: { id: PI } } }] }
    expect(told(changed('invoice.paid', { payments })).at(1)).toEqual([INVOICE, 'link', { payment: PI }])
    expect(told(changed('charge.succeeded', { invoice: INVOICE })).at(1)).toEqual([
      INVOICE,
      'link',
      { payment: PI },
    ])
    expect(told(changed('payment_intent.succeeded', { invoice: INVOICE })).at(1)).toEqual([
      INVOICE,
      'link',
      { payment: PI },
    ])
  })

  it('counts an invoice as money of its own only when it is zero or was paid outside Stripe', () => {
    const own = { ...created, milestone: 'succeeded', moved_at: '2025-10-09T09:53:25.000Z' }
    const cases: [object, bigint][] = [
      [{ amount_paid: 0, total: 0 }, 0n],
      [{ paid_out_of_band: true }, 5243n],
      [{ amount_paid_off_stripe: 5243 }, 5243n],
    ]
    for (const [object, amount_minor] of cases) {
      expect(told(changed('invoice.paid', object))).toEqual([
        [INVOICE, 'payment/succeeded', { ...own, ...MONEY, amount_minor }],
      ])
    }
    expect(told(changed('invoice.paid', { amount_paid_off_stripe: 43 }))[0]?.[1]).toBe('payment/created')
  })

  it('does not let the invoice of a later period pay the first order again', () => {
    const renewal = changed('invoice.paid', { billing_reason: 'subscription_cycle' })
    expect(told(renewal)).toEqual([
      [INVOICE, 'payment/created', { milestone: 'created', subscription: 'sub_1QxA1001' }],
    ])
    const named = changed('invoice.paid', {
      billing_reason: 'subscription_cycle',
      metadata: { order_id: 'A-1009' },
    })
    expect(told(named)[0]?.[2]).toMatchObject({ order: 'A-1009' })
  })

  it('P53 case-51 reads a subscription with its period from either shape, the latest end of several', () => {
    const content = {
      status: 'active',
      at: '2025-10-09T09:53:27.000Z',
      period_end: '2025-11-09T08:53:20.000Z',
      order: 'A-1001',
      price: 'price_1QxPro',
      product: 'prod_QxPro',
    }
    const fact = ['sub_1QxA1001', `status/${content.at}/active`, content]
    expect(told(sample('customer.subscription.updated'))).toEqual([fact])
    expect(told(sample('customer.subscription.updated.2024-06-20'))).toEqual([fact])
    const items = { data: [{ current_period_end: 1_762_678_400 }, { current_period_end: 1_862_678_400 }] }
    expect(told(changed('customer.subscription.updated', { items }))[0]?.[2]).toMatchObject({
      period_end: '2029-01-09T18:40:00.000Z',
    })
    expect(told(changed('customer.subscription.updated', { items: null }))[0]?.[2]).not.toHaveProperty(
      'period_end',
    )
  })

  it('reads endings: planned, done, and of a first payment that never came', () => {
    const planned = changed('customer.subscription.updated', { cancel_at_period_end: true })
    expect(told(planned)[0]?.[2]).toMatchObject({ status: 'active', cancel_at: '2025-11-09T08:53:20.000Z' })
    expect(told(sample('customer.subscription.deleted'))[0]?.[2]).toMatchObject({ status: 'canceled' })
    const never = changed('customer.subscription.updated', { status: 'incomplete_expired' })
    expect(told(never)[0]?.[2]).toMatchObject({ status: 'expired' })
    expect(translate(changed('customer.subscription.updated', { status: 'asleep' })).outcome).toBe(
      'unreadable',
    )
  })
})
