/** Why a text or number is not taken as an amount. Stable codes, for messages and tests. */
export type AmountProblem =
  /** Nothing, or only blanks. */
  | 'blank'
  /** A blank, comma, apostrophe or underscore between or around digits. */
  | 'separator'
  /** `1e3`. */
  | 'exponent_notation'
  /** A sign where only zero or more is possible; also `-0`. */
  | 'negative'
  /** A fraction where whole minor units are expected, or a finer one than the currency has. */
  | 'too_fine'
  /** A number that arithmetic in doubles may already have changed (beyond 2^53 - 1), or a text beyond 100 characters. */
  | 'too_large'
  /** Anything else: letters, `NaN`, a plus sign, `.5`, `5.`, leading zeros, digits of other scripts, other types. */
  | 'not_a_number'

/** An exact amount in minor units, or the reason why there is none. Never a rounded one. */
export type ParsedAmount =
  | { readonly ok: true; readonly amount_minor: bigint }
  | { readonly ok: false; readonly problem: AmountProblem }

export interface AmountOptions {
  /** Whether an amount below zero is possible here. Default false. */
  readonly negative?: boolean
}

// Keeps a hostile body from buying a quadratic BigInt conversion; a 256-bit amount has 78 digits.
const LONGEST_TEXT = 100
/** The largest amount that is stored: 78 digits, as many as a 256-bit number has. */
export const LARGEST_MINOR = 10n ** 78n - 1n

const DECIMAL = /^(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?$/

/**
 * Reads a decimal text in major units, such as `19.99`, into minor units. Digits beyond the exponent must be zeros.
 * Never throws and never rounds.
 * @param exponent digits after the point that the currency has (see `exponentOf`)
 */
export function parseDecimal(text: unknown, exponent: number, options: AmountOptions = {}): ParsedAmount {
  if (typeof text !== 'string') return refused('not_a_number')
  if (text.length > LONGEST_TEXT) return refused('too_large')
  const match = DECIMAL.exec(text)
  if (match === null) return refused(problemOf(text))
  const [, sign = '', whole = '', fraction = ''] = match
  if (sign !== '' && options.negative !== true) return refused('negative')
  if (/[1-9]/.test(fraction.slice(exponent))) return refused('too_fine')
  const digits = BigInt(whole + fraction.slice(0, exponent).padEnd(exponent, '0'))
  return { ok: true, amount_minor: sign === '' ? digits : -digits }
}

/**
 * Reads whole minor units as JSON carries them: an integer that doubles hold exactly, a bigint, or a text of digits.
 * Never throws and never rounds.
 */
export function parseMinor(value: unknown, options: AmountOptions = {}): ParsedAmount {
  if (typeof value === 'string') {
    return value.includes('.') && DECIMAL.test(value) ? refused('too_fine') : parseDecimal(value, 0, options)
  }
  if (typeof value === 'number') return parseNumber(value, options)
  if (typeof value !== 'bigint') return refused('not_a_number')
  return value < 0n && options.negative !== true ? refused('negative') : { ok: true, amount_minor: value }
}

function parseNumber(value: number, options: AmountOptions): ParsedAmount {
  if (!Number.isFinite(value)) return refused('not_a_number')
  if (!Number.isInteger(value)) return refused('too_fine')
  if (!Number.isSafeInteger(value)) return refused('too_large')
  if ((value < 0 || Object.is(value, -0)) && options.negative !== true) return refused('negative')
  return { ok: true, amount_minor: BigInt(value) }
}

function problemOf(text: string): AmountProblem {
  if (text.trim() === '') return 'blank'
  if (/^-?[0-9]+(?:\.[0-9]*)?[eE][+-]?[0-9]+$/.test(text)) return 'exponent_notation'
  if (/^[\s,.'’_-]*[0-9][0-9\s,.'’_]*$/.test(text) && /[\s,'’_]/.test(text)) return 'separator'
  return 'not_a_number'
}

function refused(problem: AmountProblem): ParsedAmount {
  return { ok: false, problem }
}
