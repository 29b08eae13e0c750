import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { attemptInRound, backoff_ms, putOff_ms } from './backoff.ts'

describe('the pause before the next attempt', () => {
  it.each([
    [1, 0, 2_500],
    [1, 0.5, 3_750],
    [1, 0.9999999, 5_000],
    [2, 0, 5_000],
    [3, 0, 10_000],
    [10, 0, 1_280_000],
    [11, 0, 1_800_000],
    [12, 0.5, 2_700_000],
    [1_000_000, 0, 1_800_000],
  ])('after attempt %d with chance %d is %d ms', (attempt, random, expected) => {
    expect(backoff_ms(attempt, random)).toBe(expected)
  })

  it('follows the policy given', () => {
    expect(backoff_ms(3, 0, { first_ms: 100, longest_ms: 1_000 })).toBe(200)
    expect(backoff_ms(9, 0, { first_ms: 100, longest_ms: 1_000 })).toBe(500)
  })

  it('never shrinks with further attempts by the same chance, and stays between half and whole of the longest', () => {
    const chance = fc.double({ min: 0, max: 0.999, noNaN: true })
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 200 }), chance, (attempt, random) => {
        const pause_ms = backoff_ms(attempt, random)
        expect(backoff_ms(attempt + 1, random)).toBeGreaterThanOrEqual(pause_ms)
        expect(pause_ms).toBeGreaterThanOrEqual(2_500)
        expect(pause_ms).toBeLessThanOrEqual(3_600_000)
      }),
    )
  })
})

describe('a pause that someone asked for', () => {
  it.each([
    [0, 0],
    [-5, 0],
    [1_500.4, 1_500],
    [86_400_001, 86_400_000],
    [Number.POSITIVE_INFINITY, 86_400_000],
    [Number.NaN, null],
  ])('of %d ms becomes %s', (asked_ms, expected) => {
    expect(putOff_ms(asked_ms)).toBe(expected)
  })
})

describe('an attempt within its round', () => {
  it.each([
    [1, 1],
    [12, 12],
    [13, 1],
    [24, 12],
  ])('attempt %d of rounds of 12 is %d', (attempts, expected) => {
    expect(attemptInRound(attempts, 12)).toBe(expected)
  })
})
