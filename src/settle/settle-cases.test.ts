import { expect, it } from 'vitest'
import { withPostgres } from '../../test/database.ts'
import { attempt, dispute, funds, ORDER, PAYMENT, refund, whole } from '../../test/history/shorthand.ts'
import { Merchant } from '../../test/merchant.ts'
import { audit } from '../audit/audit.ts'
import type { Fact } from '../facts/fact.ts'
import { type OrderTerms, orderClosed, orderTerms } from '../facts/order.ts'
import { type PaymentMilestoneReached, paymentMilestone } from '../facts/payment.ts'
import { refundMilestone, refundTotal } from '../facts/refund.ts'
import { type SubscriptionStatusReached, subscriptionStatus } from '../facts/subscription.ts'
import type { SettleItem } from './item.ts'

// Money that the trackers of other engines tell about, each told to a real server in several orders, twice each, and in
// one batch: it must end the same.

const TERMS: OrderTerms = { amount_minor: 10000n, currency: 'USD', items: [{ item: 'licence', quantity: 1 }] }
const at = (day: number) => `2025-03-${String(day).padStart(2, '0')}T10:00:00Z`
const paid = whole('succeeded', 10000n, { order: 'A-17', moved_at: at(1) })
const out = funds('withdrawn', 10000n)
const back = funds('reinstated', 10000n)
const opened = dispute('chargeback', 'needs_response', 10000n, { at: at(3) })
const verdict = (status: 'won' | 'lost' | 'partially_won', day = 9) =>
  dispute('chargeback', status, 10000n, { at: at(day) })

/** Another payment of the same order. */
function second(amount_minor = 10000n, more: Partial<PaymentMilestoneReached> = {}): Fact {
  const content = { milestone: 'succeeded', amount_minor, currency: 'USD', order: 'A-17' } as const
  return paymentMilestone({ ...PAYMENT, id: 'pi_2' }, { ...content, moved_at: at(2), ...more })
}

function refundOfSecond(amount_minor: bigint): Fact {
  const content = { refund: 're_2', milestone: 'succeeded', amount_minor, currency: 'USD' } as const
  return refundMilestone({ ...PAYMENT, id: 'pi_2' }, content)
}

function subscription(id: string, day: number, content: Omit<SubscriptionStatusReached, 'at'>): Fact {
  const subject = { kind: 'subscription', namespace: 'stripe', account: 'default', id } as const
  return subscriptionStatus(subject, { at: at(day), order: 'A-17', ...content })
}

const closed = (day: number) => orderClosed(ORDER, { how: 'canceled', by: 'timer', at: at(day) })
const total = (total_minor: bigint) => refundTotal(PAYMENT, { total_minor, currency: 'USD' })
const FUTURE = '2199-01-01T00:00:00Z'

interface Ending {
  readonly terms?: Partial<OrderTerms>
  readonly status: string
  readonly net_minor: bigint
  readonly access: string
  readonly exceptions?: readonly string[]
}

const CASES: readonly [string, readonly (readonly Fact[])[], Ending][] = [
  [
    'case-19 seq-28 the second of two payments refunded',
    [[paid], [second()], [refundOfSecond(10000n)]],
    { status: 'paid', net_minor: 10000n, access: 'granted' },
  ],
  [
    'case-19 both refunded',
    [[paid], [second()], [refundOfSecond(10000n)], [refund('re_1', 'succeeded', 10000n)]],
    { status: 'refunded', net_minor: 0n, access: 'revoked' },
  ],
  [
    'case-21 seq-15 two partial refunds, each with the running total',
    [
      [paid],
      [refund('re_1', 'succeeded', 3000n), total(3000n)],
      [refund('re_2', 'succeeded', 2000n), total(5000n)],
    ],
    { status: 'partially_refunded', net_minor: 5000n, access: 'granted' },
  ],
  [
    'case-21 a running total above what the refunds explain',
    [[paid], [refund('re_1', 'succeeded', 10000n), total(10000n)], [total(11000n)]],
    { status: 'refunded', net_minor: 0n, access: 'revoked', exceptions: ['unexplained_refund -'] },
  ],
  [
    'case-22 seq-05 a refund that fails after it was done',
    [[paid], [refund('re_1', 'succeeded', 10000n)], [refund('re_1', 'failed', 10000n)]],
    { status: 'paid', net_minor: 10000n, access: 'granted', exceptions: ['refund_failed re_1'] },
  ],
  [
    'case-27 seq-29 a refund that is known before its payment',
    [[refund('re_1', 'succeeded', 10000n)], [paid]],
    { status: 'refunded', net_minor: 0n, access: 'revoked' },
  ],
  [
    'case-27 a refund whose payment never comes',
    [[refund('re_1', 'succeeded', 10000n, { order: 'A-17' })]],
    {
      status: 'awaiting_payment',
      net_minor: -10000n,
      access: 'none',
      exceptions: ['refund_before_payment re_1'],
    },
  ],
  [
    'case-28 an attempt that failed beside the one that succeeded, and a failed payment',
    [
      [attempt('ch_1', 'failed', 10000n, { order: 'A-17' })],
      [attempt('ch_2', 'succeeded', 10000n, { order: 'A-17', moved_at: at(1) })],
      [second(10000n, { milestone: 'failed' })],
    ],
    { status: 'paid', net_minor: 10000n, access: 'granted' },
  ],
  [
    'case-32 one cent less than the price',
    [[whole('succeeded', 9999n, { order: 'A-17' })]],
    { status: 'underpaid', net_minor: 9999n, access: 'none', exceptions: ['underpayment -'] },
  ],
  [
    'case-34 nothing to pay',
    [[whole('succeeded', 0n, { order: 'A-17', moved_at: at(1) })]],
    { terms: { amount_minor: 0n }, status: 'paid', net_minor: 0n, access: 'granted' },
  ],
  [
    'case-34 nothing paid for a priced order',
    [[whole('succeeded', 0n, { order: 'A-17', moved_at: at(1) })]],
    { status: 'awaiting_payment', net_minor: 0n, access: 'none', exceptions: ['amount_mismatch pi_1'] },
  ],
  [
    'case-36 one payment that is far too little',
    [
      [whole('pending', 100n, { order: 'A-17' })],
      [whole('succeeded', 100n, { order: 'A-17', moved_at: at(1) })],
    ],
    { status: 'underpaid', net_minor: 100n, access: 'none', exceptions: ['underpayment -'] },
  ],
  [
    'case-36 the rest after the offer ran out, and too much',
    [[whole('succeeded', 7500n, { order: 'A-17', moved_at: at(1) })], [second(7000n, { moved_at: at(5) })]],
    {
      terms: { expires_at: at(3) },
      status: 'on_hold',
      net_minor: 14500n,
      access: 'none',
      exceptions: ['paid_after_close pi_2', 'underpayment -'],
    },
  ],
  [
    'case-37 an inquiry that is closed',
    [
      [paid],
      [dispute('inquiry', 'needs_response', 10000n, { at: at(3) })],
      [dispute('inquiry', 'withdrawn', 10000n, { at: at(5) })],
    ],
    { status: 'paid', net_minor: 10000n, access: 'granted' },
  ],
  [
    'case-37 an inquiry that becomes a chargeback',
    [[paid], [dispute('inquiry', 'needs_response', 10000n, { at: at(2) })], [opened, out]],
    { status: 'paid', net_minor: 10000n, access: 'suspended', exceptions: ['dispute_opened du_1'] },
  ],
  [
    'case-38 a part refunded, the rest lost',
    [
      [paid],
      [refund('re_1', 'succeeded', 4000n)],
      [dispute('chargeback', 'lost', 6000n, { at: at(9) }), funds('withdrawn', 6000n)],
    ],
    { status: 'charged_back', net_minor: 0n, access: 'revoked' },
  ],
  [
    'case-38 two disputes over one charge',
    [
      [paid],
      [dispute('chargeback', 'needs_response', 5000n, { at: at(3) })],
      [dispute('chargeback', 'needs_response', 5000n, { at: at(3), dispute: 'du_2' })],
    ],
    {
      status: 'paid',
      net_minor: 10000n,
      access: 'suspended',
      exceptions: ['dispute_opened du_1', 'dispute_opened du_2'],
    },
  ],
  [
    'case-40 paid twice',
    [[paid], [second()]],
    { status: 'overpaid', net_minor: 20000n, access: 'granted', exceptions: ['duplicate_payment pi_2'] },
  ],
  [
    'case-43 completed and not paid yet',
    [[whole('created', 10000n, { order: 'A-17' })], [whole('pending', 10000n, { order: 'A-17' })]],
    { status: 'awaiting_payment', net_minor: 0n, access: 'none' },
  ],
  [
    'case-43 completed, and paid days later',
    [[whole('pending', 10000n, { order: 'A-17' })], [paid], [whole('created', 10000n, { order: 'A-17' })]],
    { status: 'paid', net_minor: 10000n, access: 'granted' },
  ],
  [
    'case-44 a bank return, told as a reversal and as a dispute that was lost at once',
    [
      [paid],
      [whole('reversed', 10000n, { moved_at: at(8) })],
      [dispute('chargeback', 'needs_response', 10000n, { at: at(8) }), out],
      [verdict('lost')],
    ],
    { status: 'awaiting_payment', net_minor: 0n, access: 'suspended', exceptions: ['late_reversal -'] },
  ],
  [
    'case-44 a bank return, and a second debit that holds',
    [[paid], [whole('reversed', 10000n)], [second()]],
    { status: 'paid', net_minor: 10000n, access: 'granted', exceptions: ['late_reversal -'] },
  ],
  [
    'case-45 seq-31 refused, canceled by a timer, then paid',
    [
      [attempt('ch_1', 'failed', 10000n, { order: 'A-17' })],
      [closed(2)],
      [attempt('ch_2', 'succeeded', 10000n, { order: 'A-17', moved_at: at(3) })],
    ],
    { status: 'on_hold', net_minor: 10000n, access: 'none', exceptions: ['paid_after_close pi_1'] },
  ],
  [
    'seq-06 lost, and the money is reinstated all the same',
    [[paid], [opened, out], [verdict('lost')], [back]],
    { status: 'paid', net_minor: 10000n, access: 'granted' },
  ],
  [
    'seq-07 a late message of a lower rank',
    [[whole('canceled', 10000n, { order: 'A-17' })], [whole('pending', 10000n, { order: 'A-17' })]],
    { status: 'awaiting_payment', net_minor: 0n, access: 'none' },
  ],
  [
    'seq-08 a refund on its way to the bank, which sends it back',
    [[paid], [refund('re_1', 'pending', 10000n)], [refund('re_1', 'failed')]],
    { status: 'paid', net_minor: 10000n, access: 'granted', exceptions: ['refund_failed re_1'] },
  ],
  [
    'seq-14 the intent’s creation told late and poor, beside its charge',
    [
      [attempt('ch_1', 'succeeded', 10000n, { order: 'A-17', moved_at: at(1) })],
      [whole('created')],
      [whole('succeeded', 10000n, { order: 'A-17' })],
    ],
    { status: 'paid', net_minor: 10000n, access: 'granted' },
  ],
  [
    'seq-24 a dispute that was decided in part',
    [[paid], [opened, out], [verdict('partially_won'), funds('reinstated', 6000n)]],
    { status: 'charged_back', net_minor: 6000n, access: 'granted' },
  ],
  [
    'seq-25 withdrawn, won and reinstated, then refunded',
    [[paid], [opened, out], [verdict('won'), back], [refund('re_1', 'succeeded', 10000n)]],
    { status: 'refunded', net_minor: 0n, access: 'revoked' },
  ],
  [
    'seq-27 a dispute that was won',
    [[paid], [opened, out], [verdict('won'), back]],
    { status: 'paid', net_minor: 10000n, access: 'granted' },
  ],
  [
    'seq-30 paid, refunded, canceled, and paid told again much later',
    [
      [attempt('ch_1', 'succeeded', 10000n, { order: 'A-17', moved_at: at(1) })],
      [refund('re_1', 'succeeded', 10000n)],
      [closed(2)],
      [paid],
    ],
    { status: 'refunded', net_minor: 0n, access: 'revoked' },
  ],
  [
    'seq-32 refunded, canceled, then disputed',
    [[paid], [refund('re_1', 'succeeded', 10000n)], [closed(2)], [opened]],
    {
      status: 'refunded',
      net_minor: 0n,
      access: 'revoked',
      exceptions: ['dispute_opened du_1'],
    },
  ],
  [
    'case-23 an older update after the end, and an older period after a newer one',
    [
      [subscription('sub_1', 1, { status: 'active', period_end: FUTURE })],
      [subscription('sub_1', 2, { status: 'active', period_end: at(20) })],
      [subscription('sub_1', 5, { status: 'canceled', period_end: at(6) })],
      [subscription('sub_1', 4, { status: 'active', period_end: at(6) })],
    ],
    { terms: { recurring: {} }, status: 'awaiting_payment', net_minor: 0n, access: 'expired' },
  ],
  [
    'case-25 the old subscription ends after a new one began',
    [
      [subscription('sub_A', 1, { status: 'active', period_end: at(6) })],
      [subscription('sub_B', 4, { status: 'active', period_end: FUTURE })],
      [subscription('sub_A', 6, { status: 'canceled', period_end: at(6) })],
    ],
    { terms: { recurring: {} }, status: 'awaiting_payment', net_minor: 0n, access: 'granted' },
  ],
  [
    'seq-19 created and updated in one second',
    [
      [subscription('sub_1', 1, { status: 'active', period_end: FUTURE })],
      [subscription('sub_1', 1, { status: 'incomplete', period_end: FUTURE })],
    ],
    { terms: { recurring: {} }, status: 'awaiting_payment', net_minor: 0n, access: 'granted' },
  ],
]

/** Ways in which the same things can arrive: together, one by one from either end or from the middle, twice each. */
function* roads<T>(told: readonly T[]): Generator<readonly (readonly T[])[]> {
  yield [[...told, ...told]]
  for (let first = 0; first < told.length; first += 1) {
    const turned = [...told.slice(first), ...told.slice(0, first)]
    yield [...turned, ...turned].map((one) => [one])
    yield [...turned].reverse().map((one) => [one, one])
  }
}

withPostgres('what others got wrong', (open) => {
  for (const [name, events, ending] of CASES) {
    it(`${name}: ${ending.status}, ${ending.access}`, async () => {
      const database = await open()
      const terms = orderTerms(ORDER, { ...TERMS, ...ending.terms })
      for (const batches of roads([[terms], ...events])) {
        const merchant = new Merchant(database)
        for (const batch of batches) await merchant.settle(...batch.map(itemsOf(merchant, events)))
        const { orders } = await merchant.outcome()
        const { status, net_minor, access, exceptions = [] } = ending
        expect(orders).toMatchObject({ 'A-17': { status, net_minor, access } })
        expect(await merchant.exceptions()).toEqual(exceptions)
      }
      expect((await audit(database)).differences).toEqual([])
    })
  }
})

function itemsOf(merchant: Merchant, events: readonly (readonly Fact[])[]) {
  return (facts: readonly Fact[]): SettleItem => {
    const place = events.indexOf(facts)
    const merchants_own = facts.some((fact) => fact.subject.kind === 'order')
    return merchants_own ? merchant.states(...facts) : merchant.event(`evt_${place}`, facts)
  }
}
