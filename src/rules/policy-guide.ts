import type { Policy } from './policy.ts'

/** What an option may be set to. */
export interface Accepts {
  readonly words?: readonly string[]
  readonly number?: { readonly what: string; readonly min: number; readonly max?: number }
  /** A bigint of minor units from 0 up, in words. */
  readonly amount?: string
}

export interface PolicyOptionGuide {
  /** When it is asked. */
  readonly when: string
  readonly accepts: Accepts
}

const DURATION: Accepts = { number: { what: 'a whole number of milliseconds from 0 up', min: 0 } }
const AMOUNT: Accepts = { amount: 'a bigint of minor units from 0 up' }

function words(...allowed: string[]): Accepts {
  return { words: allowed }
}

/** Every option: what it is asked about and what it takes. The table in `docs/policies.md` is made of it. */
export const POLICY_GUIDE: Readonly<Record<keyof Policy, PolicyOptionGuide>> = {
  full_refund: { when: 'refunds gave everything back', accepts: words('revoke', 'keep') },
  partial_refund: {
    when: 'refunds, or a lost dispute, took a part of the price',
    accepts: {
      words: ['keep', 'revoke'],
      number: {
        what: 'a share of the price in basis points from 1 to 10000, from which on it is revoked',
        min: 1,
        max: 10_000,
      },
    },
  },
  refund_pending: { when: 'a refund is asked for and not decided', accepts: words('keep', 'suspend') },
  refund_failed: {
    when: 'a refund that had succeeded failed or was reversed',
    accepts: words('restore', 'review'),
  },
  external_refund: {
    when: "a refund was made in the provider's dashboard",
    accepts: words('as_own', 'review'),
  },
  early_warning: { when: 'an early fraud warning is open', accepts: words('keep', 'suspend') },
  inquiry: { when: 'an inquiry is open, no money has moved', accepts: words('keep', 'suspend') },
  dispute_opened: {
    when: 'a chargeback is open and its money withheld',
    accepts: words('suspend', 'keep', 'revoke'),
  },
  dispute_lost: { when: 'a chargeback was decided against us', accepts: words('revoke', 'keep') },
  dispute_won: { when: 'a chargeback was decided for us', accepts: words('restore', 'review') },
  dispute_partial: { when: 'a chargeback was decided in part', accepts: words('by_remainder', 'review') },
  dispute_prevented: {
    when: 'giving the money back prevented a dispute',
    accepts: words('as_refund', 'revoke', 'keep'),
  },
  late_reversal: {
    when: 'the bank took the money back after success',
    accepts: words('suspend', 'revoke', 'keep'),
  },
  late_reversal_grace_ms: { when: 'how long after that access stays', accepts: DURATION },
  surplus: { when: 'there is more money than was asked for', accepts: words('review', 'refund') },
  paid_after_close: {
    when: 'money moved after the order was closed or had expired',
    accepts: words('review', 'reopen', 'refund'),
  },
  automatic_refund_after_ms: {
    when: 'how long the reason of an automatic refund has to stand',
    accepts: DURATION,
  },
  automatic_refund_max_minor: { when: 'the largest automatic refund, per currency', accepts: AMOUNT },
  tolerance_minor: {
    when: 'how much too little or too much is as good as exact, per currency',
    accepts: AMOUNT,
  },
  partial_payments: { when: 'less came than was asked for', accepts: words('hold', 'grant') },
  past_due_grace_ms: { when: 'how long access outlasts a period that is not paid yet', accepts: DURATION },
  subscription_canceled: {
    when: 'a subscription was ended within a period that is paid',
    accepts: words('end_of_period', 'at_once'),
  },
}
