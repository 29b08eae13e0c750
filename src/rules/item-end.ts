import type { OrderItem } from '../facts/order.ts'
import { earliest, instantOf } from './instant.ts'
import type { OrderStanding } from './order-standing.ts'

/** When the price was complete, by the provider's clock: the moment of the payment that completed it. Null where nobody told. */
export function paidAt({ payments, ruling }: OrderStanding): string | null {
  let captured = 0n
  let last: string | null = null
  for (const payment of payments.timely) {
    captured += ruling.accepted(payment) ? ruling.due_minor : payment.captured_minor
    last = payment.moved_at ?? last
    if (captured >= ruling.due_minor && (payment.captured_minor > 0n || payment.status === 'succeeded')) {
      return payment.moved_at ?? last
    }
  }
  return last
}

/** When an item that was paid for at `paid_at` ends; null for never. */
export function itemEnd(item: OrderItem, paid_at: string | null): string | null {
  const { valid_for_ms, valid_until } = item
  const lasts = valid_for_ms === undefined ? null : afterwards(paid_at, valid_for_ms)
  return earliest([valid_until, lasts])
}

/** So long after a time; null where the time is not known or not readable, or the end beyond all calendars. */
export function afterwards(time: string | null, later_ms: number): string | null {
  const end_ms = instantOf(time) + later_ms
  return Math.abs(end_ms) <= LAST_INSTANT_MS ? new Date(end_ms).toISOString() : null
}

/** Of a JavaScript date. */
const LAST_INSTANT_MS = 8.64e15

export function hasEnded(end: string | null, as_of: string): boolean {
  return end !== null && instantOf(as_of) >= instantOf(end)
}
