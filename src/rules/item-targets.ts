import type { EntitlementState, EntitlementTarget } from '../facts/entitlement.ts'
import type { OrderItem } from '../facts/order.ts'
import { creditsTogether } from './credits.ts'
import { hasEnded, itemEnd, paidAt } from './item-end.ts'
import type { OrderStanding } from './order-standing.ts'
import { POLICY_OUTCOME } from './policy.ts'

/** What the items of an order are derived from. */
export interface ItemBasis {
  readonly items: readonly OrderItem[]
  /** What an item without an end of its own gives. */
  readonly state: EntitlementState | 'held'
  /** What credits give once none are left. */
  readonly spent: EntitlementState | 'held'
  /** A person decided that everything stays given. */
  readonly kept: boolean
  /** The purchases that paid for the items: an order's one, or each period of a recurring order. First by when they were paid. */
  readonly standings: readonly OrderStanding[]
}

export interface ItemTargets {
  readonly entitlements: readonly EntitlementTarget[]
  /** When time alone will change one of them. */
  readonly wakeups: readonly string[]
}

/** One target per item; what each gives may end by itself, or be as many as are still paid for. */
export function itemTargets(basis: ItemBasis, as_of: string): ItemTargets {
  const wakeups: string[] = []
  const entitlements = basis.items.map((item) => {
    if (item.credits) return creditTarget(item, basis, as_of, wakeups)
    return { item: item.item, quantity: item.quantity, state: stateOf(item, basis, as_of, wakeups) }
  })
  return { entitlements, wakeups }
}

function stateOf(
  item: OrderItem,
  { state, kept, standings }: ItemBasis,
  as_of: string,
  wakeups: string[],
): ItemBasis['state'] {
  if (kept || (state !== 'granted' && state !== 'suspended')) return state
  const last = standings.findLast((standing) => standing.paid_in_full)
  const end = itemEnd(item, last === undefined ? null : paidAt(last))
  if (hasEnded(end, as_of)) return 'expired'
  if (end !== null) wakeups.push(end)
  return state
}

function creditTarget(
  line: OrderItem,
  { spent, kept, standings }: ItemBasis,
  as_of: string,
  wakeups: string[],
): EntitlementTarget {
  const { item, quantity } = line
  const bought = standings.filter((standing) => standing.paid_in_full)
  if (kept) return { item, quantity: Math.max(1, bought.length) * quantity, state: 'granted' }
  if (spent === 'held') return { item, quantity, state: 'held' }
  if (bought.length === 0) return { item, quantity, state: 'none' }
  let ended = 0
  const left = creditsTogether(quantity, bought, (paid_at) => {
    const end = itemEnd(line, paid_at)
    if (hasEnded(end, as_of)) {
      ended += 1
      return false
    }
    if (end !== null) wakeups.push(end)
    return true
  })
  if (left > 0) return { item, quantity: left, state: 'granted' }
  if (ended === bought.length) return { item, quantity: 0, state: 'expired' }
  return { item, quantity: 0, state: spent === 'granted' || spent === 'none' ? POLICY_OUTCOME.revoke : spent }
}
