import { paidAt } from './item-end.ts'
import type { OrderStanding } from './order-standing.ts'

/**
 * How many of the credits that a whole price buys are still paid for: refunds, lost and open disputes, reinstatements
 * and reversals are one sum. Derived from what stays paid and never added on arrival, so nothing is counted twice.
 */
export function creditsOf(quantity: number, standing: OrderStanding): number {
  const { timely, terms, ruling, paid_in_full, covered } = standing
  if (!paid_in_full) return 0
  const withheld_minor = terms.policy.dispute_opened === 'keep' ? 0n : timely.disputed_minor
  const kept_minor = timely.net_minor - withheld_minor
  const due_minor = ruling.due_minor
  if (kept_minor >= due_minor || (covered && withheld_minor === 0n)) return quantity
  return kept_minor <= 0n ? 0 : Number((BigInt(quantity) * kept_minor) / due_minor)
}

/** The most that a row can hold. */
const MOST_CREDITS = 2_147_483_647

/**
 * The credits of every purchase together.
 * @param lives whether credits that were paid for at that time are not over yet
 */
export function creditsTogether(
  quantity: number,
  standings: readonly OrderStanding[],
  lives: (paid_at: string | null) => boolean,
): number {
  const total = standings
    .filter((standing) => lives(paidAt(standing)))
    .reduce((sum, standing) => sum + creditsOf(quantity, standing), 0)
  return Math.min(total, MOST_CREDITS)
}
