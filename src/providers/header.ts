import type { Delivery } from './contract.ts'

/** All lines of one header. */
export function headerLines(delivery: Delivery, name: string): readonly string[] {
  const value = delivery.headers[name]
  if (value === undefined) return []
  return typeof value === 'string' ? [value] : value
}

/**
 * The value of a header that must stand exactly once.
 * @returns undefined when it is missing, null when it is repeated
 */
export function singleHeader(delivery: Delivery, name: string): string | undefined | null {
  const lines = headerLines(delivery, name)
  return lines.length > 1 ? null : lines[0]
}
