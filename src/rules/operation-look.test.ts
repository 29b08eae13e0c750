import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type ChargeLook,
  lookBeforeCharge,
  lookBeforeRefund,
  type OtherOperation,
  type RefundLook,
  refundable,
} from './operation-look.ts'

const PAYMENT: NonNullable<RefundLook['payment']> = {
  status: 'succeeded',
  currency: 'USD',
  captured_minor: 1_000n,
  refunded_minor: 0n,
  refund_pending_minor: 0n,
  disputed_minor: 0n,
  lost_minor: 0n,
  reversed_minor: 0n,
}
const OTHER: OtherOperation = {
  key: 'other',
  kind: 'refund',
  state: 'planned',
  amount_minor: 300n,
  provider_id: '',
  maybe_sent: false,
}
const refund = (more: Partial<RefundLook> = {}) =>
  lookBeforeRefund({
    amount_minor: 1_000n,
    currency: 'USD',
    confirmed: false,
    payment: PAYMENT,
    refunds: [],
    disputes: [],
    others: [],
    ...more,
  })

describe('the last look before a refund', () => {
  it.each<[string, Partial<RefundLook>, object]>([
    ['all of it', {}, { go: 'send', whole: true }],
    ['a part of it', { amount_minor: 999n }, { go: 'send', whole: false }],
    ['more than there is', { amount_minor: 1_001n }, { go: 'drop', code: 'not_refundable' }],
    ['nothing known', { payment: null }, { go: 'hold', code: 'payment_unknown' }],
    ['another currency', { currency: 'EUR' }, { go: 'drop', code: 'currency_mismatch' }],
    [
      'a conflict',
      { payment: { ...PAYMENT, status: 'conflicted' } },
      { go: 'hold', code: 'payment_conflicted' },
    ],
    ['an open dispute', { disputes: ['needs_response'] }, { go: 'hold', code: 'dispute_open' }],
    ['the same, confirmed', { disputes: ['under_review'], confirmed: true }, { go: 'send' }],
    ['a dispute that was won', { disputes: ['won'] }, { go: 'send' }],
    [
      'money that a dispute took',
      { payment: { ...PAYMENT, lost_minor: 1n }, disputes: ['lost'] },
      { go: 'drop' },
    ],
    ['a refund under way', { payment: { ...PAYMENT, refund_pending_minor: 1n } }, { go: 'drop' }],
    [
      'a refund of unknown amount',
      { refunds: [{ id: 're_1', status: 'pending', amount_minor: null }] },
      { go: 'wait', code: 'refund_under_way' },
    ],
    [
      'a refund that failed',
      { refunds: [{ id: 're_1', status: 'failed', amount_minor: 400n }] },
      { go: 'send' },
    ],
  ])('%s', (_, more, expected) => {
    expect(refund(more)).toMatchObject(expected)
  })
})

describe('what can be given back', () => {
  const left = (others: readonly OtherOperation[], refunds: RefundLook['refunds'] = []) =>
    refundable({ payment: PAYMENT, refunds, others })

  it.each<[string, OtherOperation, bigint]>([
    ['planned', OTHER, 700n],
    ['in flight', { ...OTHER, state: 'in_flight' }, 700n],
    ['unknown', { ...OTHER, state: 'unknown' }, 700n],
    ['done and not told of yet', { ...OTHER, state: 'succeeded', provider_id: 're_9' }, 700n],
    ['given up while unknown', { ...OTHER, state: 'abandoned', maybe_sent: true }, 700n],
    ['given up before it was sent', { ...OTHER, state: 'abandoned' }, 1_000n],
    ['refused', { ...OTHER, state: 'failed_definitive' }, 1_000n],
    ['not needed', { ...OTHER, state: 'superseded' }, 1_000n],
    ['a charge', { ...OTHER, kind: 'charge' }, 1_000n],
  ])('is less by another operation that is %s', (_, other, expected) => {
    expect(left([other])).toBe(expected)
  })

  it('counts an operation once whose refund is told of, by its id and never by its amount', () => {
    const told = [{ id: 're_9', status: 'succeeded' as const, amount_minor: 300n }]
    const payment = { ...PAYMENT, refunded_minor: 300n }
    const done: OtherOperation = { ...OTHER, state: 'succeeded', provider_id: 're_9' }
    expect(refundable({ payment, refunds: told, others: [done] })).toBe(700n)
    expect(refundable({ payment, refunds: told, others: [{ ...done, provider_id: 're_8' }] })).toBe(400n)
  })

  it('seq-12 lets any number of refunds, asked for in any order, promise no more than there is', () => {
    fc.assert(
      fc.property(fc.array(fc.bigInt({ min: 1n, max: 700n }), { maxLength: 20 }), (amounts) => {
        const others: OtherOperation[] = []
        for (const [place, amount_minor] of amounts.entries()) {
          const look = refund({ amount_minor, others })
          if (look.go === 'send') others.push({ ...OTHER, key: String(place), amount_minor })
        }
        expect(others.reduce((sum, { amount_minor }) => sum + amount_minor, 0n)).toBeLessThanOrEqual(1_000n)
      }),
    )
  })
})

describe('the last look before a charge', () => {
  const order: NonNullable<ChargeLook['order']> = {
    status: 'awaiting_payment',
    currency: 'USD',
    due_minor: 1_000n,
    net_minor: 0n,
  }
  const charge = (more: Partial<ChargeLook> = {}) =>
    lookBeforeCharge({ amount_minor: 1_000n, currency: 'USD', order, payments: [], others: [], ...more })
  const done: OtherOperation = { ...OTHER, kind: 'charge', state: 'succeeded', provider_id: 'pi_1' }

  it.each<[string, Partial<ChargeLook>, object]>([
    ['all that is owed', {}, { go: 'send', whole: true }],
    [
      'the rest',
      { order: { ...order, status: 'underpaid', net_minor: 400n }, amount_minor: 600n },
      { go: 'send' },
    ],
    [
      'more than the rest',
      { order: { ...order, status: 'underpaid', net_minor: 400n } },
      { go: 'drop', code: 'not_owed' },
    ],
    [
      'a paid order',
      { order: { ...order, status: 'paid', net_minor: 1_000n } },
      { go: 'drop', code: 'not_owed' },
    ],
    ['a refunded order', { order: { ...order, status: 'refunded' } }, { go: 'drop', code: 'not_owed' }],
    ['a closed order', { order: { ...order, status: 'canceled' } }, { go: 'drop', code: 'not_owed' }],
    ['an unknown order', { order: null }, { go: 'hold', code: 'order_unknown' }],
    ['an order without terms', { order: { ...order, status: 'awaiting_terms' } }, { go: 'hold' }],
    ['another currency', { currency: 'EUR' }, { go: 'drop', code: 'currency_mismatch' }],
    [
      'a debit under way',
      { payments: [{ id: 'pi_0', status: 'pending' }] },
      { go: 'wait', code: 'payment_under_way' },
    ],
    ['a failed payment', { payments: [{ id: 'pi_0', status: 'failed' }] }, { go: 'send' }],
    ['a contradiction', { payments: [{ id: 'pi_0', status: 'conflicted' }] }, { go: 'hold' }],
    ['a charge that is not told of', { others: [done] }, { go: 'wait', code: 'charge_undecided' }],
    [
      'a charge that failed',
      { others: [done], payments: [{ id: 'pi_1', status: 'failed' }] },
      { go: 'send' },
    ],
  ])('%s', (_, more, expected) => {
    expect(charge(more)).toMatchObject(expected)
  })
})
