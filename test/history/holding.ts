import type { OrderOutcome, RegisteredOrder } from './history.ts'

/** What is left of a right that no order gives, from what says most about it. */
const WITHOUT_GRANT = ['suspended', 'revoked', 'expired'] as const

/** What the holder has from all their orders together: what any of them gives, added up. */
export function rightsOf(
  registered: readonly RegisteredOrder[],
  ends: Readonly<Record<string, OrderOutcome>>,
): string[] {
  const sources = registered
    .filter(({ terms }) => terms.holder !== undefined)
    .flatMap(({ reference, terms }) => terms.items.map((line) => ({ line, end: ends[reference]! })))
  const items = [...new Set(sources.map(({ line }) => line.item))]
  return items
    .flatMap((item) => {
      const own = sources.filter(({ line }) => line.item === item)
      const granted = own.filter(({ end }) => end.access === 'granted')
      const quantity = granted.reduce(
        (sum, { line, end }) => sum + (line.credits ? end.credits : line.quantity),
        0,
      )
      if (granted.length > 0) return [`${item} ${quantity} granted`]
      const left = WITHOUT_GRANT.find((state) => own.some(({ end }) => end.access === state))
      return left === undefined ? [] : [`${item} 0 ${left}`]
    })
    .sort()
}
