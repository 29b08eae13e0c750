import { parseMinor } from '../../money/amount.ts'
import { exponentOf } from '../../money/currency.ts'
import { fieldIn, textIn } from '../field.ts'
import { Unreadable } from '../unreadable.ts'

/**
 * Which figure of a transaction your order totals are compared with: `gross` is what the buyer has to pay
 * (`grand_total`, tax included), `net` is the value without the tax that Paddle chose (`total` less `tax`).
 */
export type AmountKind = 'gross' | 'net'

export interface PaddleMoney {
  readonly amount_minor: bigint
  /** Upper case. */
  readonly currency: string
}

/** The money of a transaction. @throws Unreadable when its totals are missing or not exact */
export function transactionMoney(transaction: unknown, kind: AmountKind): PaddleMoney {
  const totals = fieldIn(transaction, 'details', 'totals')
  const field = 'details.totals'
  const amount_minor = kind === 'net' ? withoutTax(totals, field) : minorIn(totals, 'grand_total', field)
  return { amount_minor, currency: currencyOf(transaction, totals) }
}

/** The money of one adjustment, never a running total. @throws Unreadable when its totals are missing or not exact */
export function adjustmentMoney(adjustment: unknown, kind: AmountKind): PaddleMoney {
  const totals = fieldIn(adjustment, 'totals')
  const amount_minor = kind === 'net' ? withoutTax(totals, 'totals') : minorIn(totals, 'total', 'totals')
  return { amount_minor, currency: currencyOf(adjustment, totals) }
}

/** `total` of any totals object, with its tax or without. @throws Unreadable as above */
export function valueIn(totals: unknown, kind: AmountKind, field: string): bigint {
  return kind === 'net' ? withoutTax(totals, field) : minorIn(totals, 'total', field)
}

/** A text of digits in the lowest denomination, which for every currency of Paddle's is the minor unit of ISO 4217. */
export function minorIn(totals: unknown, name: string, parent: string): bigint {
  const parsed = parseMinor(fieldIn(totals, name))
  if (!parsed.ok) throw new Unreadable(`${parent}.${name} is not an exact amount (${parsed.problem})`)
  return parsed.amount_minor
}

function withoutTax(totals: unknown, parent: string): bigint {
  const net = minorIn(totals, 'total', parent) - minorIn(totals, 'tax', parent)
  if (net < 0n) throw new Unreadable(`${parent}.tax is more than ${parent}.total`)
  return net
}

function currencyOf(object: unknown, totals: unknown): string {
  const currency = textIn(object, 'currency_code')
  if (currency === undefined) throw new Unreadable('currency_code is missing')
  if (exponentOf(currency) === null) throw new Unreadable('currency_code is not a currency that we know')
  const again = textIn(totals, 'currency_code')
  if (again !== undefined && again !== currency)
    throw new Unreadable('currency_code and that of the totals differ')
  return currency
}
