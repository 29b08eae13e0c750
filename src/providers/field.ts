/** Readers for parsed JSON of unknown shape. What is missing or of another type is undefined; none of them throws. */

export type JsonRecord = Readonly<Record<string, unknown>>

const LONGEST_TEXT = 255
// Control characters and lone surrogates cannot be stored, and no id or reference has them.
const CLEAN_TEXT = /^[^\p{Cc}\p{Cs}]*[^\p{Cc}\p{Cs}\s][^\p{Cc}\p{Cs}]*$/u

export function fieldIn(parent: unknown, ...path: readonly string[]): unknown {
  let value = parent
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
    value = (value as JsonRecord)[name]
  }
  return value
}

export function recordIn(parent: unknown, ...path: readonly string[]): JsonRecord | undefined {
  const value = fieldIn(parent, ...path)
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as JsonRecord)
    : undefined
}

export function listIn(parent: unknown, ...path: readonly string[]): readonly unknown[] {
  const value = fieldIn(parent, ...path)
  return Array.isArray(value) ? value : []
}

export function booleanIn(parent: unknown, ...path: readonly string[]): boolean | undefined {
  const value = fieldIn(parent, ...path)
  return typeof value === 'boolean' ? value : undefined
}

/** A text that can be an id, a code or a reference: 1 to 255 characters, not blank, nothing that a database refuses. */
export function textIn(parent: unknown, ...path: readonly string[]): string | undefined {
  return cleanText(fieldIn(parent, ...path))
}

export function cleanText(value: unknown): string | undefined {
  return typeof value === 'string' && value.length <= LONGEST_TEXT && CLEAN_TEXT.test(value)
    ? value
    : undefined
}

/** The id of an object that is given either by its id or expanded to the whole object. */
export function idIn(parent: unknown, ...path: readonly string[]): string | undefined {
  return textIn(parent, ...path) ?? textIn(parent, ...path, 'id')
}

/** A Unix time in whole seconds, as ISO 8601 UTC. Zero and what lies beyond the year 9999 are no time. */
export function unixTimeIn(parent: unknown, ...path: readonly string[]): string | undefined {
  const value = fieldIn(parent, ...path)
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value <= 0 || value > 253_402_300_799)
    return undefined
  return new Date(value * 1000).toISOString()
}

/**
 * ISO 8601 in UTC, or null for a text that is no time, whose zone nobody knows, or that lies beyond the years 1 to 9999,
 * which a database does not take in this form.
 */
export function utcTime(text: string | undefined): string | null {
  if (text === undefined || !/(?:Z|[+-][0-9]{2}:?[0-9]{2})$/.test(text)) return null
  const time = new Date(text)
  if (Number.isNaN(time.getTime())) return null
  const utc = time.toISOString()
  return /^(?!0000)[0-9]{4}-/.test(utc) ? utc : null
}
