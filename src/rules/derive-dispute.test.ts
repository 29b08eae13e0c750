import { describe, expect, it } from 'vitest'
import { dispute, funds, refund, whole } from '../../test/history/shorthand.ts'
import type { Fact } from '../facts/fact.ts'
import { derivePayment } from './derive-payment.ts'
import type { PaymentState } from './payment-state.ts'

/** A payment of 168.00 with these disputes. */
function derive(...facts: readonly Fact[]): PaymentState {
  const all = [whole('succeeded', 16800n), ...facts]
  const state = derivePayment(all)
  expect(derivePayment([...all].reverse())).toEqual(state)
  return state
}

const open = dispute('chargeback', 'needs_response', 8400n)
const out = funds('withdrawn', 8400n)
const back = funds('reinstated', 8400n)
const later = { at: '2025-03-09T00:00:00Z' }
const latest = { at: '2025-03-20T00:00:00Z' }

describe('verdict and money of a dispute', () => {
  const rows: [string, Fact[], string, bigint, bigint][] = [
    [
      'case-37 an early warning takes nothing',
      [dispute('early_warning', 'needs_response', 8400n)],
      'needs_response',
      0n,
      0n,
    ],
    ['case-37 an inquiry takes nothing', [dispute('inquiry', 'under_review', 8400n)], 'under_review', 0n, 0n],
    [
      'an inquiry whose money moved withholds it',
      [dispute('inquiry', 'needs_response', 8400n), out],
      'needs_response',
      8400n,
      0n,
    ],
    [
      'case-37 an inquiry closed',
      [dispute('inquiry', 'needs_response', 8400n), dispute('inquiry', 'withdrawn', 8400n, later)],
      'withdrawn',
      0n,
      0n,
    ],
    [
      'case-37 an inquiry that became a chargeback',
      [
        dispute('inquiry', 'needs_response', 8400n),
        dispute('chargeback', 'needs_response', 8400n, later),
        out,
      ],
      'needs_response',
      8400n,
      0n,
    ],
    ['open, nothing told of the money', [open], 'needs_response', 8400n, 0n],
    [
      'open, other money withdrawn than disputed',
      [open, funds('withdrawn', 8000n)],
      'needs_response',
      8000n,
      0n,
    ],
    ['only the money told', [out], 'unknown', 8400n, 0n],
    ['lost', [open, dispute('chargeback', 'lost', 8400n, later)], 'lost', 0n, 8400n],
    ['lost, money told', [open, out, dispute('chargeback', 'lost', 8400n, later)], 'lost', 0n, 8400n],
    ['accepted', [open, dispute('chargeback', 'accepted', 8400n, later)], 'accepted', 0n, 8400n],
    ['won, money not yet back', [open, out, dispute('chargeback', 'won', 8400n, later)], 'won', 0n, 0n],
    ['seq-27 won', [open, out, dispute('chargeback', 'won', 8400n, later), back], 'won', 0n, 0n],
    ['prevented', [open, dispute('chargeback', 'prevented', 8400n, later)], 'prevented', 0n, 0n],
    [
      'seq-06 lost and reinstated: the verdict stays, the money is back',
      [open, out, dispute('chargeback', 'lost', 8400n, later), back],
      'lost',
      0n,
      0n,
    ],
    [
      'seq-24 partly won keeps the rest as lost',
      [open, out, dispute('chargeback', 'partially_won', 8400n, later), funds('reinstated', 3000n)],
      'partially_won',
      0n,
      5400n,
    ],
    [
      'P53 won, then lost',
      [open, dispute('chargeback', 'won', 8400n, later), dispute('chargeback', 'lost', 8400n, latest)],
      'lost',
      0n,
      8400n,
    ],
    [
      'P53 lost, then won',
      [open, dispute('chargeback', 'lost', 8400n, later), dispute('chargeback', 'won', 8400n, latest)],
      'won',
      0n,
      0n,
    ],
    [
      'decided over undecided, whatever the time',
      [dispute('chargeback', 'won', 8400n), dispute('chargeback', 'under_review', 8400n, later)],
      'won',
      0n,
      0n,
    ],
    [
      'a higher stage over a verdict',
      [
        dispute('chargeback', 'won', 8400n, latest),
        dispute('second_chargeback', 'needs_response', 8400n, later),
      ],
      'needs_response',
      8400n,
      0n,
    ],
    [
      'one meaning at one time',
      [dispute('chargeback', 'lost', 8400n), dispute('chargeback', 'accepted', 8400n)],
      'lost',
      0n,
      8400n,
    ],
  ]
  for (const [name, facts, status, disputed_minor, lost_minor] of rows) {
    it(name, () => {
      const state = derive(...facts)
      expect(state).toMatchObject({ status: 'succeeded', disputed_minor, lost_minor })
      expect(state.disputes.map((known) => known.status)).toEqual([status])
    })
  }

  it('seq-25 counts withdrawn and reinstated money and a later refund in one sum', () => {
    const state = derive(
      open,
      out,
      back,
      dispute('chargeback', 'won', 8400n, later),
      refund('re_1', 'succeeded', 5000n),
    )
    expect(state).toMatchObject({ refunded_minor: 5000n, disputed_minor: 0n, lost_minor: 0n })
    expect(state.disputes[0]).toMatchObject({ withdrawn_minor: 8400n, reinstated_minor: 8400n })
  })

  it('case-38 movements in a settlement currency only show that the disputed amount moved', () => {
    const [withdrawn, reinstated] = (['withdrawn', 'reinstated'] as const).map((way) =>
      funds(way, 7950n, way, 'EUR'),
    )
    expect(derive(open, withdrawn!)).toMatchObject({
      disputed_minor: 8400n,
      exceptions: [{ kind: 'dispute_opened' }],
    })
    expect(derive(open, withdrawn!, reinstated!).disputed_minor).toBe(0n)
  })

  it('case-38 keeps two disputes of one charge apart', () => {
    const second = dispute('chargeback', 'needs_response', 8400n, {
      dispute: 'du_2',
      respond_by: '2025-04-01T00:00:00Z',
    })
    const state = derive(open, second)
    expect(state.disputed_minor).toBe(16800n)
    expect(state.exceptions.map((exception) => exception.cause)).toEqual(['du_1', 'du_2'])
  })

  it('case-38 records a dispute above what was left as told, a loss', () => {
    const state = derive(refund('re_1', 'succeeded', 10800n), dispute('chargeback', 'lost', 6310n))
    expect(state).toMatchObject({ refunded_minor: 10800n, lost_minor: 6310n })
    expect(state.exceptions).toMatchObject([{ kind: 'refund_exceeds_payment', severity: 'urgent' }])
    expect(state.exceptions[0]?.message).toContain('a loss of $3.10')
  })

  it('P42 tells a person the amount and the deadline while it is open, and no longer', () => {
    const [exception] = derive(
      dispute('inquiry', 'needs_response', 8400n, { respond_by: '2025-04-01T00:00:00Z' }),
    ).exceptions
    expect(exception).toMatchObject({ kind: 'dispute_opened', cause: 'du_1', severity: 'warning' })
    expect(exception?.message).toContain('$84.00')
    expect(exception?.message).toContain('2025-04-01T00:00:00Z')
    expect(derive(open).exceptions).toMatchObject([{ severity: 'urgent' }])
    expect(derive(open).exceptions[0]?.message).toContain('names no deadline')
    expect(derive(open, dispute('chargeback', 'won', 8400n, later)).exceptions).toEqual([])
  })

  it('asks which part was lost when no message tells', () => {
    const state = derive(open, dispute('chargeback', 'partially_won', 8400n, later))
    expect(state.lost_minor).toBe(0n)
    expect(state.exceptions).toMatchObject([{ kind: 'dispute_opened', cause: 'du_1' }])
  })

  it('an unreadable time does not win as the newest', () => {
    const state = derive(
      dispute('chargeback', 'lost', 8400n),
      dispute('chargeback', 'won', 8400n, { at: 'soon' }),
    )
    expect(state.lost_minor).toBe(8400n)
  })
})
