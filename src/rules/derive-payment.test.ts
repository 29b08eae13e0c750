import { describe, expect, it } from 'vitest'
import { attempt, dispute, PAYMENT, refund, whole } from '../../test/history/shorthand.ts'
import type { Fact } from '../facts/fact.ts'
import { paymentLink, paymentMilestone } from '../facts/payment.ts'
import { derivePayment } from './derive-payment.ts'
import type { PaymentState } from './payment-state.ts'

const SESSION = { ...PAYMENT, id: 'cs_1' }

/** The state, checked to be the same for the facts reversed and doubled. */
function derive(...facts: readonly Fact[]): PaymentState {
  const state = derivePayment(facts)
  expect(derivePayment([...facts].reverse())).toEqual(state)
  expect(derivePayment([...facts, ...facts])).toEqual(state)
  return state
}

function raised(state: PaymentState): string[] {
  return state.exceptions.map((exception) => `${exception.kind} ${exception.cause}`)
}

describe('milestones', () => {
  const rows: [string, Fact[], PaymentState['status']][] = [
    ['nothing known', [], 'unknown'],
    ['only a refund known', [refund('re_1', 'succeeded', 500n)], 'unknown'],
    ['created', [whole('created', 500n)], 'created'],
    [
      'P20 pending told after authorized',
      [attempt('a', 'authorized', 500n), attempt('a', 'pending')],
      'authorized',
    ],
    [
      'P20 case-28 an old failure of the attempt that succeeded',
      [attempt('a', 'failed'), attempt('a', 'succeeded', 500n)],
      'succeeded',
    ],
    [
      'a failed attempt and a good one',
      [attempt('a', 'failed'), attempt('b', 'succeeded', 500n)],
      'succeeded',
    ],
    ['a failed attempt and one under way', [attempt('a', 'failed'), attempt('b', 'pending')], 'pending'],
    ['a failed attempt of a canceled payment', [attempt('a', 'failed'), whole('canceled')], 'canceled'],
    [
      'a canceled attempt and a good one',
      [attempt('a', 'canceled'), attempt('b', 'succeeded', 500n)],
      'succeeded',
    ],
    [
      'an offer that ran out and was paid all the same',
      [whole('expired'), whole('succeeded', 500n)],
      'succeeded',
    ],
    ['seq-07 pending told after canceled', [whole('canceled'), whole('pending')], 'canceled'],
    ['canceled and expired', [whole('expired'), whole('canceled')], 'canceled'],
    [
      'one attempt both canceled and succeeded',
      [attempt('a', 'canceled'), attempt('a', 'succeeded', 500n)],
      'conflicted',
    ],
    [
      'canceled as a whole with a good attempt',
      [whole('canceled'), attempt('a', 'succeeded', 500n)],
      'conflicted',
    ],
    [
      'the same, and then reversed',
      [whole('canceled'), whole('succeeded', 500n), whole('reversed', 500n)],
      'reversed',
    ],
    [
      'a part reversed',
      [attempt('a', 'succeeded', 300n), attempt('b', 'succeeded', 200n), attempt('a', 'reversed')],
      'succeeded',
    ],
  ]
  for (const [name, facts, status] of rows) {
    it(`${name}: ${status}`, () => {
      expect(derive(...facts).status).toBe(status)
    })
  }
})

describe('captured money', () => {
  it('P15 P52 case-17 counts one payment told by attempt, payment and session once', () => {
    const session = paymentMilestone(SESSION, {
      milestone: 'succeeded',
      amount_minor: 1000n,
      currency: 'USD',
      order: 'A-17',
    })
    const link = paymentLink(SESSION, PAYMENT.id)
    const state = derive(session, link, attempt('ch_1', 'succeeded', 1000n), whole('succeeded', 1000n))
    expect(state).toMatchObject({
      status: 'succeeded',
      captured_minor: 1000n,
      order: 'A-17',
      linked_to: null,
    })
    expect(state.exceptions).toEqual([])
  })

  it('seq-14 a poor early message hides nothing and takes nothing back', () => {
    const poor = attempt('ch_1', 'succeeded', undefined, { amount_minor: undefined, currency: undefined })
    const state = derive(whole('created'), poor, attempt('ch_1', 'succeeded', 1000n))
    expect(state).toMatchObject({ status: 'succeeded', captured_minor: 1000n, currency: 'USD' })
    expect(derive(attempt('ch_1', 'pending', 1000n), poor).status).toBe('succeeded')
  })

  it('adds up attempts, and takes the payment for the sum where attempts tell no amount', () => {
    expect(derive(attempt('a', 'succeeded', 300n), attempt('b', 'succeeded', 200n)).captured_minor).toBe(500n)
    expect(derive(attempt('a', 'succeeded'), whole('succeeded', 500n)).captured_minor).toBe(500n)
  })

  it('lets the amount asked for or held differ from the amount captured', () => {
    const state = derive(
      whole('created', 900n),
      attempt('a', 'authorized', 800n),
      attempt('a', 'succeeded', 500n),
    )
    expect(state).toMatchObject({
      status: 'succeeded',
      authorized_minor: 800n,
      captured_minor: 500n,
      exceptions: [],
    })
  })

  it('takes the earliest time at which money moved', () => {
    const [early, late] = ['2025-03-01T10:00:00Z', '2025-03-01T11:00:00Z']
    const state = derive(
      attempt('a', 'failed', 500n, { moved_at: '2025-03-01T09:00:00Z' }),
      attempt('b', 'succeeded', 500n, { moved_at: late }),
      whole('succeeded', 500n, { moved_at: early }),
    )
    expect(state.moved_at).toBe(early)
  })

  it('asks for the amount or the currency that no message tells', () => {
    expect(raised(derive(whole('succeeded')))).toEqual(['amount_mismatch -'])
    expect(raised(derive(whole('succeeded', undefined, { amount_minor: 500n })))).toEqual([
      'currency_mismatch -',
    ])
  })
})

describe('statements that contradict each other', () => {
  const rows: [string, Fact[], string][] = [
    [
      'two amounts of one milestone',
      [attempt('a', 'succeeded', 500n), attempt('a', 'succeeded', 600n)],
      'attempt/a/succeeded',
    ],
    [
      'payment and attempts disagree',
      [attempt('a', 'succeeded', 500n), whole('succeeded', 600n)],
      'payment/succeeded',
    ],
    [
      'more attempts than the payment',
      [attempt('a', 'succeeded', 500n), attempt('b', 'succeeded'), whole('succeeded', 400n)],
      'payment/succeeded',
    ],
    [
      'held in one currency, captured in another',
      [attempt('a', 'authorized', 500n), attempt('a', 'succeeded', 500n, { currency: 'EUR' })],
      'currency',
    ],
    [
      'two orders',
      [whole('created', 500n, { order: 'A' }), whole('succeeded', 500n, { order: 'B' })],
      'order',
    ],
    [
      'an order and a refund of another',
      [whole('succeeded', 500n, { order: 'A' }), refund('re_1', 'pending', 5n, { order: 'B' })],
      'order',
    ],
    [
      'a refund of two amounts',
      [whole('succeeded', 500n), refund('re_1', 'pending', 5n), refund('re_1', 'succeeded', 6n)],
      'refund/re_1',
    ],
    [
      'a refund in another currency',
      [whole('succeeded', 500n), refund('re_1', 'succeeded', 5n, { currency: 'EUR' })],
      'refund/re_1',
    ],
    [
      'two verdicts at one time',
      [whole('succeeded', 500n), dispute('chargeback', 'won', 500n), dispute('chargeback', 'lost', 500n)],
      'dispute/du_1',
    ],
  ]
  for (const [name, facts, cause] of rows) {
    it(`P14 ${name}: neither wins, and a person is asked`, () => {
      const state = derive(...facts)
      expect(state.status).toBe('conflicted')
      expect(raised(state)).toContain(`fact_conflict ${cause}`)
    })
  }

  it('two spellings of one instant agree', () => {
    const [plain, fraction] = ['2025-03-01T10:00:00Z', '2025-03-01T10:00:00.000Z']
    const facts = [plain, fraction].map((moved_at) => attempt('a', 'succeeded', 500n, { moved_at }))
    expect(derive(...facts)).toMatchObject({ status: 'succeeded', exceptions: [] })
  })

  it('names every order that is told', () => {
    const state = derive(whole('created', 500n, { order: 'B' }), whole('succeeded', 500n, { order: 'A' }))
    expect(state).toMatchObject({ order: null, orders_named: ['A', 'B'] })
  })

  it('says what was told, once per cause', () => {
    const state = derive(
      attempt('a', 'succeeded', 500n),
      attempt('a', 'succeeded', 600n, { currency: 'EUR' }),
    )
    const [conflict] = state.exceptions.filter((exception) => exception.cause === 'attempt/a/succeeded')
    expect(conflict?.message).toContain('amount_minor is told as 500 and 600')
    expect(conflict?.message).toContain('currency is told as EUR and USD')
  })
})

describe('a bank takes money back', () => {
  it('P24 case-44 one reversal, however many messages tell of it and in whichever words', () => {
    const success = attempt('ch_1', 'succeeded', 13400n)
    const as_attempt = attempt('ch_1', 'reversed', 13400n)
    const as_whole = whole('reversed')
    const as_dispute = dispute('chargeback', 'lost', 13400n)
    for (const facts of [[as_attempt], [as_whole], [as_attempt, as_whole], [as_attempt, as_dispute]]) {
      const state = derive(success, ...facts)
      expect(state).toMatchObject({
        status: 'reversed',
        captured_minor: 13400n,
        reversed_minor: 13400n,
        lost_minor: 0n,
      })
      expect(raised(state)).toEqual(['late_reversal -'])
    }
  })

  it('says by itself that the money had been collected', () => {
    const state = derive(attempt('ch_1', 'reversed', 13400n))
    expect(state).toMatchObject({ status: 'reversed', captured_minor: 13400n, reversed_minor: 13400n })
  })

  it('keeps a partial return and a dispute over the rest apart', () => {
    const state = derive(whole('succeeded', 100n), whole('reversed', 40n), dispute('chargeback', 'lost', 60n))
    expect(state).toMatchObject({ status: 'succeeded', reversed_minor: 40n, lost_minor: 60n })
  })
})

describe('stand-ins', () => {
  const told = paymentMilestone(SESSION, {
    milestone: 'succeeded',
    amount_minor: 500n,
    currency: 'USD',
    order: 'A',
  })

  it('P52 a stand-in alone is money of its own until a link says whose it is', () => {
    expect(derive(told)).toMatchObject({ status: 'succeeded', captured_minor: 500n, linked_to: null })
    expect(derive(told, paymentLink(SESSION, 'pi_1'))).toMatchObject({
      status: 'linked',
      linked_to: 'pi_1',
      exceptions: [],
    })
  })

  it('two stand-ins of a payment that has told nothing itself are one payment', () => {
    const invoice = { ...PAYMENT, id: 'in_1' }
    const paid = paymentMilestone(invoice, { milestone: 'succeeded', amount_minor: 500n, currency: 'USD' })
    const state = derive(told, paymentLink(SESSION, 'pi_1'), paid, paymentLink(invoice, 'pi_1'))
    expect(state).toMatchObject({ status: 'succeeded', captured_minor: 500n, linked_to: null, order: 'A' })
  })

  it('P14 a link from a payment that others link to is void and a conflict, in chains and in circles', () => {
    const invoice = { ...PAYMENT, id: 'in_1' }
    const chain = [told, paymentLink(SESSION, 'in_1'), paymentLink(invoice, 'pi_1')]
    const middle = derivePayment(chain, 'in_1')
    expect(middle).toMatchObject({ status: 'conflicted', captured_minor: 500n, linked_to: null })
    expect(raised(middle)).toContain('fact_conflict link')
    expect(derivePayment([chain[1]!], 'cs_1')).toMatchObject({ status: 'linked', linked_to: 'in_1' })
    expect(derivePayment([chain[2]!], 'in_1', { claimed: true, contested: new Set() }).status).toBe(
      'conflicted',
    )

    const circle = [paymentLink(SESSION, 'in_1'), paymentLink(invoice, 'cs_1')]
    for (const id of ['cs_1', 'in_1']) expect(derivePayment(circle, id).status).toBe('conflicted')
  })

  it('P14 a refund that is told of another payment too counts for neither', () => {
    const facts = [
      whole('succeeded', 500n),
      refund('re_1', 'succeeded', 500n),
      refund('re_2', 'succeeded', 100n),
    ]
    const state = derivePayment(facts, 'pi_1', { claimed: false, contested: new Set(['re_1']) })
    expect(state).toMatchObject({ status: 'conflicted', refunded_minor: 100n })
    expect(raised(state)).toEqual(['fact_conflict refund/re_1'])
  })

  it('P14 a stand-in of two payments is a conflict', () => {
    const state = derive(told, paymentLink(SESSION, 'pi_1'), paymentLink(SESSION, 'pi_2'))
    expect(state).toMatchObject({ status: 'conflicted', linked_to: null })
    expect(raised(state)).toContain('fact_conflict link')
  })

  it('a link to itself says nothing', () => {
    expect(derive(whole('succeeded', 500n), paymentLink(PAYMENT, 'pi_1')).status).toBe('succeeded')
  })

  it('an abandoned session does not cancel the payment that another one made', () => {
    const abandoned = paymentMilestone(SESSION, { milestone: 'canceled' })
    const state = derive(abandoned, paymentLink(SESSION, 'pi_1'), whole('succeeded', 500n))
    expect(state).toMatchObject({ status: 'succeeded', exceptions: [] })
  })
})
