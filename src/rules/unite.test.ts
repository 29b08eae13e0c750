import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { attempt, PAYMENT } from '../../test/history/shorthand.ts'
import { type PaymentMilestoneReached, paymentMilestone } from '../facts/payment.ts'
import { unite } from './unite.ts'

describe('uniting', () => {
  it('fills in what another telling leaves out', () => {
    const { statements, conflicts } = unite([
      attempt('a', 'succeeded', 500n),
      attempt('a', 'succeeded', undefined, { order: 'A', method: 'card' }),
    ])
    const content = {
      attempt: 'a',
      milestone: 'succeeded',
      amount_minor: 500n,
      currency: 'USD',
      order: 'A',
      method: 'card',
    }
    expect(statements).toMatchObject([{ key: 'attempt/a/succeeded', content }])
    expect(conflicts).toEqual([])
  })

  it('keeps equal keys of different subjects apart', () => {
    const other = paymentMilestone(
      { ...PAYMENT, account: 'b' },
      { milestone: 'succeeded', attempt: 'a', amount_minor: 600n },
    )
    const { statements, conflicts } = unite([attempt('a', 'succeeded', 500n), other])
    expect(statements).toHaveLength(2)
    expect(conflicts).toEqual([])
  })

  it('tells each field in conflict with every value', () => {
    const facts = [7n, 10n, 9n].map((amount) => attempt('a', 'succeeded', amount))
    expect(unite(facts).conflicts).toEqual([
      { cause: 'attempt/a/succeeded', detail: 'amount_minor is told as 7 and 9 and 10' },
    ])
    expect(unite(facts).statements).toMatchObject([{ content: { amount_minor: 7n } }])
  })

  it('P19 gives the same for any order and number of copies', () => {
    const content: fc.Arbitrary<PaymentMilestoneReached> = fc.record(
      {
        milestone: fc.constantFrom('pending' as const, 'succeeded' as const),
        amount_minor: fc.constantFrom(5n, 6n),
        currency: fc.constantFrom('USD', 'EUR'),
        moved_at: fc.constantFrom('2025-03-01T10:00:00Z', '2025-03-01T10:00:00.000Z', '2025-03-01T11:00:00Z'),
        order: fc.constantFrom('A', 'B'),
      },
      { requiredKeys: ['milestone'] },
    )
    const facts = fc.array(
      content.map((told) => paymentMilestone(PAYMENT, told)),
      { maxLength: 8 },
    )
    const arranged = facts.chain((all) =>
      fc.tuple(fc.constant(all), fc.shuffledSubarray([...all, ...all], { minLength: all.length * 2 })),
    )
    fc.assert(
      fc.property(arranged, ([all, again]) => {
        expect(unite(again)).toEqual(unite(all))
      }),
    )
  })
})
