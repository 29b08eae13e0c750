import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { attempt, book, dispute, funds, PAYMENT, paid, refund } from '../../test/history/shorthand.ts'
import type { Fact } from '../facts/fact.ts'
import type { OrderItem } from '../facts/order.ts'
import { deriveOrder } from './derive-order.ts'
import { derivePayment } from './derive-payment.ts'
import type { PaymentSummary } from './payment-state.ts'
import { summarize } from './summarize.ts'

const AS_OF = '2025-03-20T00:00:00Z'
const CREDITS: OrderItem = { item: 'credits', quantity: 50, credits: true }

function target(item: OrderItem, payments: readonly PaymentSummary[], as_of = AS_OF) {
  const state = deriveOrder('A-17', book({ items: [item] }), payments, as_of)
  return { ...state.entitlements[0]!, next_wakeup: state.next_wakeup }
}

/** Credits of an order of 100.00 after these facts about its payment. */
function after(...facts: readonly Fact[]) {
  const told = [attempt('ch_1', 'succeeded', 10000n, { moved_at: '2025-03-01T10:00:00Z' }), ...facts]
  const forwards = target(CREDITS, [summarize(PAYMENT, derivePayment(told))])
  expect(target(CREDITS, [summarize(PAYMENT, derivePayment([...told, ...told].reverse()))])).toEqual(forwards)
  return forwards
}

describe('credits follow the money that stays paid', () => {
  const rows: [string, Fact[], number, string][] = [
    ['P21 all of it', [], 50, 'granted'],
    [
      'seq-15 two partial refunds, each by its own amount',
      [refund('re_1', 'succeeded', 3000n), refund('re_2', 'succeeded', 2000n)],
      25,
      'granted',
    ],
    [
      'seq-17 one refund, told again',
      [refund('re_1', 'succeeded', 3000n), refund('re_1', 'succeeded', 3000n)],
      35,
      'granted',
    ],
    ['a refund that is pending', [refund('re_1', 'pending', 3000n)], 50, 'granted'],
    [
      'a refund that failed later',
      [refund('re_1', 'succeeded', 3000n), refund('re_1', 'failed', 3000n)],
      50,
      'granted',
    ],
    ['a part of a credit is none', [refund('re_1', 'succeeded', 101n)], 49, 'granted'],
    ['a full refund', [refund('re_1', 'succeeded', 10000n)], 0, 'revoked'],
    ['more than was paid', [refund('re_1', 'succeeded', 12000n)], 0, 'revoked'],
    [
      'seq-25 a chargeback, its money gone',
      [dispute('chargeback', 'needs_response', 10000n), funds('withdrawn', 10000n)],
      0,
      'suspended',
    ],
    [
      'seq-25 won again, the money back',
      [
        dispute('chargeback', 'needs_response', 10000n),
        funds('withdrawn', 10000n),
        dispute('chargeback', 'won', 10000n, { at: '2025-03-05T00:00:00Z' }),
        funds('reinstated', 10000n),
      ],
      50,
      'granted',
    ],
    [
      'seq-25 won again, then a real refund of a part',
      [
        dispute('chargeback', 'needs_response', 10000n),
        funds('withdrawn', 10000n),
        dispute('chargeback', 'won', 10000n, { at: '2025-03-05T00:00:00Z' }),
        funds('reinstated', 10000n),
        refund('re_1', 'succeeded', 4000n),
      ],
      30,
      'granted',
    ],
  ]
  for (const [name, facts, quantity, state] of rows) {
    it(`${name}: ${quantity} ${state}`, () => {
      expect(after(...facts)).toMatchObject({ quantity, state })
    })
  }

  it('case-40 P16 a second payment buys no second time, and its refund takes none', () => {
    expect(target(CREDITS, [paid('pi_1'), paid('pi_2')])).toMatchObject({ quantity: 50, state: 'granted' })
    const given_back = paid('pi_2', { refunded_minor: 10000n })
    expect(target(CREDITS, [paid('pi_1'), given_back])).toMatchObject({ quantity: 50, state: 'granted' })
  })

  it('gives none for too little', () => {
    expect(target(CREDITS, [paid('pi_1', { captured_minor: 9000n })])).toMatchObject({ state: 'none' })
  })

  it('P21 never less than none, never more than was bought, and never more after a refund', () => {
    const amount = fc.bigInt({ min: 0n, max: 30000n })
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2 ** 31 - 1 }), amount, amount, (quantity, first, more) => {
        const of = (refunded_minor: bigint) =>
          target({ ...CREDITS, quantity }, [paid('pi_1', { refunded_minor })]).quantity
        expect(of(first)).toBeGreaterThanOrEqual(0)
        expect(of(first)).toBeLessThanOrEqual(quantity)
        expect(of(first + more)).toBeLessThanOrEqual(of(first))
      }),
    )
  })
})

describe('what ends by itself', () => {
  const DAY = 86_400_000
  const PAID_AT = '2025-03-01T10:00:00Z'
  const pass: OrderItem = { item: 'pass', quantity: 1, valid_for_ms: 30 * DAY }
  const ends = '2025-03-31T10:00:00.000Z'

  it('is granted until then and wakes up for it', () => {
    expect(target(pass, [paid('pi_1')])).toMatchObject({ state: 'granted', next_wakeup: ends })
    expect(target(pass, [paid('pi_1')], ends)).toMatchObject({ state: 'expired', next_wakeup: null })
  })

  it('counts from the payment that completed the price', () => {
    const half = { captured_minor: 5000n }
    const payments = [
      paid('pi_1', half),
      paid('pi_2', { ...half, moved_at: '2025-03-05T10:00:00Z' }),
      paid('pi_3', { moved_at: '2025-03-09T10:00:00Z' }),
    ]
    expect(target(pass, payments).next_wakeup).toBe('2025-04-04T10:00:00.000Z')
  })

  it('ends at a time that was said, whenever it was paid, or the earlier of both', () => {
    const until: OrderItem = { item: 'pass', quantity: 1, valid_until: '2025-03-10T00:00:00Z' }
    expect(target(until, [paid('pi_1')], PAID_AT)).toMatchObject({
      state: 'granted',
      next_wakeup: until.valid_until,
    })
    expect(target(until, [paid('pi_1')])).toMatchObject({ state: 'expired' })
    expect(target({ ...pass, ...until }, [paid('pi_1')])).toMatchObject({ state: 'expired' })
  })

  it('stays revoked when it would have ended too, and none when it was never paid', () => {
    const refunded = paid('pi_1', { refunded_minor: 10000n })
    expect(target(pass, [refunded], '2026-01-01T00:00:00Z').state).toBe('revoked')
    expect(target(pass, [], '2026-01-01T00:00:00Z').state).toBe('none')
  })

  it('credits end too', () => {
    const credits = { ...CREDITS, valid_for_ms: 30 * DAY }
    expect(target(credits, [paid('pi_1')])).toMatchObject({ quantity: 50, next_wakeup: ends })
    expect(target(credits, [paid('pi_1')], ends)).toMatchObject({ quantity: 0, state: 'expired' })
  })
})
