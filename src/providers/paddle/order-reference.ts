import { cleanText, fieldIn } from '../field.ts'
import { matchesPattern } from '../reference-pattern.ts'

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

export interface OrderReference {
  /** Ours, or undefined. */
  readonly order: string | undefined
  /** True when there is a reference and it is another system's. */
  readonly foreign: boolean
}

/** Finds our order reference in the `custom_data` of a transaction or subscription. */
export function orderReference(option: OrderReferenceOption, object: unknown): OrderReference {
  const found = cleanText(fieldIn(object, 'custom_data', option.customDataKey ?? 'order_id'))
  const ours = found !== undefined && matchesPattern(option.pattern, found)
  return { order: ours ? found : undefined, foreign: found !== undefined && !ours }
}
