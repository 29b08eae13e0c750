import { Fault } from '../../facts/fault.ts'
import { parseDecimal } from '../../money/amount.ts'
import type { Token } from '../../money/currency.ts'
import { token } from '../../money/currency.ts'
import { fieldIn, textIn } from '../field.ts'
import { Unreadable } from '../unreadable.ts'
import { uuidOf } from './uuid.ts'

/** A token that counts as money: Circle's id of it on one chain, and what we call it. */
export interface CircleToken {
  /** Circle's uuid of the token (`tokenId`), another one on each chain; not the contract's address. */
  readonly tokenId: string
  /** The chain, as Circle writes it: `ARC`, `ETH-SEPOLIA`. */
  readonly blockchain: string
  /** Our currency code for it, upper case: `USDC`. Orders are registered in it. */
  readonly code: string
  /** Digits after the point: 6 for USDC, on Arc too. */
  readonly decimals: number
}

/**
 * Tokens by Circle's id.
 * @throws Fault `config_invalid` when there is none, an id is no uuid or stands twice, or one code has two scales
 */
export function readTokens(options: readonly CircleToken[]): ReadonlyMap<string, CircleToken> {
  const tokens = new Map<string, CircleToken>()
  if (options.length === 0) throw invalid('tokens is empty. Name each token that counts as money')
  for (const { tokenId, blockchain, code, decimals } of options) {
    const id = uuidOf(tokenId.trim())
    if (id === null)
      throw invalid(`tokenId ${tokenId} is not a uuid. Copy it from the token list of the console`)
    if (tokens.has(id)) throw invalid(`tokenId ${id} stands twice`)
    if (!/^[A-Z][A-Z0-9-]{1,39}$/.test(blockchain))
      throw invalid(`blockchain "${blockchain}" must be written as ARC`)
    const other = [...tokens.values()].find((known) => known.code === code && known.decimals !== decimals)
    if (other !== undefined)
      throw invalid(`${code} has two numbers of decimals. Give the other token another code`)
    tokens.set(id, { tokenId: id, blockchain, ...checkedToken(code, decimals) })
  }
  return tokens
}

function checkedToken(code: string, decimals: number): Token {
  try {
    return token(code, decimals)
  } catch (cause) {
    throw new Fault('config_invalid', `circle: ${(cause as Error).message}`)
  }
}

function invalid(problem: string): Fault {
  return new Fault('config_invalid', `circle: ${problem}.`)
}

/** The configured token of a transaction, or why it has none. Both its id and its chain must be the configured ones. */
export function tokenOf(
  tokens: ReadonlyMap<string, CircleToken>,
  transaction: unknown,
): CircleToken | string {
  const id = textIn(transaction, 'tokenId')
  if (id === undefined) return 'it names no token'
  const known = tokens.get(id.toLowerCase())
  if (known === undefined) return 'its token is not among the configured ones'
  return known.blockchain === textIn(transaction, 'blockchain')
    ? known
    : 'its token is configured for another chain'
}

export interface TokenMoney {
  readonly amount_minor: bigint
  readonly currency: string
}

/** The one amount of a transfer, in the token's smallest units. @throws Unreadable when it is not exactly one */
export function tokenMoney(transaction: unknown, { code, decimals }: CircleToken): TokenMoney {
  const amounts = fieldIn(transaction, 'amounts')
  if (!Array.isArray(amounts) || amounts.length !== 1)
    throw new Unreadable('amounts does not hold exactly one amount')
  const parsed = parseDecimal(amounts[0], decimals)
  if (!parsed.ok) throw new Unreadable(`amounts is not an exact amount of ${code} (${parsed.problem})`)
  return { amount_minor: parsed.amount_minor, currency: code }
}
