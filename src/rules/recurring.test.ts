import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { book, paid } from '../../test/history/shorthand.ts'
import type { OrderItem } from '../facts/order.ts'
import { NO_AFTERMATH } from './aftermath.ts'
import { deriveOrder } from './derive-order.ts'
import type { OrderBook, OrderState } from './order-state.ts'
import type { PaymentSummary } from './payment-state.ts'
import type { Policy } from './policy.ts'
import type { SubscriptionSummary } from './subscription-state.ts'

const AS_OF = '2025-05-10T00:00:00Z'
const END = '2025-06-01T00:00:00Z'
const IN_GRACE = '2025-06-04T00:00:00.000Z'

function period(month: number, more: Partial<PaymentSummary> = {}): PaymentSummary {
  return paid(`pi_${month}`, { moved_at: `2025-0${month}-01T00:00:00Z`, ...more })
}

const [MARCH, APRIL, MAY] = [period(3), period(4), period(5)]
const REFUNDED = { refunded_minor: 10000n }

function subscription(more: Partial<SubscriptionSummary> = {}): SubscriptionSummary {
  const since = '2025-03-01T00:00:00Z'
  const known = { period_end: END, cancel_at: null, since, ended_from: null, price: null, orders: ['A-17'] }
  return { id: 'sub_1', account: 'default', status: 'active', ...known, ...more }
}

const ACTIVE = subscription()

function derive(
  payments: readonly PaymentSummary[],
  subscriptions: readonly SubscriptionSummary[] = [ACTIVE],
  order: OrderBook = book({ recurring: {} }),
  as_of = AS_OF,
): OrderState {
  const state = deriveOrder('A-17', order, payments, as_of, subscriptions)
  const reversed = deriveOrder('A-17', order, [...payments].reverse(), as_of, [...subscriptions].reverse())
  expect(reversed).toEqual(state)
  return state
}

const access = (state: OrderState) => state.entitlements[0]?.state
const raised = (state: OrderState) => state.exceptions.map(({ kind, cause }) => `${kind} ${cause}`)

describe('periods', () => {
  it('P33 several of one order are no surplus, and wake up when the grace after the last ends', () => {
    const state = derive([MARCH, APRIL, MAY])
    expect(state).toMatchObject({ status: 'paid', paid_minor: 30000n, surplus_minor: 0n, exceptions: [] })
    expect(state).toMatchObject({ next_wakeup: IN_GRACE, due_minor: 10000n })
    expect(access(state)).toBe('granted')
  })

  it('two that raise the same are told apart', () => {
    const outside = { ...REFUNDED, aftermath: { ...NO_AFTERMATH, external_minor: 10000n } }
    const order = book({ recurring: {} }, { external_refund: 'review' })
    const state = derive([period(3, outside), period(4, outside), MAY], [ACTIVE], order)
    expect(raised(state)).toEqual([
      'right_under_review external_refund/pi_3',
      'right_under_review external_refund/pi_4',
    ])
  })

  type Row = [string, PaymentSummary[], OrderState['status'], string, string[], Partial<Policy>?]
  const rows: Row[] = [
    ['an old period refunded', [period(3, REFUNDED), APRIL], 'paid', 'granted', []],
    ['the present period refunded', [MARCH, period(4, REFUNDED)], 'refunded', 'revoked', []],
    ['the period refunded before was paid again', [period(4, REFUNDED), MAY], 'paid', 'granted', []],
    [
      'refunded, and kept by policy',
      [period(4, REFUNDED)],
      'refunded',
      'granted',
      [],
      { full_refund: 'keep' },
    ],
    [
      'a part of the present period refunded',
      [period(4, { refunded_minor: 1000n })],
      'partially_refunded',
      'granted',
      [],
    ],
    [
      'the present period charged back',
      [MARCH, period(4, { lost_minor: 10000n })],
      'charged_back',
      'revoked',
      [],
    ],
    ['an old period charged back', [period(3, { lost_minor: 10000n }), APRIL], 'paid', 'granted', []],
    ['the present period disputed', [MARCH, period(4, { disputed_minor: 10000n })], 'paid', 'suspended', []],
    [
      'case-28 a renewal failed',
      [MARCH, period(4, { status: 'failed', captured_minor: 0n, moved_at: null })],
      'paid',
      'granted',
      [],
    ],
    [
      'a renewal that was short',
      [MARCH, period(4, { captured_minor: 6000n })],
      'paid',
      'granted',
      ['underpayment pi_4'],
    ],
    [
      'P17 never the whole price',
      [period(3, { captured_minor: 100n })],
      'underpaid',
      'none',
      ['underpayment pi_3'],
    ],
    [
      'P17 another currency',
      [period(3, { currency: 'VND' })],
      'awaiting_payment',
      'none',
      ['currency_mismatch pi_3'],
    ],
    [
      'a period that brought more',
      [MARCH, period(4, { captured_minor: 15000n })],
      'overpaid',
      'granted',
      ['amount_mismatch pi_4'],
    ],
    ['a free period beside a paid one', [MARCH, period(4, { captured_minor: 0n })], 'paid', 'granted', []],
    ['an old period contradicts itself', [period(3, { status: 'conflicted' }), APRIL], 'paid', 'granted', []],
    ['the newest contradicts itself', [MARCH, period(4, { status: 'conflicted' })], 'on_hold', 'held', []],
    ['no money is told, as by GitHub', [], 'awaiting_payment', 'granted', []],
  ]
  for (const [name, payments, status, state, exceptions, policy] of rows) {
    it(`${name}: ${status}, ${state}`, () => {
      const derived = derive(payments, [ACTIVE], book({ recurring: {} }, policy))
      expect(derived.status).toBe(status)
      expect(access(derived)).toBe(state)
      expect(raised(derived)).toEqual(exceptions)
    })
  }

  it('the time by which it must be paid concerns the first one', () => {
    const terms = book({ recurring: {}, expires_at: '2025-03-02T00:00:00Z' })
    expect(derive([MARCH, APRIL], [ACTIVE], terms)).toMatchObject({ status: 'paid', exceptions: [] })
    expect(raised(derive([APRIL], [ACTIVE], terms))).toEqual(['paid_after_close pi_4'])
  })

  it('case-34 P32 a trial costs nothing and is nothing to ask about', () => {
    const free = period(3, { captured_minor: 0n })
    expect(derive([free], [subscription({ status: 'trialing' })])).toMatchObject({ exceptions: [] })
    expect(raised(derive([free], [ACTIVE]))).toEqual(['amount_mismatch pi_3'])
  })
})

describe('subscriptions', () => {
  type Row = [string, SubscriptionSummary[], PaymentSummary[], string]
  const rows: Row[] = [
    [
      'P53 past due in a new period, before the grace',
      [subscription({ status: 'past_due', since: '2025-05-09T00:00:00Z' })],
      [APRIL],
      'granted',
    ],
    [
      'past due for long',
      [subscription({ status: 'past_due', since: '2025-05-01T00:00:00Z' })],
      [APRIL],
      'expired',
    ],
    [
      'P20 past due for long, and then paid',
      [subscription({ status: 'past_due', since: '2025-05-01T00:00:00Z' })],
      [MAY],
      'granted',
    ],
    ['case-43 incomplete', [subscription({ status: 'incomplete' })], [], 'none'],
    [
      'seq-19 incomplete, but its first period is paid',
      [subscription({ status: 'incomplete' })],
      [MARCH],
      'granted',
    ],
    ['paused', [subscription({ status: 'paused' })], [MAY], 'suspended'],
    [
      'ended, its last period paid',
      [subscription({ status: 'canceled', ended_from: 'active' })],
      [MAY],
      'granted',
    ],
    [
      'ended, and its last period refunded',
      [subscription({ status: 'canceled', ended_from: 'active' })],
      [period(5, REFUNDED)],
      'revoked',
    ],
    ['ended', [subscription({ status: 'canceled', period_end: '2025-05-01T00:00:00Z' })], [APRIL], 'expired'],
    ['seq-20 contradicts itself', [subscription({ status: 'conflicted' })], [MAY], 'held'],
    [
      'case-25 an old one ended',
      [subscription({ id: 'sub_0', status: 'canceled', period_end: null }), ACTIVE],
      [MAY],
      'granted',
    ],
    [
      'trialing, a fee below the price',
      [subscription({ status: 'trialing' })],
      [period(5, { captured_minor: 500n })],
      'granted',
    ],
    ['none is told: the money decides', [], [MAY], 'granted'],
    ['none is told, nothing is paid', [], [], 'none'],
    [
      'one that only payments name: the money decides',
      [subscription({ status: 'unknown' })],
      [MAY],
      'granted',
    ],
  ]
  for (const [name, subscriptions, payments, state] of rows) {
    it(`${name}: ${state}`, () => {
      expect(access(derive(payments, subscriptions))).toBe(state)
    })
  }

  it('settle an order that was not registered as recurring all the same', () => {
    const state = derive([APRIL, MAY], [ACTIVE], book())
    expect(state).toMatchObject({ surplus_minor: 0n, exceptions: [], next_wakeup: IN_GRACE })
  })

  it('have the grace of the order, or else that of its policy', () => {
    const after = '2025-06-02T00:00:00Z'
    const none = book({ recurring: { grace_ms: 0 } })
    expect(access(derive([MAY], [ACTIVE], none, after))).toBe('expired')
    expect(access(derive([MAY], [ACTIVE], book({ recurring: {} }, { past_due_grace_ms: 0 }), after))).toBe(
      'expired',
    )
    expect(access(derive([MAY], [ACTIVE], book({ recurring: {} }), after))).toBe('granted')
  })

  it('case-23 end at once by policy', () => {
    const ended = subscription({ status: 'canceled', ended_from: 'active' })
    const at_once = book({ recurring: {} }, { subscription_canceled: 'at_once' })
    expect(access(derive([MAY], [ended], at_once))).toBe('expired')
  })

  it('that are told for two orders hold both and ask a person', () => {
    const state = derive([MAY], [subscription({ orders: ['A-17', 'B-1'] })])
    expect(access(state)).toBe('held')
    expect(raised(state)).toEqual(['fact_conflict subscription/sub_1'])
  })

  it('P25 of an order that nobody registered are told to a person', () => {
    const nobody: OrderBook = { terms: null, closed: null, decisions: [], conflicted: false }
    expect(raised(derive([], [ACTIVE], nobody))).toEqual(['unknown_order -'])
    expect(derive([], [subscription({ status: 'canceled' })], nobody).exceptions).toEqual([])
  })

  it('P23 access that a person keeps outlasts them', () => {
    const decision = {
      id: 'd',
      decision: 'keep_access',
      actor: 'ana',
      reason: 'sorry',
      at: AS_OF,
      based_on: '',
      firm: true,
    } as const
    const kept = { ...book({ recurring: {} }), decisions: [decision] }
    expect(access(derive([], [subscription({ status: 'canceled', period_end: null })], kept))).toBe('granted')
  })
})

describe('credits of each period', () => {
  const credits: OrderItem = { item: 'credits', quantity: 100, credits: true }
  const given = (payments: PaymentSummary[], more: Partial<OrderItem> = {}, subscriptions = [ACTIVE]) =>
    derive(payments, subscriptions, book({ recurring: {}, items: [{ ...credits, ...more }] })).entitlements[0]

  it('P21 add up, each by the money of its own period', () => {
    expect(given([MARCH, APRIL])).toMatchObject({ quantity: 200, state: 'granted' })
    expect(given([MARCH, period(4, { refunded_minor: 4000n })])).toMatchObject({ quantity: 160 })
    expect(given([period(3, REFUNDED), period(4, REFUNDED)])).toMatchObject({ quantity: 0, state: 'revoked' })
  })

  it('stay when the subscription ends, and end with their own period where the item says so', () => {
    const ended = [subscription({ status: 'canceled', period_end: null })]
    expect(given([MARCH, APRIL], {}, ended)).toMatchObject({ quantity: 200, state: 'granted' })
    expect(given([MARCH, APRIL, MAY], { valid_for_ms: 45 * 86_400_000 })).toMatchObject({ quantity: 200 })
  })
})

describe('properties', () => {
  const money = fc.record({
    month: fc.integer({ min: 1, max: 5 }),
    captured_minor: fc.constantFrom(0n, 4000n, 10000n, 12000n),
    refunded_minor: fc.constantFrom(0n, 0n, 1000n, 10000n),
    disputed_minor: fc.constantFrom(0n, 0n, 0n, 10000n),
    status: fc.constantFrom(
      'succeeded' as const,
      'succeeded' as const,
      'failed' as const,
      'conflicted' as const,
    ),
  })
  const payments = fc
    .array(money, { maxLength: 5 })
    .map((list) => list.map(({ month, ...more }, index) => ({ ...period(month, more), id: `pi_${index}` })))
  const subscriptions = fc
    .array(
      fc.record({
        status: fc.constantFrom(
          'trialing',
          'active',
          'past_due',
          'unpaid',
          'paused',
          'incomplete',
          'canceled',
          'conflicted' as const,
        ),
        period_end: fc.constantFrom('2025-04-01T00:00:00Z', END, null),
        cancel_at: fc.constantFrom('2025-05-09T00:00:00Z', null, null),
        since: fc.constantFrom('2025-03-01T00:00:00Z', '2025-05-09T00:00:00Z'),
        ended_from: fc.constantFrom('active' as const, 'past_due' as const, null),
      }),
      { maxLength: 3 },
    )
    .map((list) =>
      list.map((more, index) => subscription({ ...more, id: `sub_${index}` } as SubscriptionSummary)),
    )

  it('P19 P33 the same in any order of payments and subscriptions', () => {
    const shuffled = fc
      .tuple(payments, subscriptions)
      .chain(([paying, settling]) =>
        fc.tuple(
          fc.constant([paying, settling] as const),
          fc.shuffledSubarray(paying, { minLength: paying.length }),
          fc.shuffledSubarray(settling, { minLength: settling.length }),
        ),
      )
    const order = book({ recurring: {} })
    fc.assert(
      fc.property(shuffled, ([[paying, settling], other_payments, other_subscriptions]) => {
        expect(deriveOrder('A-17', order, other_payments, AS_OF, other_subscriptions)).toEqual(
          deriveOrder('A-17', order, paying, AS_OF, settling),
        )
      }),
    )
  })

  it('P33 one more subscription that is over changes nothing that another one gives', () => {
    const over = subscription({ id: 'sub_over', status: 'canceled', period_end: '2025-04-01T00:00:00Z' })
    fc.assert(
      fc.property(payments, subscriptions, (paying, settling) => {
        const alone = derive(paying, [ACTIVE, ...settling])
        expect(derive(paying, [ACTIVE, ...settling, over]).entitlements).toEqual(alone.entitlements)
      }),
    )
  })

  it('time changes nothing before the wake-up that it names', () => {
    fc.assert(
      fc.property(payments, subscriptions, fc.nat(90 * 24), (paying, settling, hours) => {
        const state = derive(paying, settling)
        const later = new Date(Date.parse(AS_OF) + hours * 3_600_000).toISOString()
        if (state.next_wakeup !== null && Date.parse(later) >= Date.parse(state.next_wakeup)) return
        expect(derive(paying, settling, book({ recurring: {} }), later)).toEqual(state)
      }),
    )
  })
})
