import type { FactOf } from './fact.ts'
import type { OrderItem } from './order.ts'
import type { OrderSubject } from './subject.ts'

/** "Whoever pays price_1 for this order gets these items." Taken from the catalogue once and pinned, whatever it says later. */
export interface PriceItems {
  /** The provider's id of the price. */
  readonly price: string
  readonly items: readonly OrderItem[]
}

export function priceItems(subject: OrderSubject, content: PriceItems): FactOf<'price_items'> {
  return { subject, key: `price/${content.price}`, kind: 'price_items', content }
}
