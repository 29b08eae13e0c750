import type { EntitlementState } from '../facts/entitlement.ts'
import type { SubscriptionStatus } from '../facts/subscription.ts'
import { earliest, instantOf } from './instant.ts'
import { afterwards, hasEnded } from './item-end.ts'
import type { Policy } from './policy.ts'
import { withoutGrant } from './right.ts'
import type { SubscriptionSummary } from './subscription-state.ts'

/** What subscriptions give, before the money of the periods is looked at. */
export interface TimedRight {
  readonly state: EntitlementState | 'held'
  /** When time alone may change it next; null for never, or where it is not granted. */
  readonly until: string | null
  /** Granted before any money is due. */
  readonly trial: boolean
}

export interface RightTerms {
  /** How long access outlasts a period that is not paid yet, milliseconds. */
  readonly grace_ms: number
  readonly canceled: Policy['subscription_canceled']
  /** When the newest period that is paid in full was paid, by the provider's clock; null for none. */
  readonly paid_at: string | null
}

/** An end that follows one of these leaves no period that was paid for. */
const UNPAID: readonly (SubscriptionStatus | null)[] = ['incomplete', 'past_due', 'unpaid', 'paused']

/**
 * What one subscription gives at that time:
 *
 * | status             | gives                                                                                      |
 * |--------------------|--------------------------------------------------------------------------------------------|
 * | trialing, active   | granted until the period's end and the grace after it (renewals are told late), or until an announced end |
 * | past_due           | granted for the grace, from the period's end or since it is overdue, whichever was first   |
 * | incomplete         | nothing                                                                                    |
 * | unpaid, paused     | suspended                                                                                  |
 * | canceled, expired  | by policy granted until the period's end, then expired; at once where that period was not paid |
 * | conflicted         | held                                                                                       |
 *
 * A whole period paid since it is past_due, unpaid or incomplete has mended that, however late the status follows.
 */
export function subscriptionRight(
  subscription: SubscriptionSummary,
  terms: RightTerms,
  as_of: string,
): TimedRight {
  const { status, period_end, cancel_at, since, ended_from, orders } = subscription
  if (status === 'conflicted' || orders.length > 1) return { state: 'held', until: null, trial: false }
  const running = () =>
    until(earliest([afterwards(period_end, terms.grace_ms), cancel_at]), as_of, status === 'trialing')
  switch (status) {
    case 'unknown':
      return NOTHING
    case 'trialing':
    case 'active':
      return running()
    case 'past_due':
      if (isMended(since, terms.paid_at)) return running()
      return until(earliest([afterwards(earliest([period_end, since]), terms.grace_ms), cancel_at]), as_of)
    case 'unpaid':
      return isMended(since, terms.paid_at) ? running() : { ...NOTHING, state: 'suspended' }
    case 'incomplete':
      return isMended(since, terms.paid_at) ? running() : NOTHING
    case 'paused':
      return { ...NOTHING, state: 'suspended' }
    case 'canceled':
    case 'expired': {
      const end = earliest([period_end, cancel_at])
      const at_once = terms.canceled === 'at_once' || UNPAID.includes(ended_from) || end === null
      return at_once ? { ...NOTHING, state: 'expired' } : until(end, as_of)
    }
  }
}

const NOTHING: TimedRight = { state: 'none', until: null, trial: false }

function until(end: string | null, as_of: string, trial = false): TimedRight {
  if (hasEnded(end, as_of)) return { ...NOTHING, state: 'expired' }
  return { state: 'granted', until: end, trial }
}

function isMended(since: string | null, paid_at: string | null): boolean {
  return since !== null && paid_at !== null && instantOf(paid_at) >= instantOf(since)
}

/** What several subscriptions of one order give together: granted as long as one of them grants it. */
export function together(rights: readonly TimedRight[]): TimedRight {
  const granted = rights.filter(({ state }) => state === 'granted')
  if (granted.length > 0) {
    return {
      state: 'granted',
      until: earliest(granted.map((right) => right.until)),
      trial: granted.some(({ trial }) => trial),
    }
  }
  if (rights.some(({ state }) => state === 'held')) return { ...NOTHING, state: 'held' }
  return { ...NOTHING, state: withoutGrant(rights.map(({ state }) => state as EntitlementState)) }
}
