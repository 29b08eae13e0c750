import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { minorFromStripe, stripeFromMinor } from './amount.ts'

describe('amounts', () => {
  it.each([
    ['USD', 1999, 1999n],
    ['JPY', 100, 100n],
    ['HUF', 1999, 1999n],
    ['MGA', 500, 50_000n],
    ['UGX', 500, 5n],
    ['ISK', 500, 5n],
    ['KWD', 1990, 1990n],
  ])('P18 case-30 reads %s %i as %d', (currency, units, amount_minor) => {
    expect(minorFromStripe(units, currency, 'amount')).toBe(amount_minor)
    expect(stripeFromMinor(amount_minor, currency)).toBe(units)
  })

  it('P18 refuses what the currency cannot have, rather than rounding', () => {
    for (const [currency, units] of [
      ['UGX', 550],
      ['ISK', 1],
      ['KWD', 1999],
      ['CLF', 1],
      ['UYI', 1],
    ] as const) {
      expect(() => minorFromStripe(units, currency, 'amount')).toThrow()
    }
    expect(() => stripeFromMinor(50n, 'MGA')).toThrow(RangeError)
    expect(() => stripeFromMinor(2n ** 60n, 'USD')).toThrow(RangeError)
  })

  it('P18 converts there and back without loss', () => {
    const currency = fc.constantFrom('USD', 'JPY', 'UGX', 'ISK', 'EUR')
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 12n }), currency, (amount_minor, code) => {
        expect(minorFromStripe(stripeFromMinor(amount_minor, code), code, 'amount')).toBe(amount_minor)
      }),
    )
  })
})
