import { describe, expect, it } from 'vitest'
import { type RightTerms, subscriptionRight, type TimedRight, together } from './subscription-right.ts'
import type { SubscriptionSummary } from './subscription-state.ts'

const DAY = 86_400_000
const SINCE = '2025-03-01T10:00:00Z'
const END = '2025-04-01T00:00:00Z'
const BEFORE_END = '2025-03-20T00:00:00Z'
const AFTER_END = '2025-04-02T00:00:00Z'
const AFTER_GRACE = '2025-04-10T00:00:00Z'
const GRACE_ENDS = '2025-04-04T00:00:00.000Z'

function subscription(more: Partial<SubscriptionSummary>): SubscriptionSummary {
  const known = {
    period_end: END,
    cancel_at: null,
    since: SINCE,
    ended_from: null,
    price: null,
    orders: ['A'],
  }
  return { id: 'sub_1', account: 'default', status: 'active', ...known, ...more }
}

function right(
  more: Partial<SubscriptionSummary>,
  as_of: string,
  terms: Partial<RightTerms> = {},
): TimedRight {
  const usual = { grace_ms: 3 * DAY, canceled: 'end_of_period', paid_at: null } as const
  return subscriptionRight(subscription(more), { ...usual, ...terms }, as_of)
}

describe('what one subscription gives', () => {
  type Row = [
    string,
    Partial<SubscriptionSummary>,
    string,
    TimedRight['state'],
    string | null,
    Partial<RightTerms>?,
  ]
  const rows: Row[] = [
    ['P33 active, in its period', {}, BEFORE_END, 'granted', GRACE_ENDS],
    ['active, the renewal not told yet', {}, AFTER_END, 'granted', GRACE_ENDS],
    ['active, and no renewal came', {}, AFTER_GRACE, 'expired', null],
    ['active, no period known', { period_end: null }, AFTER_GRACE, 'granted', null],
    ['active, a period that cannot be read', { period_end: 'soon' }, AFTER_GRACE, 'granted', null],
    ['active, ends with its period', { cancel_at: END }, BEFORE_END, 'granted', END],
    ['active, ended with its period', { cancel_at: END }, AFTER_END, 'expired', null],
    ['active, ends later than its period', { cancel_at: AFTER_GRACE }, AFTER_END, 'granted', GRACE_ENDS],
    ['trialing', { status: 'trialing' }, BEFORE_END, 'granted', GRACE_ENDS],
    ['past due, the period over', { status: 'past_due', since: END }, AFTER_END, 'granted', GRACE_ENDS],
    ['past due, the grace over', { status: 'past_due', since: END }, AFTER_GRACE, 'expired', null],
    [
      'past due in a new period that nobody paid for',
      { status: 'past_due' },
      '2025-03-03T00:00:00Z',
      'granted',
      '2025-03-04T10:00:00.000Z',
    ],
    ['past due in a new period, the grace over', { status: 'past_due' }, BEFORE_END, 'expired', null],
    [
      'P20 past due, but paid since',
      { status: 'past_due' },
      BEFORE_END,
      'granted',
      GRACE_ENDS,
      { paid_at: SINCE },
    ],
    [
      'past due, paid before that',
      { status: 'past_due' },
      BEFORE_END,
      'expired',
      null,
      { paid_at: '2025-03-01T09:00:00Z' },
    ],
    ['case-43 incomplete', { status: 'incomplete' }, BEFORE_END, 'none', null],
    ['incomplete, but paid', { status: 'incomplete' }, BEFORE_END, 'granted', GRACE_ENDS, { paid_at: SINCE }],
    ['unpaid', { status: 'unpaid' }, BEFORE_END, 'suspended', null],
    [
      'unpaid, but paid since',
      { status: 'unpaid' },
      BEFORE_END,
      'granted',
      GRACE_ENDS,
      { paid_at: BEFORE_END },
    ],
    [
      'paused, which is how GitHub tells an end',
      { status: 'paused', cancel_at: SINCE },
      BEFORE_END,
      'suspended',
      null,
    ],
    [
      'canceled, the period not over',
      { status: 'canceled', ended_from: 'active' },
      BEFORE_END,
      'granted',
      END,
    ],
    [
      'case-23 canceled, the period over',
      { status: 'canceled', ended_from: 'active' },
      AFTER_END,
      'expired',
      null,
    ],
    ['canceled, nothing else known', { status: 'canceled' }, BEFORE_END, 'granted', END],
    [
      'case-23 canceled, at once by policy',
      { status: 'canceled', ended_from: 'active' },
      BEFORE_END,
      'expired',
      null,
      { canceled: 'at_once' },
    ],
    [
      'canceled because nobody paid',
      { status: 'canceled', ended_from: 'past_due' },
      BEFORE_END,
      'expired',
      null,
    ],
    ['never begun', { status: 'expired', ended_from: 'incomplete' }, BEFORE_END, 'expired', null],
    ['canceled, no period known', { status: 'canceled', period_end: null }, BEFORE_END, 'expired', null],
    [
      'canceled before its period is over',
      { status: 'canceled', cancel_at: SINCE },
      BEFORE_END,
      'expired',
      null,
    ],
    ['conflicted', { status: 'conflicted' }, BEFORE_END, 'held', null],
    ['named for two orders', { orders: ['A', 'B'] }, BEFORE_END, 'held', null],
    ['only named by a payment', { status: 'unknown' }, BEFORE_END, 'none', null],
  ]
  for (const [name, more, as_of, state, until, terms] of rows) {
    it(`${name}: ${state}`, () => {
      expect(right(more, as_of, terms)).toMatchObject({ state, until })
    })
  }

  it('ends in the instant that it names, whatever form the time has', () => {
    expect(right({ cancel_at: END }, '2025-04-01T00:00:00.000Z').state).toBe('expired')
    expect(right({ cancel_at: END }, '2025-03-31T23:59:59.999Z').state).toBe('granted')
  })
})

describe('P33 case-25 several subscriptions of one order', () => {
  const give = (state: TimedRight['state'], until: string | null = null): TimedRight => ({
    state,
    until,
    trial: false,
  })
  const rows: [string, TimedRight[], TimedRight['state'], string | null][] = [
    ['an old one ended', [give('expired'), give('granted', END)], 'granted', END],
    [
      'two grant, to be looked at when the first ends',
      [give('granted', END), give('granted', BEFORE_END)],
      'granted',
      BEFORE_END,
    ],
    ['one has no end', [give('granted', END), give('granted')], 'granted', END],
    ['one that contradicts itself takes nothing', [give('held'), give('granted', END)], 'granted', END],
    ['held, and nothing else gives it', [give('held'), give('expired')], 'held', null],
    ['one may come back', [give('suspended'), give('expired')], 'suspended', null],
    ['all over', [give('none'), give('expired')], 'expired', null],
  ]
  for (const [name, rights, state, until] of rows) {
    it(`${name}: ${state}`, () => {
      expect(together(rights)).toMatchObject({ state, until })
      expect(together([...rights].reverse())).toMatchObject({ state, until })
    })
  }
})
