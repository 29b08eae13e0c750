import type { EntitlementState } from '../facts/entitlement.ts'
import type { Sums } from './order-sums.ts'
import { POLICY_OUTCOME, type Policy } from './policy.ts'

/** How much each cause took of what was due; money beyond it (surplus) is nobody's loss. */
export interface Shortfall {
  readonly refunded_minor: bigint
  readonly reversed_minor: bigint
  readonly lost_minor: bigint
  readonly disputed_minor: bigint
}

/**
 * Lays what went back against the surplus first. Refunds come first, since a surplus is what people refund; then
 * reversals, lost and open disputes. What the surplus does not cover is missing from what was due.
 */
export function shortfallOf(sums: Sums, due_minor: bigint): Shortfall {
  let surplus = sums.captured_minor - due_minor
  const missing = (amount: bigint): bigint => {
    const covered = surplus <= 0n ? 0n : amount < surplus ? amount : surplus
    surplus -= covered
    return amount - covered
  }
  return {
    refunded_minor: missing(sums.refunded_minor),
    reversed_minor: missing(sums.reversed_minor),
    lost_minor: missing(sums.lost_minor),
    disputed_minor: missing(sums.disputed_minor),
  }
}

const SEVERITY: Readonly<Record<EntitlementState, number>> = {
  granted: 0,
  none: 1,
  expired: 1,
  suspended: 2,
  revoked: 3,
}

/**
 * What an order that was once paid in full still gives. Each cause that took something of what was due has its say by
 * the pinned policy, and the strictest one wins (revoked over suspended over granted):
 *
 * | what took it            | all is gone (net <= 0) | a part is left         |
 * |-------------------------|------------------------|------------------------|
 * | nothing                 | -                      | granted                |
 * | refund                  | `full_refund`          | `partial_refund`       |
 * | dispute, lost           | `dispute_lost`         | `partial_refund`: access follows what stays paid |
 * | bank reversal           | `late_reversal`        | `late_reversal`        |
 * | chargeback, undecided   | `dispute_opened`       | `dispute_opened`       |
 *
 * So a refund of everything and then a dispute stays revoked, and an open dispute beside a kept partial refund suspends.
 */
export function entitlementOf(sums: Sums, due_minor: bigint, policy: Policy): EntitlementState {
  if (sums.net_minor - sums.disputed_minor >= due_minor) return 'granted'
  const missing = shortfallOf(sums, due_minor)
  const all_gone = sums.net_minor <= 0n
  const said: EntitlementState[] = []
  if (missing.refunded_minor > 0n)
    said.push(POLICY_OUTCOME[all_gone ? policy.full_refund : policy.partial_refund])
  if (missing.lost_minor > 0n)
    said.push(POLICY_OUTCOME[all_gone ? policy.dispute_lost : policy.partial_refund])
  if (missing.reversed_minor > 0n) said.push(POLICY_OUTCOME[policy.late_reversal])
  if (missing.disputed_minor > 0n) said.push(POLICY_OUTCOME[policy.dispute_opened])
  return said.reduce<EntitlementState>(
    (strictest, state) => (SEVERITY[state] > SEVERITY[strictest] ? state : strictest),
    'granted',
  )
}
