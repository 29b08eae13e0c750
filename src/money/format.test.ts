import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CURRENCY_CODES, exponentOf, token } from './currency.ts'
import { decimalText, formatMinor } from './format.ts'

describe('decimalText', () => {
  it.each([
    [1999n, 2, '19.99'],
    [5n, 2, '0.05'],
    [0n, 2, '0.00'],
    [-5n, 2, '-0.05'],
    [100n, 0, '100'],
    [-1n, 18, '-0.000000000000000001'],
  ])('P18 writes %d with %i digits as %s', (amount_minor, exponent, text) => {
    expect(decimalText(amount_minor, exponent)).toBe(text)
  })
})

describe('formatMinor', () => {
  it('P18 writes money as people read it', () => {
    expect(formatMinor(199900n, 'USD')).toBe('$1,999.00')
    expect(formatMinor(100n, 'JPY')).toBe('¥100')
    expect(formatMinor(1500n, 'KWD').replace(/\s/, ' ')).toBe('KWD 1.500')
    expect(formatMinor(-310n, 'EUR', 'de').replace(/\s/, ' ')).toBe('-3,10 €')
    expect(formatMinor(1500000n, token('USDC', 6))).toBe('1.500000 USDC')
  })

  it('shows the bare minor units of a code that it does not know', () => {
    expect(formatMinor(1999n, 'XYZ')).toBe('1999 minor units of XYZ')
    expect(formatMinor(1999n, 'not a code')).toBe('1999 minor units of not a code')
  })

  it('P18 keeps every digit at any size, in every currency', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }),
        fc.constantFrom(...CURRENCY_CODES),
        (amount_minor, code) => {
          const digits = decimalText(amount_minor, exponentOf(code)!).replace(/[^0-9]/g, '')
          expect(formatMinor(amount_minor, code).replace(/[^0-9]/g, '')).toBe(digits)
        },
      ),
    )
  })
})
