import { parseDecimal } from '../money/amount.ts'
import { decimalText } from '../money/format.ts'
import { Unreadable } from './unreadable.ts'

/** The currency of the Nepalese wallets, which name none themselves. */
export const NPR = 'NPR'
const PAISA_DIGITS = 2

/** `2700.00`. */
export function rupeesText(amount_minor: bigint): string {
  return decimalText(amount_minor, PAISA_DIGITS)
}

/** @throws Unreadable unless it is an exact amount of rupees */
export function paisaOf(rupees: unknown, field: string): bigint {
  const parsed = parseDecimal(rupees, PAISA_DIGITS)
  if (!parsed.ok) throw new Unreadable(`${field} is not an exact amount (${parsed.problem})`)
  return parsed.amount_minor
}
