import * as fc from 'fast-check'
import type { SubscriptionSubject } from '../../src/facts/subject.ts'
import { type SubscriptionStatus, subscriptionStatus } from '../../src/facts/subscription.ts'
import type { SubscriptionOutcome } from './history.ts'
import type { Teller } from './teller.ts'

/** Statuses that a subscription passes through, and how it ends if it does. */
export interface SubscriptionScript {
  readonly course: readonly ('active' | 'past_due' | 'paused')[]
  readonly end: 'canceled' | 'expired' | null
  /** The first status and the one after it fall into one second. */
  readonly hurried: boolean
}

export const subscriptionScript: fc.Arbitrary<SubscriptionScript> = fc.record({
  course: fc.array(fc.constantFrom('active' as const, 'past_due' as const, 'paused' as const), {
    minLength: 1,
    maxLength: 5,
  }),
  end: fc.constantFrom('canceled' as const, 'expired' as const, null),
  hurried: fc.boolean(),
})

/** Each time it is active, a further period is paid. */
export function tellSubscription(
  teller: Teller,
  subject: SubscriptionSubject,
  script: SubscriptionScript,
): SubscriptionOutcome {
  let period_end: string | null = null
  let status: SubscriptionStatus = 'incomplete'
  const say = (at: string) => {
    const period = period_end === null ? {} : { period_end }
    teller.tell(subscriptionStatus(subject, { status, at, ...period, product: 'pro' }))
  }
  say(teller.later())
  script.course.forEach((next, index) => {
    status = next
    const at = index === 0 && script.hurried ? teller.now : teller.later()
    if (next === 'active') period_end = `2026-0${index + 1}-01T00:00:00Z`
    say(at)
  })
  if (script.end !== null) {
    status = script.end
    say(teller.later())
  }
  return { status, period_end }
}
