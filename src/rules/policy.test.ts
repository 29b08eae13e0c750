import { describe, expect, it } from 'vitest'
import { DEFAULT_POLICY, readPolicy, resolvePolicy } from './policy.ts'

describe('policy options', () => {
  it('replace the defaults that they name', () => {
    const overrides = { partial_refund: 'revoke', late_reversal_grace_ms: 5, tolerance_minor: 2n }
    expect(resolvePolicy(overrides)).toEqual({ policy: { ...DEFAULT_POLICY, ...overrides } })
    expect(resolvePolicy({})).toEqual({ policy: DEFAULT_POLICY })
  })

  const refused: [string, Record<string, string | number | boolean>, string][] = [
    ['an unknown name', { fullRefund: 'keep' }, 'There is no policy option "fullRefund"'],
    ['a name of every object', { constructor: 'keep' }, 'There is no policy option "constructor"'],
    ['a value of another option', { full_refund: 'suspend' }, 'takes revoke, keep, not "suspend"'],
    ['a value of another type', { full_refund: true }, 'not true'],
    ['a negative duration', { late_reversal_grace_ms: -1 }, 'whole number of milliseconds'],
    ['a broken duration', { late_reversal_grace_ms: 1.5 }, 'not 1.5'],
    ['a duration in words', { late_reversal_grace_ms: '600000' }, 'not "600000"'],
  ]
  for (const [name, overrides, problem] of refused) {
    it(`refuse ${name} when terms are registered, and leave the default when they are read`, () => {
      expect(resolvePolicy(overrides)).toEqual({ problem: expect.stringContaining(problem) })
      expect(readPolicy(overrides)).toEqual(DEFAULT_POLICY)
    })
  }
})
