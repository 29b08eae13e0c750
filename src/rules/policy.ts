import type { EntitlementState } from '../facts/entitlement.ts'

/**
 * What a merchant may decide about the meaning of money. The defaults are in `DEFAULT_POLICY`; an order pins the
 * policy that holds when its terms are registered. Issue by issue, more options are added here and read by the rules.
 */
export interface Policy {
  /** A refund gave everything back. */
  readonly full_refund: 'revoke' | 'keep'
  /** A refund gave a part back. */
  readonly partial_refund: 'keep' | 'revoke'
  /** A chargeback opened and its money was withdrawn. */
  readonly dispute_opened: 'suspend' | 'keep' | 'revoke'
  /** A chargeback was decided against us. */
  readonly dispute_lost: 'revoke' | 'keep'
  /** A bank took the money back after success. */
  readonly late_reversal: 'suspend' | 'revoke' | 'keep'
  /** How long access outlasts a period that the buyer has not paid yet, milliseconds. */
  readonly past_due_grace_ms: number
  /** A subscription was ended, and the period that was paid for lies ahead. */
  readonly subscription_canceled: 'end_of_period' | 'at_once'
  /** How long money for an order that nobody registered may wait before a person is told, milliseconds. */
  readonly unknown_order_alert_after_ms: number
}

export const DEFAULT_POLICY: Policy = {
  full_refund: 'revoke',
  partial_refund: 'keep',
  dispute_opened: 'suspend',
  dispute_lost: 'revoke',
  late_reversal: 'suspend',
  past_due_grace_ms: 259_200_000,
  subscription_canceled: 'end_of_period',
  unknown_order_alert_after_ms: 600_000,
}

/** The allowed values of each option; a duration is any whole number of milliseconds from 0 up. */
const OPTIONS: { readonly [K in keyof Policy]: readonly Policy[K][] | 'duration_ms' } = {
  full_refund: ['revoke', 'keep'],
  partial_refund: ['keep', 'revoke'],
  dispute_opened: ['suspend', 'keep', 'revoke'],
  dispute_lost: ['revoke', 'keep'],
  late_reversal: ['suspend', 'revoke', 'keep'],
  past_due_grace_ms: 'duration_ms',
  subscription_canceled: ['end_of_period', 'at_once'],
  unknown_order_alert_after_ms: 'duration_ms',
}

export type PolicyOverrides = Readonly<Record<string, string | number | boolean>>

/** What a policy's answer makes of an item's right. */
export const POLICY_OUTCOME: Readonly<Record<'keep' | 'suspend' | 'revoke', EntitlementState>> = {
  keep: 'granted',
  suspend: 'suspended',
  revoke: 'revoked',
}

/**
 * The policy with these options in place of the defaults, or what is wrong with the first one that is unknown or has a
 * value that it cannot take. For registering terms, which refuses them then.
 */
export function resolvePolicy(overrides: PolicyOverrides): { policy: Policy } | { problem: string } {
  for (const [option, value] of Object.entries(overrides)) {
    const problem = problemOf(option, value)
    if (problem !== null) return { problem }
  }
  return { policy: readPolicy(overrides) }
}

/** For terms that were registered by another release: an option that this one does not know leaves the default. */
export function readPolicy(overrides: PolicyOverrides): Policy {
  const valid = Object.entries(overrides).filter(([option, value]) => problemOf(option, value) === null)
  return { ...DEFAULT_POLICY, ...(Object.fromEntries(valid) as Partial<Policy>) }
}

function problemOf(option: string, value: string | number | boolean): string | null {
  if (!Object.hasOwn(OPTIONS, option)) {
    return `There is no policy option "${option}". Known ones: ${Object.keys(OPTIONS).join(', ')}.`
  }
  const allowed = OPTIONS[option as keyof Policy]
  if (allowed === 'duration_ms') {
    return Number.isSafeInteger(value) && Number(value) >= 0
      ? null
      : `Policy option "${option}" takes a whole number of milliseconds from 0 up, not ${JSON.stringify(value)}.`
  }
  return (allowed as readonly unknown[]).includes(value)
    ? null
    : `Policy option "${option}" takes ${allowed.join(', ')}, not ${JSON.stringify(value)}.`
}
