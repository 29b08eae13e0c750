import * as fc from 'fast-check'
import type { Recurring } from '../../src/facts/order.ts'
import type { SubscriptionSubject } from '../../src/facts/subject.ts'
import { type SubscriptionStatus, subscriptionStatus } from '../../src/facts/subscription.ts'
import type { PolicyOverrides } from '../../src/rules/policy.ts'
import type { OrderOutcome, SubscriptionOutcome } from './history.ts'
import { anyAftermath, type PaymentScript, paymentScript } from './payment-script.ts'
import { CENTURY_MS } from './policy-script.ts'
import { accessOfOne, type Happened, statusOfOne } from './reckoning.ts'
import type { Teller } from './teller.ts'

/** How a subscription goes on once its periods are paid. */
type Course =
  | 'incomplete'
  | 'active'
  | 'returned'
  | 'past_due'
  | 'unpaid'
  | 'paused'
  | 'canceled'
  | 'expired'
  | 'canceled_unpaid'

const COURSES: Readonly<Record<Course, readonly SubscriptionStatus[]>> = {
  incomplete: [],
  active: [],
  returned: ['past_due', 'active'],
  past_due: ['past_due'],
  unpaid: ['past_due', 'unpaid'],
  paused: ['paused'],
  canceled: ['canceled'],
  expired: ['expired'],
  canceled_unpaid: ['past_due', 'canceled'],
}

export interface RecurringScript {
  readonly periods: readonly PaymentScript[]
  readonly course: Course
  /** Paid after the last status was told; no message tells that the subscription runs again. */
  readonly last_period: PaymentScript | null
  /** The paid periods end in the far future, or else in the past. */
  readonly far: boolean
  /** Of the order itself; null leaves it to the policy, where that says anything. */
  readonly grace_ms: number | null
  /** Which messages name the order. */
  readonly named_by: 'payments' | 'subscription' | 'both'
}

const period = paymentScript(anyAftermath)

export const recurringScript: fc.Arbitrary<RecurringScript> = fc.record({
  periods: fc.array(period, { maxLength: 3 }),
  course: fc.constantFrom(...(Object.keys(COURSES) as Course[])),
  last_period: fc.option(period, { freq: 3 }),
  far: fc.boolean(),
  grace_ms: fc.constantFrom(0, CENTURY_MS, null),
  named_by: fc.constantFrom('payments' as const, 'subscription' as const, 'both' as const),
})

/** The default grace of days would make the end depend on the clock, so there is always another one. */
export function recurringOf({ grace_ms }: RecurringScript, policy: PolicyOverrides): Recurring {
  if (grace_ms === null && policy.past_due_grace_ms !== undefined) return {}
  return { grace_ms: grace_ms ?? 0 }
}

/** Tells the periods and what becomes of the subscription, and reckons how both end. */
export function tellRecurring(
  teller: Teller,
  subject: SubscriptionSubject,
  reference: string,
  {
    due_minor,
    policy,
    recurring,
  }: { due_minor: bigint; policy: PolicyOverrides; recurring: RecurringScript },
  pay: (name: string, payment: PaymentScript) => Happened,
): { outcome: OrderOutcome; subscription: SubscriptionOutcome } {
  const { periods, course, last_period, far, named_by } = recurring
  const ends: Happened[] = []
  let status: SubscriptionStatus = 'incomplete'
  let period_end: string | null = null
  const say = (next: SubscriptionStatus) => {
    status = next
    // Where nothing is ever paid, only the subscription can name the order.
    const paid = periods.length > 0 || last_period !== null
    const naming = named_by === 'payments' && paid ? {} : { order: reference }
    const until = period_end === null ? {} : { period_end }
    teller.tell(subscriptionStatus(subject, { status, at: teller.later(), ...naming, ...until }))
  }
  const run = (number: number) => {
    if (course === 'incomplete') return
    period_end = far ? `209${number}-01-01T00:00:00Z` : `2025-02-0${number}T00:00:00Z`
    say('active')
  }
  say('incomplete')
  periods.forEach((payment, index) => {
    ends.push(pay(`period${index}`, payment))
    run(index + 1)
  })
  if (periods.length === 0) run(1)
  for (const next of COURSES[course]) say(next)
  if (last_period !== null) ends.push(pay('last', last_period))
  return {
    outcome: endOfPeriods(ends, due_minor, policy, rightOf(recurring, policy)),
    subscription: { status, period_end },
  }
}

type Right = 'granted' | 'suspended' | 'expired' | 'none'

/** What the subscription gives at the end, whatever the money says. */
function rightOf(script: RecurringScript, policy: PolicyOverrides): Right {
  const { course, far, last_period, periods } = script
  const patient = (script.grace_ms ?? policy.past_due_grace_ms ?? 0) !== 0
  const running = far || patient ? 'granted' : 'expired'
  switch (course) {
    case 'incomplete':
      return periods.length > 0 || last_period !== null ? 'granted' : 'none'
    case 'active':
    case 'returned':
      return running
    case 'past_due':
      if (last_period !== null) return running
      return patient ? 'granted' : 'expired'
    case 'unpaid':
      return last_period === null ? 'suspended' : running
    case 'paused':
      return 'suspended'
    case 'canceled':
    case 'expired':
      return far && policy.subscription_canceled !== 'at_once' ? 'granted' : 'expired'
    case 'canceled_unpaid':
      return 'expired'
  }
}

/** The newest period speaks for the order; what became of those before it only counts in the sums. */
function endOfPeriods(
  ends: readonly Happened[],
  due_minor: bigint,
  policy: PolicyOverrides,
  right: Right,
): OrderOutcome {
  const last = ends.at(-1)
  const money = last === undefined ? 'granted' : accessOfOne(last, policy)
  const gone = ends.reduce((sum, end) => sum + end.refunded_minor + end.lost_minor + end.reversed_minor, 0n)
  const paid_minor = BigInt(ends.length) * due_minor
  return {
    status: last === undefined ? 'awaiting_payment' : statusOfOne(last),
    paid_minor,
    net_minor: paid_minor - gone,
    surplus_minor: 0n,
    credits: 0,
    access: right === 'granted' || money === 'revoked' ? money : right,
  }
}
