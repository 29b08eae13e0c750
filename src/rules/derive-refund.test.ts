import { describe, expect, it } from 'vitest'
import { attempt, PAYMENT, refund, whole } from '../../test/history/shorthand.ts'
import type { Fact } from '../facts/fact.ts'
import { refundTotal } from '../facts/refund.ts'
import { derivePayment } from './derive-payment.ts'
import type { PaymentState } from './payment-state.ts'

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

describe('refunds', () => {
  it('seq-15 seq-17 P23 case-21 adds up refunds by their ids; a running total never changes money', () => {
    const facts = [
      attempt('ch_1', 'succeeded', 10000n),
      refund('re_1', 'succeeded', 3000n),
      refundTotal(PAYMENT, { total_minor: 3000n, currency: 'USD' }),
      refund('re_2', 'succeeded', 2000n),
      refundTotal(PAYMENT, { total_minor: 5000n, currency: 'USD' }),
    ]
    expect(derive(...facts)).toMatchObject({ refunded_minor: 5000n, exceptions: [] })
    const more = [
      ...facts,
      refund('re_3', 'succeeded', 5000n),
      refundTotal(PAYMENT, { total_minor: 11000n, currency: 'USD' }),
    ]
    const state = derive(...more)
    expect(state.refunded_minor).toBe(10000n)
    expect(raised(state)).toEqual(['unexplained_refund -'])
    expect(state.exceptions[0]?.message).toContain('$110.00')
  })

  it('compares the total of one attempt with the refunds of that attempt', () => {
    const of_a = refund('re_1', 'succeeded', 300n, { attempt: 'a' })
    const both = [attempt('a', 'succeeded', 300n), attempt('b', 'succeeded', 300n), of_a]
    const total = (name: string) =>
      refundTotal(PAYMENT, { attempt: name, total_minor: 300n, currency: 'USD' })
    expect(raised(derive(...both, total('a')))).toEqual([])
    expect(raised(derive(...both, total('b')))).toEqual(['unexplained_refund -'])
  })

  it('P22 case-27 seq-29 keeps a refund that comes before its payment', () => {
    const early = derive(refund('re_1', 'succeeded', 2000n))
    expect(early).toMatchObject({ captured_minor: 0n, refunded_minor: 2000n, currency: 'USD' })
    expect(raised(early)).toEqual(['refund_before_payment re_1'])
    expect(early.exceptions[0]?.alert_after_ms).toBe(3_600_000)
    const both = derive(refund('re_1', 'succeeded', 2000n), whole('succeeded', 2000n))
    expect(both).toMatchObject({ captured_minor: 2000n, refunded_minor: 2000n, exceptions: [] })
  })

  it('P23 case-22 seq-05 counts a refund that fails after it succeeded as money still ours, and says so', () => {
    const state = derive(
      whole('succeeded', 5000n),
      refund('re_1', 'succeeded', 5000n),
      refund('re_1', 'failed', 5000n),
    )
    expect(state).toMatchObject({ status: 'succeeded', refunded_minor: 0n })
    expect(state.refunds[0]?.status).toBe('failed')
    expect(raised(state)).toEqual(['refund_failed re_1'])
  })

  const courses: [string, Fact[], string, bigint, bigint, string[]][] = [
    [
      'seq-26 our own late answer',
      [refund('re_1', 'succeeded', 50n), refund('re_1', 'requested', 50n)],
      'succeeded',
      50n,
      0n,
      [],
    ],
    [
      'seq-07 pending after failed',
      [refund('re_1', 'failed', 50n), refund('re_1', 'pending', 50n)],
      'failed',
      0n,
      0n,
      ['refund_failed re_1'],
    ],
    [
      'seq-08 under way',
      [refund('re_1', 'pending', 50n), refund('re_1', 'requires_action')],
      'requires_action',
      0n,
      50n,
      [],
    ],
    [
      'canceled before it went',
      [refund('re_1', 'pending', 50n), refund('re_1', 'canceled')],
      'canceled',
      0n,
      0n,
      [],
    ],
    [
      'come back',
      [refund('re_1', 'succeeded', 50n), refund('re_1', 'reversed')],
      'reversed',
      0n,
      0n,
      ['refund_failed re_1'],
    ],
    [
      'failed and canceled',
      [refund('re_1', 'canceled', 50n), refund('re_1', 'failed')],
      'failed',
      0n,
      0n,
      ['refund_failed re_1'],
    ],
    ['without its amount', [refund('re_1', 'succeeded')], 'succeeded', 0n, 0n, ['unexplained_refund re_1']],
    [
      'a released authorisation',
      [refund('re_1', 'succeeded', 50n, { releases_authorization: true })],
      'succeeded',
      0n,
      0n,
      [],
    ],
  ]
  for (const [name, facts, status, refunded_minor, refund_pending_minor, exceptions] of courses) {
    it(`${name}: ${status}`, () => {
      const state = derive(whole('succeeded', 500n), ...facts)
      expect(state).toMatchObject({ refunded_minor, refund_pending_minor })
      expect(state.refunds.map((known) => known.status)).toEqual([status])
      expect(raised(state)).toEqual(exceptions)
    })
  }

  it('tells when more goes back than was collected', () => {
    const state = derive(
      whole('succeeded', 500n),
      refund('re_1', 'succeeded', 400n),
      refund('re_2', 'succeeded', 300n),
    )
    expect(state.refunded_minor).toBe(700n)
    expect(raised(state)).toEqual(['refund_exceeds_payment -'])
  })
})
