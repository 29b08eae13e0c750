import { parseDecimal } from '../../money/amount.ts'
import { exponentOf } from '../../money/currency.ts'
import { decimalText } from '../../money/format.ts'
import { fieldIn, textIn } from '../field.ts'
import { Unreadable } from '../unreadable.ts'

/** Currencies that PayPal takes in whole units only; in ISO 4217 two of them have digits after the point. */
const WHOLE_UNITS = new Set(['HUF', 'JPY', 'TWD'])

export interface PaypalMoney {
  /** Minor units as ISO 4217 has them, so 100 forint are 10000. */
  readonly amount_minor: bigint
  readonly currency: string
}

/** `{ currency_code, value }` of the newer APIs. @throws Unreadable when it is missing or not exact */
export function moneyIn(parent: unknown, ...path: readonly string[]): PaypalMoney {
  const money = fieldIn(parent, ...path)
  return readMoney(textIn(money, 'value'), textIn(money, 'currency_code'), path.join('.'))
}

/** `{ total, currency }` of payments v1. @throws Unreadable when it is missing or not exact */
export function totalIn(parent: unknown, ...path: readonly string[]): PaypalMoney {
  const money = fieldIn(parent, ...path)
  return readMoney(textIn(money, 'total'), textIn(money, 'currency'), path.join('.'))
}

/**
 * A decimal text in major units.
 * @throws Unreadable when it or the currency is missing or unknown, or the amount is not exact
 */
export function readMoney(
  value: string | undefined,
  currency: string | undefined,
  field: string,
  options: { readonly negative?: boolean } = {},
): PaypalMoney {
  const exponent = currency === undefined ? null : exponentOf(currency)
  if (currency === undefined || exponent === null)
    throw new Unreadable(`${field} has no currency that we know`)
  const parsed = parseDecimal(value, exponent, options)
  if (!parsed.ok) throw new Unreadable(`${field} is not an exact amount (${parsed.problem})`)
  return { amount_minor: parsed.amount_minor, currency }
}

/** The decimal text that PayPal takes. @throws RangeError when it cannot express the amount */
export function paypalValue(amount_minor: bigint, currency: string): string {
  const exponent = exponentOf(currency)
  if (exponent === null) throw new RangeError(`${currency} is not a currency that PayPal has.`)
  const text = decimalText(amount_minor, exponent)
  if (!WHOLE_UNITS.has(currency)) return text
  const [whole = '', fraction = ''] = text.split('.')
  if (/[1-9]/.test(fraction)) throw new RangeError(`PayPal takes ${currency} in whole units only.`)
  return whole
}
