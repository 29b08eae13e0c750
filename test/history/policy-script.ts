import * as fc from 'fast-check'
import type { Policy, PolicyOverrides } from '../../src/rules/policy.ts'

/** Ends lie so far ahead, or so near, that it makes no difference by which clock a history is settled. */
export const CENTURY_MS = 3_155_760_000_000

/** What an order may say that differs from the defaults. */
const ANSWERS = {
  full_refund: ['keep'],
  partial_refund: ['revoke', 2_000, 5_000],
  refund_pending: ['suspend'],
  refund_failed: ['review'],
  external_refund: ['review'],
  early_warning: ['suspend'],
  inquiry: ['suspend'],
  dispute_opened: ['keep', 'revoke'],
  dispute_lost: ['keep'],
  dispute_won: ['review'],
  dispute_partial: ['review'],
  dispute_prevented: ['revoke', 'keep'],
  late_reversal: ['revoke', 'keep'],
  late_reversal_grace_ms: [CENTURY_MS],
  surplus: ['refund'],
  automatic_refund_max_minor: [5n],
  paid_after_close: ['reopen', 'refund'],
  partial_payments: ['grant'],
  tolerance_minor: [2n, 3n, 7n],
  past_due_grace_ms: [0, CENTURY_MS],
  subscription_canceled: ['at_once'],
} as const satisfies { readonly [K in keyof Policy]?: readonly (Policy[K] & (string | number | bigint))[] }

type Option = keyof typeof ANSWERS

/** Asked about what becomes of a right once it was paid for. */
export const AFTERMATH_OPTIONS: readonly Option[] = [
  'full_refund',
  'partial_refund',
  'refund_pending',
  'refund_failed',
  'external_refund',
  'early_warning',
  'inquiry',
  'dispute_opened',
  'dispute_lost',
  'dispute_won',
  'dispute_partial',
  'dispute_prevented',
  'late_reversal',
  'late_reversal_grace_ms',
]

/** Asked about how much came, and when. */
export const SUM_OPTIONS: readonly Option[] = [
  'surplus',
  'automatic_refund_max_minor',
  'paid_after_close',
  'partial_payments',
  'tolerance_minor',
]

export const SUBSCRIPTION_OPTIONS: readonly Option[] = ['past_due_grace_ms', 'subscription_canceled']

/** A few of these options, for half of the orders. */
export function policyScript(options: readonly Option[]): fc.Arbitrary<PolicyOverrides> {
  const some = fc
    .tuple(
      fc.subarray([...options], { minLength: 1, maxLength: Math.min(4, options.length) }),
      fc.nat({ max: 5 }),
    )
    .map(([names, turn]) =>
      Object.fromEntries(names.map((name) => [name, ANSWERS[name][turn % ANSWERS[name].length]!])),
    )
  return fc.oneof(fc.constant<PolicyOverrides>({}), some)
}
