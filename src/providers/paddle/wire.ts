import type { JsonRecord } from '../field.ts'

/**
 * Turns an object of the official SDK back into the names that Paddle sends (`customerId` to `customer_id`), so that
 * webhooks and look-ups are read by the same code. What merchants store (`customData`) keeps its own names.
 */
export function toWire(entity: object): JsonRecord {
  return Object.fromEntries(
    Object.entries(entity).map(([name, value]) => [
      name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      name === 'customData' ? value : wireValue(value),
    ]),
  )
}

function wireValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(wireValue)
  return typeof value === 'object' && value !== null ? toWire(value) : value
}
