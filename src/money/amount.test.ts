import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AmountProblem } from './amount.ts'
import { parseDecimal, parseMinor } from './amount.ts'
import { decimalText } from './format.ts'

const amount_minor = fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n })
const exponent = fc.integer({ min: 0, max: 18 })

describe('parseDecimal', () => {
  it.each([
    ['19.99', 2, 1999n],
    ['4.35', 2, 435n],
    ['0.29', 2, 29n],
    ['98.90', 2, 9890n],
    ['10000', 0, 10000n],
    ['100.00', 0, 100n],
    ['1.5', 3, 1500n],
    ['10.0000', 2, 1000n],
    ['9007199254740993.01', 2, 900719925474099301n],
    ['0.000000000000000001', 18, 1n],
  ])('P18 case-32 reads %s with %i digits exactly', (text, digits, expected) => {
    expect(parseDecimal(text, digits)).toEqual({ ok: true, amount_minor: expected })
  })

  it.each<[unknown, AmountProblem]>([
    ['', 'blank'],
    [' ', 'blank'],
    ['\u00a0', 'blank'],
    ['1,000', 'separator'],
    ['1 000', 'separator'],
    ['1\u00a0000', 'separator'],
    ['1.000,50', 'separator'],
    ['1,000.50', 'separator'],
    ["1'000", 'separator'],
    [' 19.99', 'separator'],
    ['19.99\n', 'separator'],
    ['1e3', 'exponent_notation'],
    ['1E+3', 'exponent_notation'],
    ['-5', 'negative'],
    ['-0', 'negative'],
    ['1.005', 'too_fine'],
    ['98.9009', 'too_fine'],
    ['9'.repeat(101), 'too_large'],
    ['NaN', 'not_a_number'],
    ['Infinity', 'not_a_number'],
    ['+5', 'not_a_number'],
    ['.5', 'not_a_number'],
    ['5.', 'not_a_number'],
    ['007', 'not_a_number'],
    ['0x10', 'not_a_number'],
    ['1.2.3', 'not_a_number'],
    ['١٩', 'not_a_number'],
    ['$5', 'not_a_number'],
    [5, 'not_a_number'],
    [null, 'not_a_number'],
    [undefined, 'not_a_number'],
  ])('P18 case-30 refuses %j as %s', (text, problem) => {
    expect(parseDecimal(text, 2)).toEqual({ ok: false, problem })
  })

  it('takes an amount below zero only where it is allowed', () => {
    expect(parseDecimal('-1.50', 2, { negative: true })).toEqual({ ok: true, amount_minor: -150n })
  })

  it('P18 gives back any amount that was written out, at any size and exponent', () => {
    fc.assert(
      fc.property(amount_minor, exponent, (amount, digits) => {
        const parsed = parseDecimal(decimalText(amount, digits), digits, { negative: true })
        expect(parsed).toEqual({ ok: true, amount_minor: amount })
      }),
    )
  })

  it('P18 never rounds: what it accepts has exactly the value of the text', () => {
    const text = fc
      .tuple(fc.bigInt({ min: 0n, max: 10n ** 20n }), fc.stringMatching(/^[0-9]{1,8}$/))
      .map(([whole, fraction]) => `${whole}.${fraction}`)
    fc.assert(
      fc.property(text, fc.integer({ min: 0, max: 4 }), (decimal, digits) => {
        const parsed = parseDecimal(decimal, digits)
        const fraction = decimal.slice(decimal.indexOf('.') + 1)
        expect(parsed.ok).toBe(/^0*$/.test(fraction.slice(digits)))
        if (parsed.ok) {
          const scaled = BigInt(decimal.replace('.', '')) * 10n ** BigInt(digits)
          expect(parsed.amount_minor * 10n ** BigInt(fraction.length)).toBe(scaled)
        }
      }),
    )
  })

  it('never throws, whatever it is given', () => {
    fc.assert(
      fc.property(fc.anything(), exponent, (value, digits) => {
        expect(typeof parseDecimal(value, digits).ok).toBe('boolean')
        expect(typeof parseMinor(value).ok).toBe('boolean')
      }),
    )
  })

  it('accepts no text that has anything but digits and one point', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        if (parseDecimal(text, 2).ok) expect(text).toMatch(/^(0|[1-9][0-9]*)(\.[0-9]+)?$/)
      }),
    )
  })
})

describe('parseMinor', () => {
  it.each<[unknown, bigint]>([
    [1999, 1999n],
    [0, 0n],
    ['1999', 1999n],
    [9007199254740993n, 9007199254740993n],
    ['9007199254740993', 9007199254740993n],
    [Number.MAX_SAFE_INTEGER, 9007199254740991n],
  ])('P18 takes %s as whole minor units', (value, expected) => {
    expect(parseMinor(value)).toEqual({ ok: true, amount_minor: expected })
  })

  it.each<[unknown, AmountProblem]>([
    [19.99, 'too_fine'],
    ['19.99', 'too_fine'],
    ['19.00', 'too_fine'],
    [2 ** 53, 'too_large'],
    [Number.NaN, 'not_a_number'],
    [Number.POSITIVE_INFINITY, 'not_a_number'],
    [-1, 'negative'],
    [-0, 'negative'],
    [-1n, 'negative'],
    ['-1', 'negative'],
    ['1,000', 'separator'],
    ['', 'blank'],
    [true, 'not_a_number'],
    [[5], 'not_a_number'],
    [null, 'not_a_number'],
  ])('P18 refuses %s as %s', (value, problem) => {
    expect(parseMinor(value)).toEqual({ ok: false, problem })
  })

  it('takes an amount below zero only where it is allowed', () => {
    expect(parseMinor(-2165, { negative: true })).toEqual({ ok: true, amount_minor: -2165n })
    expect(parseMinor(-5n, { negative: true })).toEqual({ ok: true, amount_minor: -5n })
  })

  it('P18 reads every integer that a double holds, and no other number', () => {
    fc.assert(
      fc.property(fc.oneof(fc.maxSafeInteger(), fc.double()), (value) => {
        const parsed = parseMinor(value, { negative: true })
        expect(parsed.ok).toBe(Number.isSafeInteger(value))
        if (parsed.ok) expect(Number(parsed.amount_minor) === value).toBe(true)
      }),
    )
  })
})
