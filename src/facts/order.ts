import type { FactOf } from './fact.ts'
import type { OrderSubject } from './subject.ts'

/** One line of what the buyer gets. */
export interface OrderItem {
  /** The merchant's own name of the right that is given, for example `licence:pro`. */
  readonly item: string
  readonly quantity: number
  /** What is counted and used up: as many as the money that stays paid buys, `quantity` for the whole price. */
  readonly credits?: boolean | undefined
  /** Ends so long after the money that paid for it moved, milliseconds. */
  readonly valid_for_ms?: number | undefined
  /** Ends at this time. ISO 8601 UTC. */
  readonly valid_until?: string | undefined
}

/** What is paid again for each period, as long as a subscription at the provider lives. */
export interface Recurring {
  /** How long access outlasts a period that is not paid yet, milliseconds; left out: the policy `past_due_grace_ms`. */
  readonly grace_ms?: number | undefined
  /** What the order gives follows the price that its subscription names now, by the catalogue; the terms then name no items. */
  readonly by_price?: boolean | undefined
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
  /** The amount is asked for each period, and what the order gives lasts as long as its subscription. */
  readonly recurring?: Recurring | undefined
  /** The merchant's own id of who gets the items; what several orders give to one holder is one right. Never a name or an address. */
  readonly holder?: string | undefined
  /** Names of policy options that differ from the defaults, as `rules/policy.ts` defines them. */
  readonly policy?: Readonly<Record<string, string | number | boolean | bigint>> | undefined
  /** What the installation's own policy said when the order was registered. Written by settling, never by whoever registers. */
  readonly pinned?: Readonly<Record<string, string | number | boolean | bigint>> | undefined
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
