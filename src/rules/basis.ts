import { hash } from 'node:crypto'
import { compareText } from './instant.ts'
import type { OrderBook } from './order-state.ts'
import type { PaymentSummary } from './payment-state.ts'

/**
 * A digest of everything that a decision about an order can rest on: its terms, whether it is closed, and the sums of its
 * payments. Decisions themselves are left out, so that one does not call the other into question.
 */
export function orderBasis(
  book: Pick<OrderBook, 'terms' | 'closed'>,
  payments: readonly PaymentSummary[],
): string {
  const seen = payments
    .filter((payment) => payment.status !== 'linked')
    .map((payment) => text(payment))
    .sort(compareText)
  const { terms, closed } = book
  return hash('sha256', [text(terms), text(closed), ...seen].join('\n')).slice(0, 16)
}

/** Names sorted: a database gives them back in an order of its own. */
function text(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(text).join(',')}]`
  if (typeof value !== 'object' || value === null)
    return typeof value === 'bigint' ? `"${value}"` : JSON.stringify(value ?? null)
  const entries = Object.entries(value).sort(([a], [b]) => compareText(a, b))
  return `{${entries.map(([name, entry]) => `${name}:${text(entry)}`).join(',')}}`
}
