import { compareText } from './instant.ts'

export interface Told<V> {
  /** The lowest value told; null when none is. */
  readonly value: V | null
  /** Every different value told, sorted; more than one is a contradiction where the field is comparable. */
  readonly values: readonly V[]
}

/** What several statements tell of one field. Fields left out are no information. */
export function told<C extends object, F extends keyof C>(
  contents: Iterable<C>,
  field: F,
): Told<Exclude<C[F], undefined | null>> {
  type V = Exclude<C[F], undefined | null>
  const values = new Set<V>()
  for (const content of contents) {
    const value = content[field]
    if (value !== undefined && value !== null) values.add(value as V)
  }
  const sorted = [...values].sort(compareValues)
  return { value: sorted[0] ?? null, values: sorted }
}

function compareValues(a: unknown, b: unknown): number {
  if (typeof a === 'bigint' && typeof b === 'bigint') return a < b ? -1 : a > b ? 1 : 0
  return compareText(String(a), String(b))
}
