import { describe, expect, it } from 'vitest'
import { CURRENCY_CODES, exponentOf, token } from './currency.ts'

describe('exponentOf', () => {
  it.each([
    ['JPY', 0],
    ['UGX', 0],
    ['ISK', 0],
    ['USD', 2],
    ['MGA', 2],
    ['HUF', 2],
    ['KWD', 3],
    ['CLF', 4],
  ])('P18 gives %s %i digits', (code, digits) => {
    expect(exponentOf(code)).toBe(digits)
  })

  it('P18 case-33 has no default: unknown, lower-case and blank codes give null', () => {
    for (const code of ['', 'usd', 'XYZ', 'XAU', 'USDC', 'toString']) expect(exponentOf(code)).toBeNull()
  })

  it('knows each code once, and the active codes completely', () => {
    expect(new Set(CURRENCY_CODES).size).toBe(CURRENCY_CODES.length)
    // 165 active codes of list one that have a minor unit, and the six withdrawn ones that are kept.
    expect(CURRENCY_CODES.length).toBe(165 + 6)
    for (const code of CURRENCY_CODES) expect(code).toMatch(/^[A-Z]{3}$/)
  })

  it('departs from two digits exactly where ISO 4217 does', () => {
    const unlike = (exponent: number) =>
      CURRENCY_CODES.filter((code) => exponentOf(code) === exponent).join(' ')
    expect(unlike(0)).toBe('BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF')
    expect(unlike(3)).toBe('BHD IQD JOD KWD LYD OMR TND')
    expect(unlike(4)).toBe('CLF UYW')
  })
})

describe('token', () => {
  it('P18 carries its own digits and counts only where it is passed in', () => {
    const usdc = token('USDC', 6)
    expect(exponentOf('USDC', [usdc, token('ETH', 18)])).toBe(6)
    expect(exponentOf('ETH', [token('ETH', 18)])).toBe(18)
    expect(exponentOf('USDC')).toBeNull()
  })

  it.each([
    ['usdc', 6],
    ['', 6],
    ['USD', 6],
    ['USDC', 1.5],
    ['USDC', -1],
    ['USDC', 37],
  ])('refuses %s with %d decimals', (code, decimals) => {
    expect(() => token(code, decimals)).toThrow(RangeError)
  })
})
