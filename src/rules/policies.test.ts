import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { book, dispute, funds, PAYMENT, paid, refund, whole } from '../../test/history/shorthand.ts'
import type { Decision } from '../facts/decision.ts'
import type { Fact } from '../facts/fact.ts'
import { type Aftermath, NO_AFTERMATH } from './aftermath.ts'
import { deriveOrder } from './derive-order.ts'
import { derivePayment } from './derive-payment.ts'
import type { OrderBook, OrderState } from './order-state.ts'
import type { PaymentSummary } from './payment-state.ts'
import type { Policy } from './policy.ts'
import { summarize } from './summarize.ts'

const NOW = '2025-03-10T00:00:00Z'

function derive(payments: readonly PaymentSummary[], known: OrderBook = book(), as_of = NOW): OrderState {
  const state = deriveOrder('A-17', known, payments, as_of)
  expect(deriveOrder('A-17', known, [...payments].reverse(), as_of)).toEqual(state)
  return state
}

/** An order of 100.00 USD, paid by one payment about which these facts are told. */
function told(facts: readonly Fact[], policy: Partial<Policy> = {}, as_of = NOW): OrderState {
  const all = [whole('succeeded', 10_000n, { moved_at: '2025-03-01T10:00:00Z' }), ...facts]
  const state = derivePayment(all)
  expect(derivePayment([...all].reverse())).toEqual(state)
  return derive([summarize(PAYMENT, state)], book({}, policy), as_of)
}

const least = (a: bigint, b: bigint) => [a, b].sort((x, y) => (x < y ? -1 : 1))[0]!
const access = ({ entitlements }: OrderState) => entitlements[0]!.state
const raised = ({ exceptions }: OrderState) => exceptions.map(({ kind, cause }) => `${kind} ${cause}`)
const due = ({ refunds_due = [] }: OrderState) =>
  refunds_due.map(({ cause, amount_minor }) => `${cause} ${amount_minor}`)

const opened = dispute('chargeback', 'needs_response', 10_000n)
const later = (status: 'won' | 'lost' | 'partially_won' | 'prevented', at = '2025-03-05T00:00:00Z') =>
  dispute('chargeback', status, 10_000n, { at })
const pending = refund('re_1', 'pending', 10_000n)
const refunded = refund('re_1', 'succeeded', 10_000n)
const refund_failed = refund('re_1', 'failed', 10_000n)
const outside = refund('re_1', 'succeeded', 10_000n, { origin: 'external' })
const preventing = refund('re_1', 'succeeded', 10_000n, { origin: 'dispute_prevention' })
const part = (amount_minor: bigint) => refund('re_1', 'succeeded', amount_minor)
const reversed = whole('reversed', 10_000n, { moved_at: '2025-03-08T00:00:00Z' })
const warning = dispute('early_warning', 'needs_response', 10_000n)
const inquiry = dispute('inquiry', 'needs_response', 10_000n)

describe('P23 what each policy makes of what is told about a paid order', () => {
  const rows: [string, readonly Fact[], Partial<Policy>, string, string[]?][] = [
    ['a refund is pending', [pending], {}, 'granted'],
    ['a refund is pending, suspend', [pending], { refund_pending: 'suspend' }, 'suspended'],
    ['case-22 seq-05 a refund failed after success', [refunded, refund_failed], {}, 'granted'],
    [
      'case-22 a refund failed after success, review',
      [refunded, refund_failed],
      { refund_failed: 'review' },
      'suspended',
      ['right_under_review refund_failed'],
    ],
    [
      'a refund failed that never succeeded, review',
      [pending, refund_failed],
      { refund_failed: 'review' },
      'granted',
    ],
    ['a refund in the dashboard', [outside], {}, 'revoked'],
    [
      'a refund in the dashboard, review',
      [outside],
      { external_refund: 'review' },
      'suspended',
      ['right_under_review external_refund'],
    ],
    ['a refund of our own, review of others', [refunded], { external_refund: 'review' }, 'revoked'],
    ['a part of 30 %, threshold 30 %', [part(3_000n)], { partial_refund: 3_000 }, 'revoked'],
    ['a part below the threshold', [part(2_999n)], { partial_refund: 3_000 }, 'granted'],
    ['case-37 an early warning', [warning], {}, 'granted'],
    ['an early warning, suspend', [warning], { early_warning: 'suspend' }, 'suspended'],
    ['an early warning, suspend at inquiries', [warning], { inquiry: 'suspend' }, 'granted'],
    ['case-37 an inquiry', [inquiry], {}, 'granted'],
    ['an inquiry, suspend', [inquiry], { inquiry: 'suspend' }, 'suspended'],
    [
      'an inquiry that was closed, suspend',
      [inquiry, dispute('inquiry', 'withdrawn', 10_000n, { at: '2025-03-03T00:00:00Z' })],
      { inquiry: 'suspend' },
      'granted',
    ],
    ['an inquiry that became a chargeback', [inquiry, opened], {}, 'suspended'],
    ['a dispute that was won', [opened, later('won')], {}, 'granted'],
    [
      'a dispute that was won, review',
      [opened, later('won')],
      { dispute_won: 'review' },
      'suspended',
      ['right_under_review dispute_won'],
    ],
    [
      'a dispute that was won and had taken nothing, review',
      [opened, later('won')],
      { dispute_won: 'review', dispute_opened: 'keep' },
      'granted',
    ],
    [
      'seq-06 lost, money comes back, and still told as lost',
      [opened, later('lost'), funds('withdrawn', 10_000n), funds('reinstated', 10_000n)],
      {},
      'granted',
    ],
    ['won after lost', [opened, later('lost'), later('won', '2025-03-06T00:00:00Z')], {}, 'granted'],
    ['lost after won', [opened, later('won'), later('lost', '2025-03-06T00:00:00Z')], {}, 'revoked'],
    [
      'seq-24 decided in part: access follows what stays paid',
      [opened, funds('withdrawn', 10_000n), funds('reinstated', 6_000n), later('partially_won')],
      {},
      'granted',
    ],
    [
      'decided in part, review',
      [opened, funds('withdrawn', 10_000n), funds('reinstated', 6_000n), later('partially_won')],
      { dispute_partial: 'review' },
      'suspended',
      ['right_under_review dispute_partial'],
    ],
    ['a dispute that was prevented by a refund', [opened, later('prevented'), preventing], {}, 'revoked'],
    ['prevented, kept', [opened, later('prevented'), preventing], { dispute_prevented: 'keep' }, 'granted'],
    [
      'prevented, told by its money alone',
      [opened, funds('withdrawn', 10_000n), later('prevented')],
      {},
      'revoked',
    ],
    ['case-44 the bank took it back', [reversed], {}, 'suspended'],
    ['case-44 within the grace', [reversed], { late_reversal_grace_ms: 7 * 86_400_000 }, 'granted'],
    ['case-44 after the grace', [reversed], { late_reversal_grace_ms: 86_400_000 }, 'suspended'],
    [
      'no grace where nobody tells when',
      [whole('reversed', 10_000n)],
      { late_reversal_grace_ms: 10 ** 9 },
      'suspended',
    ],
  ]
  for (const [name, facts, policy, state, exceptions = []] of rows) {
    it(`${name}: ${state}`, () => {
      const order = told(facts, policy)
      expect(access(order)).toBe(state)
      expect(raised(order)).toEqual(exceptions)
    })
  }

  it('P23 a prevented dispute is a refund and no chargeback, told once or twice', () => {
    expect(told([opened, later('prevented'), preventing]).status).toBe('refunded')
    const both = told([opened, funds('withdrawn', 10_000n), later('prevented'), preventing])
    expect([both.status, both.net_minor]).toEqual(['refunded', 0n])
  })

  it('P24 wakes the order when the grace ends', () => {
    const order = told([reversed], { late_reversal_grace_ms: 7 * 86_400_000 })
    expect(order.next_wakeup).toBe('2025-03-15T00:00:00.000Z')
  })

  it('what concerns a surplus alone has no say', () => {
    const aftermath: Aftermath = {
      ...NO_AFTERMATH,
      inquiry_minor: 10_000n,
      won_minor: 10_000n,
      returned_minor: 10_000n,
    }
    const strict: Partial<Policy> = {
      inquiry: 'suspend',
      dispute_won: 'review',
      refund_failed: 'review',
      refund_pending: 'suspend',
    }
    const second = paid('b', { aftermath, refund_pending_minor: 10_000n })
    expect(access(derive([paid('a'), second], book({}, strict)))).toBe('granted')
    expect(access(derive([second], book({}, strict)))).toBe('suspended')
  })

  it('a person who keeps access is not asked for a review', () => {
    const keep: Decision = {
      id: 'd',
      decision: 'keep_access',
      actor: 'ann',
      reason: 'ours',
      at: NOW,
      based_on: '',
      firm: true,
    }
    const won = paid('a', { aftermath: { ...NO_AFTERMATH, won_minor: 10_000n } })
    const state = derive([won], { ...book({}, { dispute_won: 'review' }), decisions: [keep] })
    expect([access(state), raised(state)]).toEqual(['granted', []])
  })
})

describe('case-38 several disputes of one payment', () => {
  const of = (id: string, amount_minor: bigint, status: 'needs_response' | 'won' | 'lost', at: string) =>
    dispute('chargeback', status, amount_minor, { dispute: id, at })

  it('each has its own amount, verdict and deadline', () => {
    const state = derivePayment([
      whole('succeeded', 16_800n),
      of('du_1', 8_400n, 'lost', '2025-03-02T00:00:00Z'),
      of('du_2', 8_400n, 'needs_response', '2025-03-02T00:00:00Z'),
    ])
    expect(state).toMatchObject({ lost_minor: 8_400n, disputed_minor: 8_400n })
    expect(state.exceptions.map(({ kind, cause }) => `${kind} ${cause}`)).toEqual(['dispute_opened du_2'])
  })

  it('seq-25 what was reinstated does not make a later refund smaller', () => {
    const order = told([
      opened,
      funds('withdrawn', 10_000n),
      funds('reinstated', 10_000n),
      later('won'),
      part(4_000n),
    ])
    expect([order.net_minor, order.status, access(order)]).toEqual([6_000n, 'partially_refunded', 'granted'])
  })
})

describe('authorise and capture', () => {
  const captured = (id: string, amount_minor: bigint) => whole('succeeded', amount_minor, { attempt: id })

  it('an authorisation alone pays nothing, and captures add up', () => {
    const held = whole('authorized', 10_000n)
    const order = (facts: readonly Fact[]) => derive([summarize(PAYMENT, derivePayment(facts))])
    expect([order([held]).status, access(order([held]))]).toEqual(['awaiting_payment', 'none'])
    expect(order([held, captured('c1', 6_000n)]).status).toBe('underpaid')
    const both = order([held, captured('c1', 6_000n), captured('c2', 4_000n)])
    expect([both.status, access(both)]).toEqual(['paid', 'granted'])
  })

  it('seq-12 seq-29 what is released is no refund, and a refund told before its capture stays one', () => {
    const released = refund('re_1', 'succeeded', 4_000n, { releases_authorization: true })
    const state = derivePayment([whole('authorized', 10_000n), captured('c1', 6_000n), released])
    expect(state).toMatchObject({
      captured_minor: 6_000n,
      refunded_minor: 0n,
      authorized_minor: 10_000n,
      exceptions: [],
    })
    const gone = derivePayment([
      refund('re_2', 'succeeded', 6_000n),
      whole('authorized', 6_000n),
      captured('c1', 6_000n),
    ])
    expect(access(derive([summarize(PAYMENT, gone)], book({ amount_minor: 6_000n })))).toBe('revoked')
  })

  it('the sum of any captures, in any order and number of copies, is what was collected', () => {
    const amounts = fc.array(fc.bigInt({ min: 1n, max: 10n ** 20n }), { minLength: 1, maxLength: 6 })
    fc.assert(
      fc.property(
        amounts.chain((all) =>
          fc.tuple(
            fc.constant(all),
            fc.shuffledSubarray(
              all.map((_, i) => i),
              { minLength: all.length },
            ),
          ),
        ),
        ([all, order]) => {
          const facts = [...order, ...order.slice(0, 2)].map((index) => captured(`c${index}`, all[index]!))
          expect(derivePayment(facts).captured_minor).toBe(all.reduce((sum, amount) => sum + amount, 0n))
        },
      ),
    )
  })
})

describe('case-21 seq-15 providers that tell only how much was refunded so far', () => {
  const total = (total_minor: bigint): Fact => ({
    subject: PAYMENT,
    key: `refund_total/payment/${total_minor}`,
    kind: 'refund_total',
    content: { total_minor, currency: 'USD', without_ids: true },
  })
  const refunded_minor = (facts: readonly Fact[]) =>
    derivePayment([whole('succeeded', 10_000n), ...facts]).refunded_minor

  it('the largest figure holds, in any order of arrival', () => {
    expect(refunded_minor([total(3_000n)])).toBe(3_000n)
    expect(refunded_minor([total(3_000n), total(5_000n)])).toBe(5_000n)
    expect(refunded_minor([total(5_000n), total(3_000n), total(5_000n)])).toBe(5_000n)
  })

  it('what a known refund explains is not counted twice', () => {
    expect(refunded_minor([part(3_000n), total(5_000n)])).toBe(5_000n)
    expect(refunded_minor([part(5_000n), total(3_000n)])).toBe(5_000n)
  })

  it('more than was paid is taken as told, and raised', () => {
    const state = derivePayment([whole('succeeded', 10_000n), total(11_000n)])
    expect(state.refunded_minor).toBe(11_000n)
    expect(state.exceptions.map(({ kind }) => kind)).toEqual(['refund_exceeds_payment'])
  })
})

describe('case-36 tolerance and parts', () => {
  const tolerant = book({}, { tolerance_minor: 5n })
  const of = (captured_minor: bigint, known = tolerant) => {
    const state = derive([paid('a', { captured_minor })], known)
    return [state.status, access(state), state.surplus_minor, raised(state)]
  }

  it('within it, too little and too much are as good as exact; without it, nothing is', () => {
    for (const amount of [9_995n, 10_000n, 10_005n]) expect(of(amount)).toEqual(['paid', 'granted', 0n, []])
    expect(of(9_994n)).toEqual(['underpaid', 'none', 0n, ['underpayment -']])
    expect(of(10_006n)).toEqual(['overpaid', 'granted', 6n, ['amount_mismatch a']])
    expect(of(9_999n, book())).toEqual(['underpaid', 'none', 0n, ['underpayment -']])
  })

  it('makes nothing free that costs anything', () => {
    const known = book({ amount_minor: 3n }, { tolerance_minor: 100n })
    expect(of(0n, known)[1]).toBe('none')
    expect(of(1n, known)[1]).toBe('granted')
  })

  it('any part grants where the policy says so, and giving it back takes it', () => {
    const known = book({}, { partial_payments: 'grant' })
    const part = paid('a', { captured_minor: 4_000n })
    const state = derive([part], known)
    expect([state.status, access(state), raised(state)]).toEqual(['underpaid', 'granted', ['underpayment -']])
    expect(access(derive([{ ...part, refunded_minor: 4_000n }], known))).toBe('revoked')
    expect(access(derive([{ ...part, disputed_minor: 4_000n }], known))).toBe('suspended')
    expect(access(derive([], known))).toBe('none')
  })

  it('never takes from an order that the strict reading grants', () => {
    const money = fc.bigInt({ min: 0n, max: 250n })
    fc.assert(
      fc.property(
        money,
        money,
        money,
        money,
        (captured_minor, refunded_minor, lost_minor, tolerance_minor) => {
          const payment = paid('a', { captured_minor, refunded_minor, lost_minor })
          const of = (tolerance: bigint) =>
            access(derive([payment], book({ amount_minor: 100n }, { tolerance_minor: tolerance })))
          if (of(0n) === 'granted') expect(of(tolerance_minor)).toBe('granted')
        },
      ),
    )
  })
})

describe('P16 case-40 surplus that is given back by itself', () => {
  const auto = book({}, { surplus: 'refund' })

  it('names the newest payment, and says how much will have gone back', () => {
    const state = derive([paid('a'), paid('b', { moved_at: '2025-03-02T00:00:00Z' })], auto)
    expect(state.refunds_due).toEqual([
      {
        cause: 'surplus/stripe/default/b',
        namespace: 'stripe',
        account: 'default',
        payment: 'b',
        amount_minor: 10_000n,
        currency: 'USD',
        refunded_after_minor: 10_000n,
        delay_ms: 3_600_000,
      },
    ])
    expect(raised(state)).toEqual(['duplicate_payment b'])
  })

  const second = (more: Partial<PaymentSummary>) => paid('b', { moved_at: '2025-03-02T00:00:00Z', ...more })
  const rows: [string, PaymentSummary[], OrderBook, string[]][] = [
    ['not by default', [paid('a'), second({})], book(), []],
    [
      'the difference of one payment',
      [paid('a', { captured_minor: 10_700n })],
      auto,
      ['surplus/stripe/default/a 700'],
    ],
    ['not what is on its way back', [paid('a'), second({ refund_pending_minor: 10_000n })], auto, []],
    [
      'the rest of what is on its way back',
      [paid('a'), second({ refund_pending_minor: 4_000n })],
      auto,
      ['surplus/stripe/default/b 6000'],
    ],
    ['not from a disputed payment', [paid('a'), second({ disputed_minor: 10_000n })], auto, []],
    ['not once it is back', [paid('a'), second({ refunded_minor: 10_000n })], auto, []],
    [
      'not beyond the limit',
      [paid('a'), second({})],
      book({}, { surplus: 'refund', automatic_refund_max_minor: 9_999n }),
      [],
    ],
    ['not what does not even pay the order', [paid('a', { captured_minor: 9_000n })], auto, []],
    ['not while statements contradict each other', [paid('a'), second({ status: 'conflicted' })], auto, []],
  ]
  for (const [name, payments, known, expected] of rows) {
    it(name, () => expect(due(derive(payments, known))).toEqual(expected))
  }

  it('takes what people set aside first', () => {
    const aside: Decision = {
      id: 'd',
      decision: 'treat_as_surplus',
      payment: 'a',
      actor: 'ann',
      reason: 'mistake',
      at: NOW,
      based_on: '',
      firm: true,
    }
    expect(due(derive([paid('a'), second({})], { ...auto, decisions: [aside] }))).toEqual([
      'surplus/stripe/default/a 10000',
    ])
  })

  it('P16 never gives back more than the surplus, nor what the order needs', () => {
    const money = fc.bigInt({ min: 0n, max: 300n })
    const payment = fc.record({
      captured: money,
      back: money,
      pending: money,
      disputed: money,
      day: fc.integer({ min: 1, max: 4 }),
    })
    fc.assert(
      fc.property(
        fc.array(payment, { maxLength: 4 }),
        money,
        fc.constantFrom('refund', 'review', 'reopen'),
        (all, tolerance_minor, late) => {
          const payments = all.map(({ captured, back, pending, disputed, day }, index) => {
            const refunded_minor = least(back, captured)
            return paid(`p${index}`, {
              captured_minor: captured,
              refunded_minor,
              refund_pending_minor: pending,
              disputed_minor: disputed < captured - refunded_minor ? disputed : 0n,
              moved_at: `2025-03-0${day}T00:00:00Z`,
            })
          })
          const policy = { surplus: 'refund', paid_after_close: late, tolerance_minor } as const
          const known = book({ amount_minor: 100n, expires_at: '2025-03-03T00:00:00Z' }, policy)
          const before = derive(payments, known)
          const after = derive(
            payments.map((payment) => {
              const own = (before.refunds_due ?? []).filter((one) => one.payment === payment.id)
              expect(own.length).toBeLessThan(2)
              const amount = own.reduce((sum, { amount_minor }) => sum + amount_minor, 0n)
              expect(amount + payment.refunded_minor <= payment.captured_minor).toBe(true)
              return { ...payment, refunded_minor: payment.refunded_minor + amount }
            }),
            known,
          )
          // What was given back took nothing from what the order gives.
          expect(access(after)).toBe(access(before))
          expect(due(after)).toEqual([])
        },
      ),
      { numRuns: 500 },
    )
  })
})

describe('P31 case-45 seq-31 money after the order was closed', () => {
  const closed = (by: 'timer' | 'person', policy: Partial<Policy>): OrderBook => ({
    ...book({}, policy),
    closed: {
      how: 'canceled',
      by,
      at: '2025-02-01T00:00:00Z',
      ...(by === 'person' ? { by_person: true } : {}),
    },
  })
  const told_of = (state: OrderState) => [access(state), raised(state), due(state)]

  it('is reviewed, reopens or goes back, as the policy says', () => {
    const of = (by: 'timer' | 'person', paid_after_close: Policy['paid_after_close']) =>
      told_of(derive([paid('a')], closed(by, { paid_after_close })))
    const asked = ['paid_after_close a']
    expect(of('timer', 'review')).toEqual(['none', asked, []])
    expect(of('timer', 'reopen')).toEqual(['granted', asked, []])
    expect(of('person', 'reopen')).toEqual(['none', asked, []])
    expect(of('timer', 'refund')).toEqual(['none', asked, ['late/stripe/default/a 10000']])
  })

  it('P31 case-45 is exactly one of reopened, a refund under way, or a task for a person', () => {
    const policies = fc.constantFrom<Policy['paid_after_close']>('review', 'reopen', 'refund')
    fc.assert(
      fc.property(
        policies,
        fc.constantFrom('timer' as const, 'person' as const),
        fc.boolean(),
        (paid_after_close, by, expired) => {
          const known = expired
            ? book({ expires_at: '2025-02-01T00:00:00Z' }, { paid_after_close })
            : closed(by, { paid_after_close })
          const state = derive([paid('a')], known)
          const task = state.exceptions.some(
            ({ kind, severity }) => kind === 'paid_after_close' && severity === 'urgent',
          )
          expect([access(state) === 'granted', due(state).length === 1, task].filter(Boolean)).toHaveLength(1)
        },
      ),
    )
  })

  it('a person who reopens it is asked no more', () => {
    const reopen: Decision = {
      id: 'd',
      decision: 'reopen',
      actor: 'ann',
      reason: 'in stock',
      at: NOW,
      based_on: '',
      firm: true,
    }
    for (const paid_after_close of ['review', 'reopen', 'refund'] as const) {
      const known = { ...closed('timer', { paid_after_close }), decisions: [reopen] }
      expect(told_of(derive([paid('a')], known))).toEqual(['granted', [], []])
    }
  })
})

describe('P32 case-34 nothing to pay', () => {
  const nothing = paid('free', { captured_minor: 0n })

  it('P32 case-34 is fulfilled where the order asks for nothing, and raised where it does not', () => {
    const free = derive([nothing], book({ amount_minor: 0n }))
    expect([free.status, access(free), raised(free)]).toEqual(['paid', 'granted', []])
    for (const policy of [
      {},
      { tolerance_minor: 10_000n },
      { partial_payments: 'grant' },
    ] as Partial<Policy>[]) {
      const priced = derive([nothing], book({}, policy))
      expect([access(priced), raised(priced)]).toEqual(['none', ['amount_mismatch free']])
    }
  })
})
