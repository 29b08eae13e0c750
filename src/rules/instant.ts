/**
 * Provider times as numbers, so that `10:00:00Z` and `10:00:00.000Z` are one instant. What cannot be read sorts last
 * and is never early: an unreadable time must not make money look punctual.
 */
export function instantOf(iso: string | null | undefined): number {
  const ms = iso === null || iso === undefined ? Number.NaN : Date.parse(iso)
  return Number.isNaN(ms) ? Number.POSITIVE_INFINITY : ms
}

/** The earliest of these times as it was written; null when none is given. Equal instants: the first by text. */
export function earliest(times: Iterable<string | null | undefined>): string | null {
  let first: string | null = null
  for (const time of times) {
    if (time === null || time === undefined) continue
    if (first === null || compareInstants(time, first) < 0) first = time
  }
  return first
}

/** Orders times by instant, and equal instants by their text, so that the result never depends on the input's order. */
export function compareInstants(a: string | null, b: string | null): number {
  const [left, right] = [instantOf(a), instantOf(b)]
  if (left !== right) return left < right ? -1 : 1
  return compareText(a ?? '', b ?? '')
}

/** Newest first, for statements of which the newest holds; an unreadable time must not win, so it comes last. */
export function compareNewestFirst(a: string, b: string): number {
  const [left, right] = [instantOf(a), instantOf(b)]
  if (Number.isFinite(left) !== Number.isFinite(right)) return Number.isFinite(left) ? -1 : 1
  return compareInstants(b, a)
}

/** Code-unit order: the same on every machine, unlike a locale's. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
