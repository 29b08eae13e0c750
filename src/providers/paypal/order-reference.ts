import { cleanText } from '../field.ts'

/** Where our order reference stands. */
export interface OrderReferenceOption {
  /**
   * Which field holds it: `invoice_id` (`invoice` in IPN, `invoice_number` in payments v1) or `custom_id` (`custom`).
   * Default: the invoice id, else the custom id.
   */
  readonly field?: 'invoice_id' | 'custom_id' | undefined
  /** What our references look like; others count as absent. */
  readonly pattern?: RegExp | undefined
}

/** The first of the two fields that holds a reference of ours. */
export function orderReference(
  option: OrderReferenceOption,
  invoice: unknown,
  custom: unknown,
): string | undefined {
  const fields = [
    option.field === 'custom_id' ? [] : [invoice],
    option.field === 'invoice_id' ? [] : [custom],
  ]
  return fields
    .flat()
    .map(cleanText)
    .find((reference) => reference !== undefined && isOurs(option.pattern, reference))
}

function isOurs(pattern: RegExp | undefined, reference: string): boolean {
  // A new object each time: a global or sticky pattern remembers where it stopped.
  return (
    pattern === undefined || new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, '')).test(reference)
  )
}
