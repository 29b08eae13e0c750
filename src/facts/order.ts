import type { FactOf } from './fact.ts'
import type { OrderSubject } from './subject.ts'

/** One line of what the buyer gets. */
export interface OrderItem {
  /** The merchant's own name of the right that is given, for example `licence:pro`. */
  readonly item: string
  readonly quantity: number
}

/** "Order A-17 costs 19.99 USD and gives these items." Pinned when it is registered; policy is pinned with it. */
export interface OrderTerms {
  /** The exact amount asked for at checkout, minor units of `currency`. */
  readonly amount_minor: bigint
  readonly currency: string
  readonly items: readonly OrderItem[]
  /** Money that moved after this time does not fulfil the order by itself. ISO 8601 UTC. */
  readonly expires_at?: string | undefined
  /** Only money of this provider account fulfils the order, where set. */
  readonly account?: string | undefined
  /** Names of policy options that differ from the defaults, as `rules/policy.ts` defines them. */
  readonly policy?: Readonly<Record<string, string | number | boolean>> | undefined
}

/** "The merchant closed order A-17." */
export interface OrderClosed {
  readonly how: 'canceled' | 'expired'
  readonly by: 'timer' | 'person' | 'system'
  readonly at: string
}

export function orderTerms(subject: OrderSubject, content: OrderTerms): FactOf<'order_terms'> {
  return { subject, key: 'terms', kind: 'order_terms', content }
}

export function orderClosed(subject: OrderSubject, content: OrderClosed): FactOf<'order_closed'> {
  return { subject, key: `closed/${content.how}`, kind: 'order_closed', content }
}
