import { type DisputeStatusReached, disputeFunds, disputeStatus } from '../../src/facts/dispute.ts'
import type { Fact } from '../../src/facts/fact.ts'
import { type OrderTerms, orderTerms } from '../../src/facts/order.ts'
import {
  type PaymentMilestone,
  type PaymentMilestoneReached,
  paymentMilestone,
} from '../../src/facts/payment.ts'
import { type RefundMilestone, type RefundMilestoneReached, refundMilestone } from '../../src/facts/refund.ts'
import type { OrderSubject, PaymentSubject } from '../../src/facts/subject.ts'
import type { OrderBook } from '../../src/rules/order-state.ts'
import type { PaymentSummary } from '../../src/rules/payment-state.ts'
import { DEFAULT_POLICY, type Policy } from '../../src/rules/policy.ts'
import { NO_MONEY } from './history.ts'

/** Short ways to say facts about one payment `pi_1` in USD, for tables of examples. Amounts are minor units. */
export const PAYMENT: PaymentSubject = {
  kind: 'payment',
  namespace: 'stripe',
  account: 'default',
  id: 'pi_1',
}
export const ORDER: OrderSubject = { kind: 'order', reference: 'A-17' }

export function attempt(
  id: string,
  milestone: PaymentMilestone,
  amount_minor?: bigint,
  more: Partial<PaymentMilestoneReached> = {},
): Fact {
  return whole(milestone, amount_minor, { attempt: id, ...more })
}

export function whole(
  milestone: PaymentMilestone,
  amount_minor?: bigint,
  more: Partial<PaymentMilestoneReached> = {},
): Fact {
  const money = amount_minor === undefined ? {} : { amount_minor, currency: 'USD' }
  return paymentMilestone(PAYMENT, { milestone, ...money, ...more })
}

export function refund(
  id: string,
  milestone: RefundMilestone,
  amount_minor?: bigint,
  more: Partial<RefundMilestoneReached> = {},
): Fact {
  const money = amount_minor === undefined ? {} : { amount_minor, currency: 'USD' }
  return refundMilestone(PAYMENT, { refund: id, milestone, ...money, ...more })
}

export function dispute(
  stage: DisputeStatusReached['stage'],
  status: DisputeStatusReached['status'],
  amount_minor: bigint,
  more: Partial<DisputeStatusReached> = {},
): Fact {
  const content = {
    dispute: 'du_1',
    stage,
    status,
    at: '2025-03-02T00:00:00Z',
    amount_minor,
    currency: 'USD',
  }
  return disputeStatus(PAYMENT, { ...content, ...more })
}

export function funds(
  direction: 'withdrawn' | 'reinstated',
  amount_minor: bigint,
  transaction = direction as string,
  currency = 'USD',
): Fact {
  return disputeFunds(PAYMENT, { dispute: 'du_1', direction, amount_minor, currency, transaction })
}

export function terms(amount_minor: bigint, more: Partial<OrderTerms> = {}): Fact {
  const items = [{ item: 'licence', quantity: 1 }]
  return orderTerms(ORDER, { amount_minor, currency: 'USD', items, ...more })
}

/** An order of 100.00 USD that gives one licence. */
export function book(
  more: Partial<NonNullable<OrderBook['terms']>> = {},
  policy: Partial<Policy> = {},
): OrderBook {
  return {
    terms: {
      amount_minor: 10000n,
      currency: 'USD',
      items: [{ item: 'licence', quantity: 1 }],
      expires_at: null,
      account: null,
      policy: { ...DEFAULT_POLICY, ...policy },
      ...more,
    },
    closed: null,
    decisions: [],
    conflicted: false,
  }
}

/** A payment of 100.00 USD that succeeded on the first of March. */
export function paid(id: string, more: Partial<PaymentSummary> = {}): PaymentSummary {
  return {
    ...NO_MONEY,
    id,
    account: 'default',
    namespace: 'stripe',
    aftermath: null,
    status: 'succeeded',
    currency: 'USD',
    captured_minor: 10000n,
    moved_at: '2025-03-01T10:00:00Z',
    ...more,
  }
}
