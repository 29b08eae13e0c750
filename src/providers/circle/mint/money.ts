import { parseDecimal } from '../../../money/amount.ts'
import type { Token } from '../../../money/currency.ts'
import { exponentOf } from '../../../money/currency.ts'
import { fieldIn, recordIn, textIn } from '../../field.ts'
import { Unreadable } from '../../unreadable.ts'

export interface MintMoney {
  readonly amount_minor: bigint
  readonly currency: string
}

/**
 * A money object of Circle Mint: a decimal text and a currency. USDC and EURC stand as USD and EUR there. Undefined when
 * it has no amount.
 * @throws Unreadable when it is not exact in that currency, or the currency is not known
 */
export function moneyIn(tokens: readonly Token[], parent: unknown, field: string): MintMoney | undefined {
  const money = recordIn(parent, field)
  const amount = fieldIn(money, 'amount')
  if (amount === undefined || amount === null) return undefined
  const currency = textIn(money, 'currency') ?? ''
  const exponent = exponentOf(currency, tokens)
  if (exponent === null) throw new Unreadable(`${field}.currency is not a currency that we know`)
  const parsed = parseDecimal(amount, exponent)
  if (!parsed.ok)
    throw new Unreadable(`${field}.amount is not an exact amount of ${currency} (${parsed.problem})`)
  return { amount_minor: parsed.amount_minor, currency }
}

/** @throws Unreadable also when it is missing */
export function requiredMoney(tokens: readonly Token[], parent: unknown, field: string): MintMoney {
  const money = moneyIn(tokens, parent, field)
  if (money === undefined) throw new Unreadable(`${field}.amount is missing`)
  return money
}
