import type { OrderItem } from '../facts/order.ts'
import { cleanText, utcTime } from '../providers/field.ts'

/** Why these cannot be what a buyer gets, as the end of a sentence; null where they can. */
export function itemsProblem(items: readonly OrderItem[]): string | null {
  if (items.length === 0) return 'name at least one item that the buyer gets.'
  const seen = new Set<string>()
  for (const { item, quantity, ...more } of items) {
    if (cleanText(item) === undefined || seen.has(item))
      return `item ${JSON.stringify(item)?.slice(0, 80)} is blank, named twice, over 255 characters, or has control characters.`
    if (!Number.isSafeInteger(quantity) || quantity < 1 || quantity > MOST_OF_AN_ITEM)
      return `the quantity of ${item} is not a whole number from 1 to ${MOST_OF_AN_ITEM}.`
    if (!isPositive(more.valid_for_ms)) return `\`valid_for_ms\` of ${item} is no whole number from 1 up.`
    if (more.valid_until !== undefined && utcTime(more.valid_until) === null)
      return `\`valid_until\` of ${item} is no ISO 8601 time with a zone.`
    seen.add(item)
  }
  return null
}

/** In one order, and without what says nothing, so that saying it again is the same statement. */
export function pinnedItems(items: readonly OrderItem[]): OrderItem[] {
  return items.map(pinnedItem).sort((a, b) => (a.item < b.item ? -1 : 1))
}

function pinnedItem({ item, quantity, credits, valid_for_ms, valid_until }: OrderItem): OrderItem {
  return {
    item,
    quantity,
    ...(credits ? { credits: true } : {}),
    ...(valid_for_ms === undefined ? {} : { valid_for_ms }),
    ...(valid_until === undefined ? {} : { valid_until: utcTime(valid_until)! }),
  }
}

function isPositive(duration_ms: number | undefined): boolean {
  return duration_ms === undefined || (Number.isSafeInteger(duration_ms) && duration_ms > 0)
}

/** As many as a row of `entitlements` can hold. */
const MOST_OF_AN_ITEM = 2_147_483_647
