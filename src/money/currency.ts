/**
 * Digits after the point of each currency, as ISO 4217 gives them (list one, with the amendments up to 2025).
 * Codes without a minor unit (gold, testing, special drawing rights) are no money that a payment can have.
 */
const CODES_BY_EXPONENT: Readonly<Record<number, string>> = {
  0: 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF',
  2: `AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF CHE CHF CHW
    CNY COP COU CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR
    ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV
    MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD
    SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD USN UYU UZS VED VES WST XAD XCD XCG YER ZAR ZMW ZWG`,
  3: 'BHD IQD JOD KWD LYD OMR TND',
  4: 'CLF UYW',
}

// Withdrawn within the last years: old payments and their refunds still carry them.
const WITHDRAWN_TWO_DIGIT_CODES = 'ANG BGN CUC HRK SLL ZWL'

const EXPONENTS: ReadonlyMap<string, number> = new Map([
  ...Object.entries(CODES_BY_EXPONENT).flatMap(([exponent, codes]) =>
    codes.split(/\s+/).map((code): [string, number] => [code, Number(exponent)]),
  ),
  ...WITHDRAWN_TWO_DIGIT_CODES.split(' ').map((code): [string, number] => [code, 2]),
])

/** Every ISO 4217 code that amounts may have, sorted. */
export const CURRENCY_CODES: readonly string[] = [...EXPONENTS.keys()].sort()

/** Money that is no ISO currency, for example a stablecoin. A value to be passed on, never registered globally. */
export interface Token {
  /** Upper case, for example `USDC`. */
  readonly code: string
  /** Digits after the point: 6 for USDC, 18 for ether. */
  readonly decimals: number
}

/**
 * Makes a token. Its code must be 2 to 16 upper-case letters or digits, begin with a letter and be no ISO code;
 * its decimals a whole number from 0 to 36.
 * @throws RangeError naming what to change; it is a mistake in configuration, not in data
 */
export function token(code: string, decimals: number): Token {
  if (!/^[A-Z][A-Z0-9]{1,15}$/.test(code)) {
    throw new RangeError(`Token code "${code}" must be 2 to 16 upper-case letters or digits, letter first.`)
  }
  if (EXPONENTS.has(code)) {
    throw new RangeError(`Token code "${code}" is an ISO 4217 currency; use its code alone, without a token.`)
  }
  if (!Number.isInteger(decimals) || decimals < 0 || decimals > 36) {
    throw new RangeError(`Token "${code}" needs a whole number of decimals from 0 to 36, not ${decimals}.`)
  }
  return Object.freeze({ code, decimals })
}

/**
 * How many digits after the point one unit of this currency has: 2 for USD, 0 for JPY, 3 for KWD.
 * @param code upper-case ISO 4217 code or the code of one of `tokens`
 * @returns null for a code that is neither, so that no one guesses a default
 */
export function exponentOf(code: string, tokens: readonly Token[] = []): number | null {
  return EXPONENTS.get(code) ?? tokens.find((known) => known.code === code)?.decimals ?? null
}
