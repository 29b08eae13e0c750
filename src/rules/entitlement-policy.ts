import type { EntitlementState } from '../facts/entitlement.ts'
import { instantOf } from './instant.ts'
import { afterwards } from './item-end.ts'
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

/** One cause that has a say about what an order still gives. */
export interface PolicyVerdict {
  readonly option: keyof Policy
  readonly state: EntitlementState
  /** The policy wants a person to look at it. */
  readonly review: boolean
  /** When time alone will change it; null for never. */
  readonly until: string | null
}

/** What an order that was once paid in full still gives: the strictest verdict wins (revoked over suspended over granted). */
export function entitlementOf(
  sums: Sums,
  due_minor: bigint,
  policy: Policy,
  as_of = '9999-12-31T00:00:00Z',
): EntitlementState {
  return strictest(verdictsOf(sums, due_minor, policy, as_of))
}

export function strictest(verdicts: readonly PolicyVerdict[]): EntitlementState {
  return verdicts.reduce<EntitlementState>(
    (worst, { state }) => (SEVERITY[state] > SEVERITY[worst] ? state : worst),
    'granted',
  )
}

/**
 * Each cause that took something of what was due, or may, has its say by the pinned policy:
 *
 * | what took it                | all is gone (net <= 0) | a part is left         |
 * |-----------------------------|------------------------|------------------------|
 * | refund                      | `full_refund`          | `partial_refund`       |
 * | refund that prevented a dispute | `dispute_prevented`; by default as any refund   |
 * | refund made outside         | `external_refund`; by default as any refund     |
 * | dispute, lost               | `dispute_lost`         | `partial_refund`: access follows what stays paid |
 * | dispute, decided in part    | `dispute_partial`; by default as a lost part    |
 * | bank reversal               | `late_reversal`, after its grace                |
 * | chargeback, undecided       | `dispute_opened`       | `dispute_opened`       |
 *
 * What took nothing yet, or gave it back, is weighed by itself: it has a say where what was due would be missing without
 * that money (`refund_pending`, `early_warning`, `inquiry`, `dispute_won`, `refund_failed`). So a refund of everything and
 * then a dispute stays revoked, an open dispute beside a kept partial refund suspends, and nothing that concerns a surplus
 * alone has a say at all.
 */
export function verdictsOf(sums: Sums, due_minor: bigint, policy: Policy, as_of: string): PolicyVerdict[] {
  const missing = shortfallOf(sums, due_minor)
  return [
    ...refundVerdicts(sums, missing, due_minor, policy),
    ...disputeVerdicts(sums, missing, due_minor, policy),
    ...reversalVerdict(sums, missing, policy, as_of),
    ...openVerdicts(sums, due_minor, policy),
  ]
}

type Words = keyof typeof POLICY_OUTCOME

function verdict(option: keyof Policy, said: Words, until: string | null = null): PolicyVerdict {
  return { option, state: POLICY_OUTCOME[said], review: said === 'review', until }
}

/** What is gone for good, as refund or by a dispute, follows one option for all of it and one for a part. */
function goneVerdict(
  sums: Sums,
  missing: Shortfall,
  due_minor: bigint,
  policy: Policy,
  all: 'full_refund' | 'dispute_lost',
): PolicyVerdict {
  if (sums.net_minor <= 0n) return verdict(all, policy[all])
  const { partial_refund } = policy
  if (typeof partial_refund !== 'number') return verdict('partial_refund', partial_refund)
  const gone_minor = missing.refunded_minor + missing.lost_minor
  const reached = gone_minor * 10_000n >= BigInt(partial_refund) * due_minor
  return verdict('partial_refund', reached ? 'revoke' : 'keep')
}

function refundVerdicts(sums: Sums, missing: Shortfall, due_minor: bigint, policy: Policy): PolicyVerdict[] {
  let plain = missing.refunded_minor
  const verdicts: PolicyVerdict[] = []
  const aside = (amount: bigint, option: 'dispute_prevented' | 'external_refund', said: Words) => {
    const taken = least(amount, plain)
    if (taken === 0n) return
    plain -= taken
    verdicts.push(verdict(option, said))
  }
  const { dispute_prevented, external_refund } = policy
  if (dispute_prevented !== 'as_refund') aside(sums.prevented_minor, 'dispute_prevented', dispute_prevented)
  if (external_refund !== 'as_own') aside(sums.external_minor, 'external_refund', external_refund)
  if (plain > 0n) verdicts.push(goneVerdict(sums, missing, due_minor, policy, 'full_refund'))
  return verdicts
}

function disputeVerdicts(sums: Sums, missing: Shortfall, due_minor: bigint, policy: Policy): PolicyVerdict[] {
  const verdicts: PolicyVerdict[] = []
  const in_part = policy.dispute_partial === 'review' ? least(sums.partly_lost_minor, missing.lost_minor) : 0n
  if (in_part > 0n) verdicts.push(verdict('dispute_partial', 'review'))
  if (missing.lost_minor > in_part)
    verdicts.push(goneVerdict(sums, missing, due_minor, policy, 'dispute_lost'))
  if (missing.disputed_minor > 0n) verdicts.push(verdict('dispute_opened', policy.dispute_opened))
  return verdicts
}

function reversalVerdict(sums: Sums, missing: Shortfall, policy: Policy, as_of: string): PolicyVerdict[] {
  if (missing.reversed_minor === 0n) return []
  // Where nobody tells when, there is nothing to count from, and an unknown time must not keep access.
  const end = sums.reversed_at === null ? null : afterwards(sums.reversed_at, policy.late_reversal_grace_ms)
  const in_grace = end !== null && instantOf(as_of) < instantOf(end)
  return [in_grace ? verdict('late_reversal', 'keep', end) : verdict('late_reversal', policy.late_reversal)]
}

/** Money that has not gone, or came back: each cause by itself. */
function openVerdicts(sums: Sums, due_minor: bigint, policy: Policy): PolicyVerdict[] {
  const left = sums.net_minor - sums.disputed_minor
  const concerns = (amount: bigint) => amount > 0n && left - amount < due_minor
  const took = policy.dispute_opened !== 'keep'
  const verdicts: PolicyVerdict[] = []
  const say = (option: keyof Policy, amount: bigint, said: Words) => {
    if (POLICY_OUTCOME[said] !== 'granted' && concerns(amount)) verdicts.push(verdict(option, said))
  }
  say('refund_pending', sums.refund_pending_minor, policy.refund_pending)
  say('early_warning', sums.early_warning_minor, policy.early_warning)
  say('inquiry', sums.inquiry_minor, policy.inquiry)
  say('dispute_won', took ? sums.won_minor : 0n, policy.dispute_won)
  say('refund_failed', sums.returned_minor, policy.refund_failed)
  return verdicts
}

function least(a: bigint, b: bigint): bigint {
  return a < b ? a : b
}
