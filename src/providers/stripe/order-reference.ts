import { cleanText, fieldIn } from '../field.ts'

/** Where our order reference stands in Stripe's objects, and what one of ours looks like. */
export interface OrderReferenceOption {
  /** Metadata key that we set when creating the session or payment. Default `order_id`. */
  readonly metadataKey?: string
  /**
   * Whether a Checkout Session's `client_reference_id` is the order reference where its metadata has none. Default
   * true; set it to false when it holds something else, such as a customer id.
   */
  readonly clientReferenceId?: boolean
  /** What our references look like, for example `/^ORD-\d+$/`. References that do not match are another system's. */
  readonly pattern?: RegExp
}

export interface OrderReference {
  /** Ours, or undefined. */
  readonly order: string | undefined
  /** True when there is a reference, and every one found is another system's. */
  readonly foreign: boolean
}

/** Finds our order reference in the metadata of `objects` (the first that has one), then in a client reference id. */
export function orderReference(
  option: OrderReferenceOption,
  objects: readonly unknown[],
  clientReferenceId?: unknown,
): OrderReference {
  const key = option.metadataKey ?? 'order_id'
  const found = objects.map((object) => cleanText(fieldIn(object, 'metadata', key)))
  if (option.clientReferenceId !== false) found.push(cleanText(clientReferenceId))
  const references = found.filter((reference) => reference !== undefined)
  const order = references.find((reference) => isOurs(option.pattern, reference))
  return { order, foreign: order === undefined && references.length > 0 }
}

function isOurs(pattern: RegExp | undefined, reference: string): boolean {
  // A new object each time: a global or sticky pattern remembers where it stopped.
  return (
    pattern === undefined || new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, '')).test(reference)
  )
}
