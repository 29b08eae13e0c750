/** One stored value that is not what the facts say. */
export interface Difference {
  readonly table: string
  /** Natural key of the row, as a person knows it. */
  readonly row: string
  readonly column: string
  /** As stored; null for nothing. */
  readonly stored: string | null
  /** As the facts say; null for nothing. */
  readonly derived: string | null
}

export type Value = string | number | bigint | boolean | Date | null | readonly (string | bigint)[]

/** The columns in which a stored row is not what was derived. Only the columns of `derived` are compared. */
export function compare(
  table: string,
  row: string,
  stored: Readonly<Record<string, Value>>,
  derived: Readonly<Record<string, Value>>,
): Difference[] {
  return Object.keys(derived).flatMap((column) => {
    const is = plain(stored[column] ?? null)
    const should = plain(derived[column] ?? null)
    return is === should ? [] : [{ table, row, column, stored: is, derived: should }]
  })
}

/** The time as a Date, so that two spellings of one instant are equal. */
export function instant(time: string | null): Date | null {
  return time === null ? null : new Date(time)
}

/** `namespace/account/id`, with the tenant before it where it is not the default one. */
export function naturalKey(tenant: string, ...parts: readonly string[]): string {
  return [...(tenant === 'default' ? [] : [tenant]), ...parts].join('/')
}

function plain(value: Value): string | null {
  if (value === null) return null
  if (value instanceof Date) return value.toISOString()
  if (Array.isArray(value)) return [...value].map(String).sort().join(' ')
  return String(value)
}
