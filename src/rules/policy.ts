import type { EntitlementState } from '../facts/entitlement.ts'
import { type Accepts, POLICY_GUIDE } from './policy-guide.ts'

/**
 * What a merchant may decide about the meaning of money. The defaults are in `DEFAULT_POLICY`; an installation may set
 * its own (`policy` in its options), and each order, when it is registered. The order pins what holds then: a later
 * change of the options moves no order that is registered. What people decide about an order outranks all of it.
 */
export interface Policy {
  /** Refunds gave everything back. Default `revoke`. */
  readonly full_refund: 'revoke' | 'keep'
  /**
   * Refunds (or a dispute that was lost) took a part of the price. Default `keep`. A number is a share of the price in
   * basis points, 1 to 10,000: revoke once so much of it is gone.
   */
  readonly partial_refund: 'keep' | 'revoke' | number
  /** Refunds are asked for and not decided yet. Default `keep`. */
  readonly refund_pending: 'keep' | 'suspend'
  /** A refund that had succeeded failed or was reversed: the money is ours again. Default `restore`. */
  readonly refund_failed: 'restore' | 'review'
  /** A refund was made outside, in the provider's dashboard. Default `as_own`: like one of ours. */
  readonly external_refund: 'as_own' | 'review'
  /** An early fraud warning is open; no money has moved. Default `keep`. */
  readonly early_warning: 'keep' | 'suspend'
  /** An inquiry (a retrieval, a request for information) is open; no money has moved. Default `keep`. */
  readonly inquiry: 'keep' | 'suspend'
  /** A chargeback opened and its money was withdrawn. Default `suspend`. */
  readonly dispute_opened: 'suspend' | 'keep' | 'revoke'
  /** A chargeback was decided against us. Default `revoke`. */
  readonly dispute_lost: 'revoke' | 'keep'
  /** A chargeback was decided for us. Default `restore`. `review` concerns only access that `dispute_opened` took. */
  readonly dispute_won: 'restore' | 'review'
  /** A chargeback was decided in part. Default `by_remainder`: as a refund of the lost part. */
  readonly dispute_partial: 'by_remainder' | 'review'
  /** A dispute was prevented by giving the money back. Default `as_refund`: as any refund, it is no fraud. */
  readonly dispute_prevented: 'as_refund' | 'revoke' | 'keep'
  /** A bank took the money back after success. Default `suspend`. */
  readonly late_reversal: 'suspend' | 'revoke' | 'keep'
  /** How long after that, by the provider's clock, access stays, milliseconds. Default 0. */
  readonly late_reversal_grace_ms: number
  /** There is more money than was asked for. Default `review`: a person decides; `refund`: it is given back by itself. */
  readonly surplus: 'review' | 'refund'
  /** Money moved after the order was closed or had expired. Default `review`. `reopen` does so unless a person closed it. */
  readonly paid_after_close: 'review' | 'reopen' | 'refund'
  /** How long what an automatic refund rests on has to stand before it is sent, milliseconds. Default one hour. */
  readonly automatic_refund_after_ms: number
  /** The largest automatic refund, minor units of the order's currency; more waits for a person. Default null: no limit. */
  readonly automatic_refund_max_minor: bigint | null
  /** So much too little or too much counts as exact, minor units of the order's currency. Default 0. */
  readonly tolerance_minor: bigint
  /** Less came than was asked for. Default `hold`: nothing is given; `grant`: any money gives what the order gives. */
  readonly partial_payments: 'hold' | 'grant'
  /** How long access outlasts a period that the buyer has not paid yet, milliseconds. */
  readonly past_due_grace_ms: number
  /** A subscription was ended, and the period that was paid for lies ahead. */
  readonly subscription_canceled: 'end_of_period' | 'at_once'
}

export const DEFAULT_POLICY: Policy = {
  full_refund: 'revoke',
  partial_refund: 'keep',
  refund_pending: 'keep',
  refund_failed: 'restore',
  external_refund: 'as_own',
  early_warning: 'keep',
  inquiry: 'keep',
  dispute_opened: 'suspend',
  dispute_lost: 'revoke',
  dispute_won: 'restore',
  dispute_partial: 'by_remainder',
  dispute_prevented: 'as_refund',
  late_reversal: 'suspend',
  late_reversal_grace_ms: 0,
  surplus: 'review',
  paid_after_close: 'review',
  automatic_refund_after_ms: 3_600_000,
  automatic_refund_max_minor: null,
  tolerance_minor: 0n,
  partial_payments: 'hold',
  past_due_grace_ms: 259_200_000,
  subscription_canceled: 'end_of_period',
}

/** Options as an order's terms carry them: those that differ from the defaults, by name. */
export type PolicyOverrides = Readonly<Record<string, string | number | boolean | bigint>>

/** Amounts make sense only with their currency, so an installation sets them for each. */
type AmountOption = 'automatic_refund_max_minor' | 'tolerance_minor'
const AMOUNT_OPTIONS: readonly AmountOption[] = ['automatic_refund_max_minor', 'tolerance_minor']

/** The policy of an installation, for orders that say nothing else. */
export type PolicyOptions = Partial<Omit<Policy, AmountOption>> & {
  /** By currency, minor units. */
  readonly [K in AmountOption]?: Readonly<Record<string, bigint>>
}

/** What a policy's answer makes of an item's right. Where a person is to review it, it is suspended until they decide. */
export const POLICY_OUTCOME: Readonly<
  Record<'keep' | 'restore' | 'suspend' | 'review' | 'revoke', EntitlementState>
> = {
  keep: 'granted',
  restore: 'granted',
  suspend: 'suspended',
  review: 'suspended',
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
  return valid.length === 0
    ? DEFAULT_POLICY
    : { ...DEFAULT_POLICY, ...(Object.fromEntries(valid) as Partial<Policy>) }
}

/** What is wrong with an installation's options; null when nothing is. */
export function policyProblem(options: PolicyOptions): string | null {
  for (const [option, value] of Object.entries(options)) {
    if (value === undefined) continue
    if (!isAmountOption(option)) {
      const problem = problemOf(option, value as PolicyOverrides[string])
      if (problem !== null) return problem
      continue
    }
    if (typeof value !== 'object')
      return `Policy option "${option}" takes amounts by currency, such as { EUR: 5n }.`
    for (const [currency, amount] of Object.entries(value)) {
      if (!/^[A-Z0-9]{3,12}$/.test(currency))
        return `Policy option "${option}" names currencies in upper case, not ${JSON.stringify(currency)}.`
      const problem = problemOf(option, amount)
      if (problem !== null) return problem
    }
  }
  return null
}

/** What an installation's options say for an order in this currency; left out when they say nothing. */
export function pinnedPolicy(options: PolicyOptions, currency: string): PolicyOverrides | undefined {
  const pinned: Record<string, PolicyOverrides[string]> = {}
  for (const [option, value] of Object.entries(options)) {
    const said = isAmountOption(option) ? (value as Record<string, bigint> | undefined)?.[currency] : value
    if (said !== undefined) pinned[option] = said as PolicyOverrides[string]
  }
  return Object.keys(pinned).length === 0 ? undefined : pinned
}

/** A policy as a JSON column gives it: amounts as text, and none of the options that came later. */
export function storedPolicy(stored: object): Policy {
  const known = stored as Policy
  const amounts = AMOUNT_OPTIONS.map((option) => {
    const amount = known[option] ?? null
    return [option, amount === null ? DEFAULT_POLICY[option] : BigInt(amount)] as const
  })
  return { ...DEFAULT_POLICY, ...known, ...Object.fromEntries(amounts) }
}

function isAmountOption(option: string): option is AmountOption {
  return (AMOUNT_OPTIONS as readonly string[]).includes(option)
}

function problemOf(option: string, value: string | number | boolean | bigint): string | null {
  if (!Object.hasOwn(POLICY_GUIDE, option)) {
    return `There is no policy option "${option}". Known ones: ${Object.keys(POLICY_GUIDE).join(', ')}.`
  }
  const { accepts } = POLICY_GUIDE[option as keyof Policy]
  return isAccepted(accepts, value)
    ? null
    : `Policy option "${option}" takes ${acceptedWords(accepts)}, not ${typeof value === 'bigint' ? `${value}n` : JSON.stringify(value)}.`
}

function isAccepted({ words, number, amount }: Accepts, value: string | number | boolean | bigint): boolean {
  if (typeof value === 'string') return words?.includes(value) === true
  if (typeof value === 'bigint') return amount !== undefined && value >= 0n
  if (number === undefined || !Number.isSafeInteger(value)) return false
  return Number(value) >= number.min && Number(value) <= (number.max ?? Number.MAX_SAFE_INTEGER)
}

/** What an option takes, as the end of a sentence. */
export function acceptedWords({ words = [], number, amount }: Accepts): string {
  return [...words, ...(number ? [number.what] : []), ...(amount ? [amount] : [])].join(', ')
}
