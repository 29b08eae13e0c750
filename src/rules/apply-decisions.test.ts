import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { book, paid } from '../../test/history/shorthand.ts'
import type { Decision, DecisionKind } from '../facts/decision.ts'
import { orderBasis } from './basis.ts'
import { deriveOrder } from './derive-order.ts'
import type { OrderBook, OrderState } from './order-state.ts'
import type { PaymentSummary } from './payment-state.ts'
import { standingDecisions } from './standing-decisions.ts'

const NOW = '2025-03-10T00:00:00Z'

function decide(kind: DecisionKind, more: Partial<Decision> = {}): Decision {
  return {
    id: `d-${kind}`,
    decision: kind,
    actor: 'ann',
    reason: 'agreed by telephone',
    at: NOW,
    based_on: 'x',
    firm: true,
    ...more,
  }
}

function derive(
  payments: readonly PaymentSummary[],
  decisions: readonly Decision[],
  known: OrderBook = book(),
  as_of = NOW,
): OrderState {
  const state = deriveOrder('A-17', { ...known, decisions }, payments, as_of)
  const backwards = { ...known, decisions: [...decisions].reverse() }
  expect(deriveOrder('A-17', backwards, [...payments].reverse(), as_of)).toEqual(state)
  return state
}

const access = ({ entitlements }: OrderState) => entitlements[0]!.state
const raised = ({ exceptions }: OrderState) => exceptions.map(({ kind, cause }) => `${kind} ${cause}`)

describe('accept_payment', () => {
  const accepted = [decide('accept_payment', { payment: 'p' })]

  it.each([
    ['short', { captured_minor: 9_000n }],
    ['in another currency', { currency: 'EUR' }],
    ['through another account', { account: 'other' }],
  ] as const)('grants for a payment that is %s', (_name, more) => {
    const payment = paid('p', more)
    const terms = book({ account: 'default' })
    expect(access(derive([payment], [], terms))).toBe('none')
    const decision = [{ ...accepted[0]!, account: payment.account }]
    const state = derive([payment], decision, terms)
    expect([state.status, access(state), raised(state)]).toEqual(['paid', 'granted', []])
  })

  it('grants for a payment that came after the order was closed', () => {
    const closed = {
      ...book(),
      closed: { how: 'canceled', by: 'person', at: '2025-02-01T00:00:00Z' },
    } as const
    expect(access(derive([paid('p')], [], closed))).toBe('none')
    expect(access(derive([paid('p')], accepted, closed))).toBe('granted')
  })

  it('takes access again when such a payment goes back', () => {
    const gone = paid('p', { captured_minor: 9_000n, refunded_minor: 9_000n })
    expect(access(derive([gone], accepted))).toBe('revoked')
    const foreign = paid('p', { currency: 'EUR', captured_minor: 9_000n, refunded_minor: 9_000n })
    expect(access(derive([foreign], accepted))).toBe('revoked')
  })

  it('grants nothing for a payment that brought nothing', () => {
    expect(access(derive([paid('p', { captured_minor: 0n })], accepted))).toBe('none')
  })
})

describe('treat_as_surplus', () => {
  it('case-19 seq-28 keeps what the order gives when that payment is refunded, and asks for its refund until then', () => {
    const decision = [decide('treat_as_surplus', { payment: 'b' })]
    const both = derive([paid('a'), paid('b')], decision)
    expect([access(both), both.surplus_minor, raised(both)]).toEqual([
      'granted',
      10_000n,
      ['surplus_payment b'],
    ])
    const refunded = derive([paid('a'), paid('b', { refunded_minor: 10_000n })], decision)
    expect([access(refunded), refunded.surplus_minor, raised(refunded)]).toEqual(['granted', 0n, []])
  })

  it('stays with that payment: the other one going back takes the access', () => {
    const decision = [decide('treat_as_surplus', { payment: 'b' })]
    expect(access(derive([paid('a', { refunded_minor: 10_000n }), paid('b')], decision))).toBe('revoked')
  })
})

describe('write_off', () => {
  it('grants once the rest is paid', () => {
    const short = [paid('p', { captured_minor: 9_000n })]
    expect(access(derive(short, [decide('write_off', { amount_minor: 999n, currency: 'USD' })]))).toBe('none')
    const state = derive(short, [decide('write_off', { amount_minor: 1_000n, currency: 'USD' })])
    expect([state.status, access(state), raised(state)]).toEqual(['paid', 'granted', []])
  })

  it('seq-03 taken back leaves what the facts say, and decided once more counts once', () => {
    const payments = [paid('p', { captured_minor: 4_000n })]
    const plain = derive(payments, [])
    const whole = { amount_minor: 6_000n, currency: 'USD' }
    const first = decide('write_off', { ...whole, id: 'd1', at: '2025-03-05T00:00:00Z' })
    const back = decide('withdraw', { id: 'd2', at: '2025-03-06T00:00:00Z', supersedes: 'd1' })
    const again = decide('write_off', { ...whole, id: 'd3', at: '2025-03-07T00:00:00Z' })
    const standing = (...decisions: Decision[]) => derive(payments, standingDecisions(decisions))
    expect(access(standing(first))).toBe('granted')
    expect(standing(first, back)).toEqual(plain)
    expect(standing(first, back, again)).toEqual(standing(again))
    expect(standing(first, back, again)).toMatchObject({ paid_minor: 4_000n, surplus_minor: 0n })
  })

  it('in another currency writes nothing off', () => {
    const decision = [decide('write_off', { amount_minor: 10_000n, currency: 'EUR' })]
    expect(access(derive([paid('p', { captured_minor: 9_000n })], decision))).toBe('none')
  })
})

describe('keep_access', () => {
  const lost = [paid('p', { lost_minor: 10_000n })]

  it('keeps it until the date, asks to be woken then, and takes it afterwards', () => {
    const decision = [decide('keep_access', { until: '2025-04-01T00:00:00.000Z' })]
    const before = derive(lost, decision)
    expect([access(before), before.next_wakeup]).toEqual(['granted', '2025-04-01T00:00:00.000Z'])
    const after = derive(lost, decision, book(), '2025-04-01T00:00:00Z')
    expect([access(after), after.next_wakeup]).toEqual(['revoked', null])
  })

  it('keeps it for ever when no date is said', () => {
    const state = derive(lost, [decide('keep_access')], book(), '2099-01-01T00:00:00Z')
    expect([access(state), state.status]).toEqual(['granted', 'charged_back'])
  })
})

describe('reopen', () => {
  it('P31 lets money that came after the end pay', () => {
    const ended = book({ expires_at: '2025-02-01T00:00:00Z' })
    expect(derive([paid('p')], [], ended).status).toBe('on_hold')
    const state = derive([paid('p')], [decide('reopen')], ended)
    expect([state.status, access(state), raised(state)]).toEqual(['paid', 'granted', []])
    expect(derive([], [decide('reopen')], ended).status).toBe('awaiting_payment')
  })
})

describe('a decision and what was seen', () => {
  it('asks again when the facts move on, and still stands; a firm one does not ask', () => {
    const short = paid('p', { captured_minor: 9_000n })
    const based_on = orderBasis(book(), [short])
    const seen = decide('accept_payment', { payment: 'p', based_on, firm: undefined })
    expect(raised(derive([short], [seen]))).toEqual([])
    const moved_on = [short, paid('q', { status: 'failed', captured_minor: 0n })]
    const state = derive(moved_on, [seen])
    expect([access(state), raised(state)]).toEqual(['granted', ['decision_outdated d-accept_payment']])
    expect(raised(derive(moved_on, [{ ...seen, firm: true }]))).toEqual([])
  })

  it('does not count other decisions as something new', () => {
    const based_on = orderBasis(book(), [])
    const decisions = ['reopen', 'keep_access', 'write_off'].map((kind) =>
      decide(kind as DecisionKind, { based_on, firm: undefined }),
    )
    expect(raised(derive([], decisions))).toEqual([])
  })

  it('P19 ends the same in any order of payments and decisions, whatever they are', () => {
    const amount = fc.bigInt({ min: 0n, max: 20_000n })
    const payment = fc
      .record({
        id: fc.constantFrom('a', 'b', 'c'),
        captured_minor: amount,
        refunded_minor: amount,
        currency: fc.constantFrom('USD', 'EUR'),
        account: fc.constantFrom('default', 'other'),
      })
      .map(({ id, ...more }) => paid(id, more))
    const made = fc
      .record({
        decision: fc.constantFrom<DecisionKind>(
          'accept_payment',
          'treat_as_surplus',
          'write_off',
          'keep_access',
          'reopen',
        ),
        payment: fc.constantFrom('a', 'b', 'c'),
        amount_minor: amount,
        id: fc.uuid(),
      })
      .map(({ decision, ...more }) => decide(decision, { ...more, currency: 'USD', until: NOW }))
    const payments = fc.uniqueArray(payment, { selector: ({ id }) => id })
    fc.assert(
      fc.property(payments, fc.uniqueArray(made, { selector: ({ id }) => id }), (some, decisions) => {
        derive(some, decisions)
      }),
      { numRuns: 500 },
    )
  })
})
