import { fieldIn } from '../field.ts'
import type { NamedOrder } from '../order-candidates.ts'
import { namedOrder } from '../order-candidates.ts'

/** Where our order reference stands in Paddle's objects, and what one of ours looks like. */
export interface OrderReferenceOption {
  /**
   * Key in `custom_data`, which you set on the transaction or through the checkout's `customData`. Default `order_id`.
   * In a checkout that the browser opens, the buyer can alter it.
   */
  readonly customDataKey?: string
  /** What our references look like, for example `/^ORD-\d+$/`. References that do not match are another system's. */
  readonly pattern?: RegExp
}

/** Finds our order reference in the `custom_data` of a transaction or subscription. */
export function orderReference(option: OrderReferenceOption, object: unknown): NamedOrder {
  return namedOrder(option.pattern, [fieldIn(object, 'custom_data', option.customDataKey ?? 'order_id')])
}
