import type { Token } from './currency.ts'
import { exponentOf } from './currency.ts'

/**
 * The amount in major units as plain text, with a point and all its digits: `decimalText(1999n, 2)` is `19.99`.
 * `parseDecimal` reads it back exactly.
 */
export function decimalText(amount_minor: bigint, exponent: number): string {
  const sign = amount_minor < 0n ? '-' : ''
  const digits = `${amount_minor < 0n ? -amount_minor : amount_minor}`.padStart(exponent + 1, '0')
  const point = digits.length - exponent
  return exponent === 0 ? `${sign}${digits}` : `${sign}${digits.slice(0, point)}.${digits.slice(point)}`
}

/**
 * The amount for people, exact at any size. A code that is neither an ISO currency nor a token is shown as its bare
 * minor units, since nobody knows where its point stands.
 * @param currency upper-case ISO 4217 code, or a token
 * @param locale BCP 47 tag, default `en`; an unknown one falls back to the machine's
 */
export function formatMinor(amount_minor: bigint, currency: string | Token, locale = 'en'): string {
  const code = typeof currency === 'string' ? currency : currency.code
  const exponent = typeof currency === 'string' ? exponentOf(currency) : currency.decimals
  if (exponent === null) return `${amount_minor} minor units of ${code}`
  const text = decimalText(amount_minor, exponent) as Intl.StringNumericLiteral
  const digits = { minimumFractionDigits: exponent, maximumFractionDigits: exponent }
  if (typeof currency !== 'string') {
    return `${new Intl.NumberFormat(locale, digits).format(text)} ${code}`
  }
  return new Intl.NumberFormat(locale, { style: 'currency', currency: code, ...digits }).format(text)
}
