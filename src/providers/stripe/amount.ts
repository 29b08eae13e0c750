import type { AmountOptions } from '../../money/amount.ts'
import { parseMinor } from '../../money/amount.ts'
import { exponentOf } from '../../money/currency.ts'
import { fieldIn, textIn } from '../field.ts'
import { Unreadable } from '../unreadable.ts'

/** Currencies whose amounts Stripe's API gives in whole units. */
const WHOLE_UNITS = new Set('BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF'.split(' '))
/** Without minor units in ISO 4217, but sent times 100 and ending in 00. */
const TIMES_HUNDRED = new Set(['ISK', 'UGX'])

export interface StripeMoney {
  readonly amount_minor: bigint
  /** Upper case. */
  readonly currency: string
}

/** The currency of a Stripe object, in upper case. @throws Unreadable when it is missing or no ISO 4217 code */
export function currencyIn(parent: unknown, field = 'currency'): string {
  const currency = textIn(parent, field)?.toUpperCase()
  if (currency === undefined) throw new Unreadable(`${field} is missing`)
  if (exponentOf(currency) === null) throw new Unreadable(`${field} is not a currency that we know`)
  return currency
}

/** An amount of a Stripe object in ISO minor units. @throws Unreadable when it is missing or not exact */
export function moneyIn(parent: unknown, field: string, options: AmountOptions = {}): StripeMoney {
  const currency = currencyIn(parent)
  return { amount_minor: minorFromStripe(fieldIn(parent, field), currency, field, options), currency }
}

/**
 * Turns Stripe's units into the minor units of ISO 4217. They differ for MGA (whole units at Stripe, 2 digits in ISO),
 * UGX and ISK (hundredths at Stripe, whole units in ISO).
 * @throws Unreadable when it is no whole number or not of the form that the currency must have
 */
export function minorFromStripe(
  value: unknown,
  currency: string,
  field: string,
  options: AmountOptions = {},
): bigint {
  const parsed = parseMinor(value, options)
  if (!parsed.ok) throw new Unreadable(`${field} is not an exact amount (${parsed.problem})`)
  const { multiply, divide, step } = conversion(currency)
  if (parsed.amount_minor % step !== 0n) {
    throw new Unreadable(`${field} must be a multiple of ${step} in ${currency}`)
  }
  return (parsed.amount_minor * multiply) / divide
}

/** The reverse, for what we send. @throws RangeError when Stripe cannot express the amount */
export function stripeFromMinor(amount_minor: bigint, currency: string): number {
  const { multiply, divide, step } = conversion(currency)
  const units = (amount_minor * divide) / multiply
  if (
    (units * multiply) / divide !== amount_minor ||
    units % step !== 0n ||
    units > BigInt(Number.MAX_SAFE_INTEGER)
  ) {
    throw new RangeError(`Stripe has no amount for ${amount_minor} minor units of ${currency}.`)
  }
  return Number(units)
}

/** ISO minor units = Stripe units * multiply / divide, where Stripe's must be a multiple of step. */
function conversion(currency: string): { multiply: bigint; divide: bigint; step: bigint } {
  const exponent = exponentOf(currency)
  if (WHOLE_UNITS.has(currency)) return { multiply: exponent === 2 ? 100n : 1n, divide: 1n, step: 1n }
  if (TIMES_HUNDRED.has(currency)) return { multiply: 1n, divide: 100n, step: 100n }
  if (exponent === 2) return { multiply: 1n, divide: 1n, step: 1n }
  // Unconfirmed in the present documents; the older ones had thousandths with a last digit of 0.
  if (exponent === 3) return { multiply: 1n, divide: 1n, step: 10n }
  throw new Unreadable(`the unit of amounts in ${currency} at Stripe is not known`)
}
