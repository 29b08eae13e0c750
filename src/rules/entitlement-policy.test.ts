import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { NO_AFTERMATH } from './aftermath.ts'
import { entitlementOf, shortfallOf } from './entitlement-policy.ts'
import type { Sums } from './order-sums.ts'
import { DEFAULT_POLICY, type Policy } from './policy.ts'

function sums(back: Partial<Omit<Sums, 'net_minor'>>): Sums {
  const all = {
    ...NO_AFTERMATH,
    refund_pending_minor: 0n,
    captured_minor: 100n,
    refunded_minor: 0n,
    lost_minor: 0n,
    reversed_minor: 0n,
    disputed_minor: 0n,
    ...back,
  }
  return { ...all, net_minor: all.captured_minor - all.refunded_minor - all.lost_minor - all.reversed_minor }
}

const KEEP_ALL: Partial<Policy> = {
  full_refund: 'keep',
  partial_refund: 'keep',
  dispute_opened: 'keep',
  dispute_lost: 'keep',
  late_reversal: 'keep',
}

describe('P23 what an order of 100 still gives', () => {
  const rows: [string, Parameters<typeof sums>[0], Partial<Policy>, string][] = [
    ['nothing went back', {}, {}, 'granted'],
    ['all refunded', { refunded_minor: 100n }, {}, 'revoked'],
    ['all refunded, kept', { refunded_minor: 100n }, { full_refund: 'keep' }, 'granted'],
    ['a part refunded', { refunded_minor: 30n }, {}, 'granted'],
    ['a part refunded, strict', { refunded_minor: 30n }, { partial_refund: 'revoke' }, 'revoked'],
    ['disputed', { disputed_minor: 100n }, {}, 'suspended'],
    ['disputed, kept', { disputed_minor: 100n }, { dispute_opened: 'keep' }, 'granted'],
    ['disputed, strict', { disputed_minor: 100n }, { dispute_opened: 'revoke' }, 'revoked'],
    ['lost', { lost_minor: 100n }, {}, 'revoked'],
    ['lost, kept', { lost_minor: 100n }, { dispute_lost: 'keep' }, 'granted'],
    ['lost in part', { lost_minor: 40n }, {}, 'granted'],
    ['lost in part, strict about parts', { lost_minor: 40n }, { partial_refund: 'revoke' }, 'revoked'],
    ['reversed', { reversed_minor: 100n }, {}, 'suspended'],
    ['reversed, strict', { reversed_minor: 100n }, { late_reversal: 'revoke' }, 'revoked'],
    ['reversed, kept', { reversed_minor: 100n }, { late_reversal: 'keep' }, 'granted'],
    ['a part refunded, the rest lost', { refunded_minor: 40n, lost_minor: 60n }, {}, 'revoked'],
    ['a part refunded, the rest disputed', { refunded_minor: 40n, disputed_minor: 60n }, {}, 'suspended'],
    ['all refunded, then disputed', { refunded_minor: 100n, disputed_minor: 100n }, {}, 'revoked'],
    [
      'all refunded and kept, then disputed',
      { refunded_minor: 100n, disputed_minor: 100n },
      { full_refund: 'keep' },
      'suspended',
    ],
    [
      'surplus refunded, strict about parts',
      { captured_minor: 200n, refunded_minor: 100n },
      { partial_refund: 'revoke' },
      'granted',
    ],
    [
      'surplus refunded, the rest disputed, strict about parts',
      { captured_minor: 200n, refunded_minor: 100n, disputed_minor: 100n },
      { partial_refund: 'revoke' },
      'suspended',
    ],
    [
      'one of two lost, the other disputed',
      { captured_minor: 200n, lost_minor: 100n, disputed_minor: 100n },
      {},
      'suspended',
    ],
  ]
  for (const [name, back, policy, state] of rows) {
    it(`${name}: ${state}`, () => {
      expect(entitlementOf(sums(back), 100n, { ...DEFAULT_POLICY, ...policy })).toBe(state)
    })
  }

  it('keeps everything when every option says keep', () => {
    fc.assert(
      fc.property(
        fc.tuple(money, money, money, money),
        ([refunded_minor, lost_minor, reversed_minor, disputed_minor]) => {
          const back = sums({ refunded_minor, lost_minor, reversed_minor, disputed_minor })
          expect(entitlementOf(back, 100n, { ...DEFAULT_POLICY, ...KEEP_ALL })).toBe('granted')
        },
      ),
    )
  })

  it('never gives more when more has gone back', () => {
    const severity = ['granted', 'suspended', 'revoked']
    const causes = ['refunded_minor', 'lost_minor', 'reversed_minor', 'disputed_minor'] as const
    fc.assert(
      fc.property(fc.constantFrom(...causes), money, money, (cause, some, more) => {
        const [less, all] = [some, some + more].map((amount) =>
          severity.indexOf(entitlementOf(sums({ [cause]: amount }), 100n, DEFAULT_POLICY)),
        )
        expect(all).toBeGreaterThanOrEqual(less!)
      }),
    )
  })
})

const money = fc.bigInt({ min: 0n, max: 150n })

describe('shortfall', () => {
  it('is exactly what is missing from what was due', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 100n, max: 300n }),
        money,
        money,
        money,
        money,
        (captured_minor, ...back) => {
          const [refunded_minor, lost_minor, reversed_minor, disputed_minor] = back as [
            bigint,
            bigint,
            bigint,
            bigint,
          ]
          const known = sums({ captured_minor, refunded_minor, lost_minor, reversed_minor, disputed_minor })
          const missing = shortfallOf(known, 100n)
          const total = Object.values(missing).reduce((sum, part) => sum + part, 0n)
          const remaining = known.net_minor - known.disputed_minor
          expect(total).toBe(remaining >= 100n ? 0n : 100n - remaining)
        },
      ),
    )
  })
})
