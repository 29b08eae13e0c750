import type { EntitlementState } from '../facts/entitlement.ts'
import type { ExceptionDue } from '../facts/exception.ts'
import type { OrderItem } from '../facts/order.ts'
import { compareText } from './instant.ts'
import { UNKNOWN_ORDER_ALERT_AFTER_MS } from './order-exceptions.ts'
import type { OrderBook } from './order-state.ts'
import { raise } from './raise.ts'
import type { SubscriptionSummary } from './subscription-state.ts'

/** What an order gives whose items follow the price of its subscriptions. */
export interface PricedItems {
  readonly items: readonly OrderItem[]
  /** Prices that nobody can say the items of, sorted; null for one that is not told. */
  readonly unknown: readonly (string | null)[]
}

/** True where the catalogue says what the order gives, and not its own terms. */
export function followsPrice({ terms }: Pick<OrderBook, 'terms'>): boolean {
  return terms?.recurring?.by_price === true
}

/** What the book says of a price; undefined where it says nothing. */
export function itemsOfPrice(
  { prices = {} }: Pick<OrderBook, 'prices'>,
  price: string,
): readonly OrderItem[] | undefined {
  return Object.hasOwn(prices, price) ? prices[price] : undefined
}

/**
 * The items of the prices that these subscriptions have now. No price is taken for another: there is no default plan.
 * @param deciding the subscriptions that say whether the order gives anything
 */
export function pricedItems(book: OrderBook, deciding: readonly SubscriptionSummary[]): PricedItems {
  if (!followsPrice(book)) return { items: book.terms!.items, unknown: [] }
  const named = [...new Set(deciding.map(({ price }) => price))]
  const prices = named.filter((price) => price !== null).sort(compareText)
  const unknown = prices.filter((price) => itemsOfPrice(book, price) === undefined)
  const untold = named.length === 0 || named.includes(null)
  return {
    items: together(prices.flatMap((price) => itemsOfPrice(book, price) ?? [])),
    unknown: untold ? [null, ...unknown] : unknown,
  }
}

/** Where two prices give one item, the order gives the larger of both. */
function together(lines: readonly OrderItem[]): OrderItem[] {
  const items = new Map<string, OrderItem>()
  for (const line of lines) {
    const other = items.get(line.item)
    if (other === undefined || other.quantity < line.quantity) items.set(line.item, line)
  }
  return [...items.values()].sort((a, b) => compareText(a.item, b.item))
}

/**
 * What becomes of the rights that stand and that no known price names: they follow the order while a price is unknown, so
 * that an end needs no price, and stay while a subscription contradicts itself. Undefined where all is known.
 */
export function restOf(
  book: OrderBook,
  { unknown }: PricedItems,
  state: EntitlementState | 'held',
  some_held: boolean,
): EntitlementState | 'held' | undefined {
  if (!followsPrice(book)) return undefined
  if (some_held) return 'held'
  return unknown.length > 0 ? state : undefined
}

/** One for each price that something is to be given for and that nobody knows the items of. */
export function unmappedPrices(
  reference: string,
  { unknown }: PricedItems,
  deciding: readonly SubscriptionSummary[],
): ExceptionDue[] {
  return unknown.map((price) => {
    if (price === null) {
      const message = `Order ${reference} gives what the price of its subscription gives, and no message tells one. Nothing is granted for it, and what the order gave stays: find out at the provider what was bought.`
      return raise('unmapped_event', '-', 'urgent', message, UNKNOWN_ORDER_ALERT_AFTER_MS)
    }
    const ids = deciding.filter((subscription) => subscription.price === price).map(({ id }) => id)
    const message = `Subscription ${ids.sort(compareText).join(', ')} of order ${reference} has price ${price}, which the catalogue does not know. Nothing is granted for it, and what the order gave stays: add ${price} to \`catalogue\` in the options and start again; what waits then runs by itself.`
    return raise('unmapped_event', price, 'urgent', message)
  })
}
