import { describe, expect, it } from 'vitest'
import { refund, whole } from '../../test/history/shorthand.ts'
import type { Fact } from '../facts/fact.ts'
import type { PaymentMilestone } from '../facts/payment.ts'
import type { RefundMilestone } from '../facts/refund.ts'
import { derivePayment } from './derive-payment.ts'
import { PAYMENT_RANK, REFUND_RANK, UNORDERED_PAYMENT_PAIRS } from './rank.ts'

const PAYMENT_MILESTONES = Object.keys(PAYMENT_RANK) as PaymentMilestone[]
const REFUND_MILESTONES = Object.keys(REFUND_RANK) as RefundMilestone[]

function pairsOf<M>(milestones: readonly M[]): [M, M][] {
  return milestones.flatMap((first) => milestones.map((second): [M, M] => [first, second]))
}

function higher<M extends string>(rank: Readonly<Record<M, number>>, first: M, second: M): M {
  return rank[first] >= rank[second] ? first : second
}

describe('rank tables', () => {
  it('every pair of payment milestones ends alike in both orders of arrival', () => {
    for (const [first, second] of pairsOf(PAYMENT_MILESTONES)) {
      const facts: Fact[] = [whole(first, 500n), whole(second, 500n)]
      const { status } = derivePayment(facts)
      const unordered = UNORDERED_PAYMENT_PAIRS.some(
        (pair) => pair.includes(first) && pair.includes(second) && first !== second,
      )
      expect(derivePayment(facts.reverse()).status).toBe(status)
      if (unordered) expect(status).toBe('conflicted')
      else
        expect(PAYMENT_RANK[status as PaymentMilestone]).toBe(
          PAYMENT_RANK[higher(PAYMENT_RANK, first, second)],
        )
    }
  })

  it('every pair of refund milestones ends alike in both orders of arrival', () => {
    for (const [first, second] of pairsOf(REFUND_MILESTONES)) {
      const facts: Fact[] = [
        whole('succeeded', 500n),
        refund('re_1', first, 50n),
        refund('re_1', second, 50n),
      ]
      const [known] = derivePayment(facts).refunds
      expect(derivePayment(facts.reverse()).refunds[0]).toEqual(known)
      expect(REFUND_RANK[known?.status as RefundMilestone]).toBe(
        REFUND_RANK[higher(REFUND_RANK, first, second)],
      )
    }
  })

  it('P20 no set of later messages of lower rank moves a payment back', () => {
    const lower = PAYMENT_MILESTONES.filter((milestone) => PAYMENT_RANK[milestone] < PAYMENT_RANK.canceled)
    for (let chosen = 0; chosen < 2 ** lower.length; chosen += 1) {
      const late = lower
        .filter((_, index) => (chosen & (2 ** index)) !== 0)
        .map((milestone) => whole(milestone, 500n))
      const state = derivePayment([whole('succeeded', 500n), ...late])
      expect(state).toMatchObject({ status: 'succeeded', captured_minor: 500n, linked_to: null })
    }
  })
})
