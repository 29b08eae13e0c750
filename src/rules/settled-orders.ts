import { compareText } from './instant.ts'

/**
 * The orders that a subscription settles: those that its own newest statement names, or else the one that its payments
 * name (the first of them often does, and the renewals do not). Where they name several, each period has an order of its
 * own and the subscription settles none.
 * @param payments what each payment that names the subscription says of its order
 */
export function settledOrders(
  orders_now: readonly string[],
  payments: Iterable<readonly string[]>,
): readonly string[] {
  if (orders_now.length > 0) return orders_now
  const named = [...new Set([...payments].flat())]
  return named.length === 1 ? named : []
}

/**
 * The orders that a payment counts for: those that it names itself, or else those that its subscriptions settle.
 * @param subscriptions what each subscription that the payment names settles
 */
export function paidOrders(
  orders_named: readonly string[],
  subscriptions: Iterable<readonly string[]>,
): readonly string[] {
  if (orders_named.length > 0) return orders_named
  return [...new Set([...subscriptions].flat())].sort(compareText)
}
