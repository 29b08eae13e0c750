import { parseMinor } from '../../money/amount.ts'
import { booleanIn, fieldIn, listIn, textIn } from '../field.ts'
import { Unreadable } from '../unreadable.ts'
import type { OrderTotals } from './dodo-event.ts'
import { currencyIn } from './dodo-event.ts'

export interface Money {
  readonly amount_minor: bigint
  readonly currency: string
}

/**
 * A payment's amount in the terms in which orders are registered; null when the object does not tell it (rows of a list
 * hold only what was charged).
 * @throws Unreadable when it tells it inexactly
 */
export function statedMoney(totals: OrderTotals, payment: unknown): Money | null {
  if (totals === 'charged') return amountsIn(payment, 'total_amount', 'currency', null)
  const without_tax = totals === 'charged_without_tax' || totals === 'settled_without_tax'
  const [amount, currency, tax] =
    totals === 'settled' || totals === 'settled_without_tax'
      ? (['settlement_amount', 'settlement_currency', 'settlement_tax'] as const)
      : (['total_amount', 'currency', 'tax'] as const)
  const told = fieldIn(payment, amount) !== undefined && (!without_tax || fieldIn(payment, tax) !== undefined)
  return told ? amountsIn(payment, amount, currency, without_tax ? tax : null) : null
}

function amountsIn(payment: unknown, amount: string, currency: string, tax: string | null): Money {
  const code = currencyIn(payment, currency)
  const whole = minorIn(payment, amount)
  // Tax that is null was not levied.
  const part = tax === null || fieldIn(payment, tax) === null ? 0n : minorIn(payment, tax)
  if (part > whole) throw new Unreadable(`data.${tax} is more than data.${amount}`)
  return { amount_minor: whole - part, currency: code }
}

/**
 * What a refund gives back, in the same terms. Dodo tells it with tax and in the buyer's currency, so in other terms it
 * takes the payment beside it: the same share of the payment, rounded so that the parts of a whole add up to it.
 * @param payment the full payment with its refunds; undefined when only the refund is known
 * @returns null when it is not told
 */
export function statedRefund(totals: OrderTotals, refund: unknown, payment: unknown): Money | null {
  const own = refundMoney(refund)
  if (totals === 'charged') return own
  if (payment === undefined) return null
  const stated = statedMoney(totals, payment)
  if (stated === null) return null
  if (booleanIn(refund, 'is_partial') === false) return stated
  const charged = amountsIn(payment, 'total_amount', 'currency', null)
  const before_minor = refundedBefore(payment, refund, charged.currency)
  if (own === null || own.currency !== charged.currency || before_minor === null) return null
  if (charged.amount_minor === 0n) return null
  const share = (part_minor: bigint) => (part_minor * stated.amount_minor) / charged.amount_minor
  return {
    amount_minor: share(before_minor + own.amount_minor) - share(before_minor),
    currency: stated.currency,
  }
}

/** What the refunds made before this one gave back, whatever became of them; null when one does not tell. */
function refundedBefore(payment: unknown, refund: unknown, currency: string): bigint | null {
  let sum_minor = 0n
  for (const other of listIn(payment, 'refunds')) {
    if (placeOf(other) >= placeOf(refund)) continue
    const money = refundMoney(other)
    if (money === null || money.currency !== currency) return null
    sum_minor += money.amount_minor
  }
  return sum_minor
}

function placeOf(refund: unknown): string {
  return `${textIn(refund, 'created_at') ?? ''} ${textIn(refund, 'refund_id') ?? ''}`
}

/** Amount and currency of a refund may both be null. */
function refundMoney(refund: unknown): Money | null {
  if (nothing(fieldIn(refund, 'amount')) || nothing(fieldIn(refund, 'currency'))) return null
  return { amount_minor: minorIn(refund, 'amount'), currency: currencyIn(refund, 'currency') }
}

function nothing(value: unknown): boolean {
  return value === undefined || value === null
}

/** Smallest unit of the currency by ISO 4217. Numbers only: Dodo never writes these as text. */
function minorIn(object: unknown, field: string): bigint {
  const value = fieldIn(object, field)
  const parsed = parseMinor(typeof value === 'number' ? value : undefined)
  if (!parsed.ok) throw new Unreadable(`data.${field} is not an exact amount (${parsed.problem})`)
  return parsed.amount_minor
}
