import { describe, expect, it } from 'vitest'
import { book, paid } from '../../test/history/shorthand.ts'
import { deriveOrder } from './derive-order.ts'
import type { OrderBook, OrderState, OrderStatus } from './order-state.ts'
import type { PaymentSummary } from './payment-state.ts'

const NOW = '2025-03-10T00:00:00Z'
const BOOK = book()

function derive(payments: readonly PaymentSummary[], known: OrderBook = BOOK, as_of = NOW): OrderState {
  const state = deriveOrder('A-17', known, payments, as_of)
  expect(deriveOrder('A-17', known, [...payments].reverse(), as_of)).toEqual(state)
  return state
}

function raised(state: OrderState): string[] {
  return state.exceptions.map((exception) => `${exception.kind} ${exception.cause}`)
}

const closed = (at: string): OrderBook => ({ ...BOOK, closed: { how: 'canceled', by: 'timer', at } })
const early = { moved_at: '2025-03-01T10:00:00Z' }
const late = { moved_at: '2025-03-02T10:00:00Z' }

type Row = [
  string,
  PaymentSummary[],
  OrderStatus,
  OrderState['entitlements'][number]['state'],
  bigint,
  bigint,
  string[],
]

function table(rows: readonly Row[], known: OrderBook = BOOK): void {
  for (const [name, payments, status, access, net_minor, surplus_minor, exceptions] of rows) {
    it(name, () => {
      const state = derive(payments, known)
      expect(state).toMatchObject({ status, net_minor, surplus_minor })
      expect(state.entitlements).toEqual([{ item: 'licence', quantity: 1, state: access }])
      expect(raised(state)).toEqual(exceptions)
    })
  }
}

describe('what is paid', () => {
  table([
    ['nothing', [], 'awaiting_payment', 'none', 0n, 0n, []],
    [
      'case-43 a payment under way',
      [paid('a', { status: 'pending', captured_minor: 0n })],
      'awaiting_payment',
      'none',
      0n,
      0n,
      [],
    ],
    [
      'case-28 seq-31 a failed payment beside a good one',
      [paid('a', { status: 'failed', captured_minor: 0n }), paid('b')],
      'paid',
      'granted',
      10000n,
      0n,
      [],
    ],
    ['P17 the exact price', [paid('a')], 'paid', 'granted', 10000n, 0n, []],
    [
      'case-32 one cent less',
      [paid('a', { captured_minor: 9999n })],
      'underpaid',
      'none',
      9999n,
      0n,
      ['underpayment -'],
    ],
    [
      'case-36 two parts',
      [paid('a', { captured_minor: 4000n }), paid('b', { captured_minor: 6000n, ...late })],
      'paid',
      'granted',
      10000n,
      0n,
      [],
    ],
    [
      'case-34 a free payment of a priced order',
      [paid('a', { captured_minor: 0n })],
      'awaiting_payment',
      'none',
      0n,
      0n,
      ['amount_mismatch a'],
    ],
    [
      'one payment above the price',
      [paid('a', { captured_minor: 12000n })],
      'overpaid',
      'granted',
      12000n,
      2000n,
      ['amount_mismatch a'],
    ],
    [
      'P16 case-40 paid twice',
      [paid('a'), paid('b', late)],
      'overpaid',
      'granted',
      20000n,
      10000n,
      ['duplicate_payment b'],
    ],
    [
      'case-40 paid twice at once: the first by id',
      [paid('b'), paid('a')],
      'overpaid',
      'granted',
      20000n,
      10000n,
      ['duplicate_payment b'],
    ],
    [
      'another amount on top',
      [paid('a'), paid('b', { captured_minor: 500n, ...late })],
      'overpaid',
      'granted',
      10500n,
      500n,
      ['surplus_payment b'],
    ],
    [
      'paid three times',
      [paid('a'), paid('b', late), paid('c', late)],
      'overpaid',
      'granted',
      30000n,
      20000n,
      ['duplicate_payment b', 'duplicate_payment c'],
    ],
    [
      'P52 a stand-in beside its payment',
      [paid('a'), paid('cs_1', { status: 'linked' })],
      'paid',
      'granted',
      10000n,
      0n,
      [],
    ],
    [
      'P17 case-33 the right number in another currency',
      [paid('a', { currency: 'VND' })],
      'awaiting_payment',
      'none',
      0n,
      0n,
      ['currency_mismatch a'],
    ],
    [
      'case-33 a currency that nobody told',
      [paid('a', { currency: null })],
      'awaiting_payment',
      'none',
      0n,
      0n,
      [],
    ],
    ['case-33 letter case', [paid('a', { currency: 'usd' })], 'paid', 'granted', 10000n, 0n, []],
    [
      'P14 a payment whose facts contradict each other',
      [paid('a'), paid('b', { status: 'conflicted' })],
      'on_hold',
      'held',
      10000n,
      0n,
      [],
    ],
  ])

  it('P17 P29 case-49 money of another account does not pay', () => {
    const state = derive([paid('a')], book({ account: 'acct_B' }))
    expect(state).toMatchObject({ status: 'awaiting_payment', paid_minor: 0n })
    expect(raised(state)).toEqual(['account_mismatch a'])
    expect(derive([paid('a', { account: 'acct_B' })], book({ account: 'acct_B' })).status).toBe('paid')
  })

  it('case-34 an order that costs nothing is granted once a payment of nothing succeeded', () => {
    const free = book({ amount_minor: 0n })
    expect(derive([], free)).toMatchObject({ status: 'awaiting_payment', entitlements: [{ state: 'none' }] })
    const state = derive([paid('a', { captured_minor: 0n })], free)
    expect(state).toMatchObject({ status: 'paid', entitlements: [{ state: 'granted' }], exceptions: [] })
  })
})

describe('what goes back', () => {
  const refunded = (id: string, refunded_minor: bigint, more = {}) => paid(id, { refunded_minor, ...more })
  table([
    ['seq-30 P23 everything refunded', [refunded('a', 10000n)], 'refunded', 'revoked', 0n, 0n, []],
    ['a part refunded', [refunded('a', 3000n)], 'partially_refunded', 'granted', 7000n, 0n, []],
    [
      'a refund still pending',
      [paid('a', { refund_pending_minor: 10000n })],
      'paid',
      'granted',
      10000n,
      0n,
      [],
    ],
    [
      'P16 case-19 seq-28 the second of two payments refunded',
      [paid('a'), refunded('b', 10000n, late)],
      'paid',
      'granted',
      10000n,
      0n,
      [],
    ],
    [
      'case-19 the first of two payments refunded',
      [refunded('a', 10000n), paid('b', late)],
      'paid',
      'granted',
      10000n,
      0n,
      [],
    ],
    [
      'case-19 both refunded',
      [refunded('a', 10000n), refunded('b', 10000n, late)],
      'refunded',
      'revoked',
      0n,
      0n,
      [],
    ],
    [
      'a part given back and paid again never was the price',
      [refunded('a', 6000n, { captured_minor: 6000n }), paid('b', { captured_minor: 6000n, ...late })],
      'underpaid',
      'none',
      6000n,
      0n,
      ['underpayment -'],
    ],
    ['an open chargeback', [paid('a', { disputed_minor: 10000n })], 'paid', 'suspended', 10000n, 0n, []],
    ['a lost chargeback', [paid('a', { lost_minor: 10000n })], 'charged_back', 'revoked', 0n, 0n, []],
    [
      'seq-24 a partly lost one',
      [paid('a', { lost_minor: 4000n })],
      'charged_back',
      'granted',
      6000n,
      0n,
      [],
    ],
    [
      'case-38 a part refunded, the rest lost',
      [refunded('a', 4000n, { lost_minor: 6000n })],
      'charged_back',
      'revoked',
      0n,
      0n,
      [],
    ],
    [
      'seq-32 a dispute after everything was refunded',
      [refunded('a', 10000n, { disputed_minor: 10000n })],
      'refunded',
      'revoked',
      0n,
      0n,
      [],
    ],
    [
      'an open chargeback of a surplus payment',
      [paid('a'), paid('b', { disputed_minor: 10000n, ...late })],
      'paid',
      'granted',
      20000n,
      0n,
      [],
    ],
    [
      'P24 case-44 taken back by the bank',
      [paid('a', { status: 'reversed', reversed_minor: 10000n })],
      'awaiting_payment',
      'suspended',
      0n,
      0n,
      [],
    ],
    [
      'case-44 taken back and paid again',
      [paid('a', { status: 'reversed', reversed_minor: 10000n }), paid('b', late)],
      'paid',
      'granted',
      10000n,
      0n,
      [],
    ],
    [
      'P22 refund known, payment not',
      [paid('a', { status: 'unknown', captured_minor: 0n, refunded_minor: 2000n, moved_at: null })],
      'awaiting_payment',
      'none',
      -2000n,
      0n,
      [],
    ],
  ])

  it('seq-28 a refund of the surplus takes nothing, also where any refund of the price would', () => {
    const strict = book({}, { partial_refund: 'revoke' })
    const twice = [paid('a'), refunded('b', 10000n, late)]
    expect(derive(twice, strict)).toMatchObject({ status: 'paid', entitlements: [{ state: 'granted' }] })
    const more = [paid('a'), refunded('b', 10000n, late), paid('c', late)]
    expect(derive(more, strict).entitlements).toMatchObject([{ state: 'granted' }])
    const part = derive([refunded('a', 1n)], strict)
    expect(part.entitlements).toMatchObject([{ state: 'revoked' }])
  })

  it('P16 names no refunded payment as a candidate', () => {
    const state = derive([
      refunded('a', 10000n),
      paid('b', late),
      paid('c', { moved_at: '2025-03-03T00:00:00Z' }),
    ])
    expect(raised(state)).toEqual(['duplicate_payment c'])
  })
})

describe('when the money moved', () => {
  table(
    [
      [
        'P31 case-45 seq-31 after the order was closed',
        [paid('a', late)],
        'on_hold',
        'none',
        10000n,
        0n,
        ['paid_after_close a'],
      ],
      ['before it was closed', [paid('a', early)], 'paid', 'granted', 10000n, 0n, []],
      [
        'at a time that no one told',
        [paid('a', { moved_at: null })],
        'on_hold',
        'none',
        10000n,
        0n,
        ['paid_after_close a'],
      ],
      [
        'in time, and again too late',
        [paid('a', early), paid('b', late)],
        'overpaid',
        'granted',
        20000n,
        10000n,
        ['duplicate_payment b'],
      ],
      [
        'one part in time, the other too late',
        [paid('a', { captured_minor: 4000n, ...early }), paid('b', { captured_minor: 6000n, ...late })],
        'on_hold',
        'none',
        10000n,
        0n,
        ['paid_after_close b', 'underpayment -'],
      ],
      [
        'too late and refunded',
        [paid('a', { refunded_minor: 10000n, ...late })],
        'canceled',
        'none',
        0n,
        0n,
        [],
      ],
      [
        'in time and taken back, then again too late',
        [paid('a', { status: 'reversed', reversed_minor: 10000n, ...early }), paid('b', late)],
        'on_hold',
        'suspended',
        10000n,
        0n,
        ['paid_after_close b'],
      ],
      ['nothing', [], 'canceled', 'none', 0n, 0n, []],
    ],
    closed('2025-03-01T12:00:00Z'),
  )

  it('case-36 compares with the expiry of the terms, at that very second still in time', () => {
    const expiring = book({ expires_at: '2025-03-01T10:00:00Z' })
    expect(derive([paid('a', early)], expiring).status).toBe('paid')
    expect(derive([paid('a', { moved_at: '2025-03-01T10:00:01Z' })], expiring)).toMatchObject({
      status: 'on_hold',
    })
  })

  it('wakes an unpaid order at its expiry, and only then', () => {
    const expires_at = '2025-03-20T00:00:00Z'
    const expiring = book({ expires_at })
    expect(derive([], expiring)).toMatchObject({ status: 'awaiting_payment', next_wakeup: expires_at })
    expect(derive([], expiring, expires_at)).toMatchObject({ status: 'expired', next_wakeup: null })
    expect(derive([paid('a')], expiring).next_wakeup).toBeNull()
    expect(derive([paid('a')], expiring, '2026-01-01T00:00:00Z').status).toBe('paid')
    expect(derive([], { ...closed('2025-03-01T12:00:00Z'), terms: expiring.terms }).next_wakeup).toBeNull()
  })
})

describe('an order without terms', () => {
  const placeholder: OrderBook = { terms: null, closed: null, decisions: [], conflicted: false }

  it('P25 case-26 seq-33 waits, and tells of money only after a while', () => {
    const state = derive([paid('a')], placeholder)
    expect(state).toMatchObject({ status: 'awaiting_terms', entitlements: [], currency: null })
    expect(state.exceptions).toMatchObject([{ kind: 'unknown_order', cause: '-', alert_after_ms: 600_000 }])
    expect(derive([paid('a', { captured_minor: 0n })], placeholder).exceptions).toEqual([])
  })

  it('P14 with two different terms grants and takes nothing', () => {
    const state = derive([paid('a')], { ...placeholder, conflicted: true })
    expect(state).toMatchObject({ status: 'on_hold', entitlements: [] })
    expect(raised(state)).toEqual(['fact_conflict terms'])
  })
})

describe('messages', () => {
  it('P42 say amounts, ids and what to do next', () => {
    const [exception] = derive([paid('a'), paid('b', late)]).exceptions
    expect(exception?.message).toBe(
      'Order A-17 asks for $100.00 and has $100.00 too much. Payment b of $100.00 looks like the same purchase paid again: it is a candidate for a refund, which does not touch what the order gives.',
    )
  })
})
