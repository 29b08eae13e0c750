import type { FactOf } from '../../facts/fact.ts'
import type { LookupRequest } from '../../facts/lookup.ts'
import { subscriptionStatus } from '../../facts/subscription.ts'
import type { JsonRecord } from '../field.ts'
import { booleanIn, recordIn, textIn, utcTime } from '../field.ts'
import { Unreadable } from '../unreadable.ts'
import type { GitHubAgreement, GitHubEvent, GitHubSetup, Reading } from './github-event.ts'
import { numberIn, orderOf, required, subscriptionSubject } from './github-event.ts'

/** What can be asked about: a sponsorship that should go on (on the named tier), and one that should have ended. */
export const SPONSORSHIP = 'sponsorship'
export const CANCELLATION = 'sponsorship_cancellation'

const ANNOUNCEMENTS: ReadonlySet<string> = new Set(['pending_cancellation', 'pending_tier_change'])

/** What GitHub says of a sponsorship, in the words that webhook and GraphQL have in common. */
export interface Sponsorship {
  readonly id: string
  /** Left out where an end does not tell it. */
  readonly tier: string | undefined
  readonly one_time: boolean
  readonly payer: string | undefined
}

/**
 * `sponsorship`: who sponsors on which tier. Only its creation has a time. What changes or ends one carries none, and
 * without a time nobody can tell an old message from a new one, so GitHub is asked.
 */
export function readSponsorship({ action, body, setup }: GitHubEvent): Reading {
  if (ANNOUNCEMENTS.has(action)) return { ignored: 'a change that is only announced' }
  if (action === 'edited') return { ignored: 'only who may see the sponsorship has changed' }
  if (action !== 'created' && action !== 'tier_changed' && action !== 'cancelled')
    throw new Unreadable('action is not one of sponsorship that we know')
  const given = required(recordIn(body, 'sponsorship'), 'sponsorship')
  if (isForeign(setup, given))
    return { not_ours: 'the sponsorship is of another maintainer than `sponsorable`' }
  const id = required(nodeIn(given, 'node_id'), 'sponsorship.node_id')
  if (action === 'cancelled') return { facts: [], lookups: [{ object: CANCELLATION, id }] }
  const tier = required(nodeIn(given, 'tier', 'node_id'), 'sponsorship.tier.node_id')
  const question: LookupRequest = { object: SPONSORSHIP, id: `${id}/${tier}` }
  if (action === 'tier_changed') return { facts: [], lookups: [question] }
  const at = required(utcTime(textIn(given, 'created_at')), 'sponsorship.created_at')
  const one_time = required(booleanIn(given, 'tier', 'is_one_time'), 'sponsorship.tier.is_one_time')
  const sponsorship = { id, tier, one_time, payer: numberIn(given, 'sponsor', 'id') }
  return { facts: [sponsoring(setup, sponsorship, at)], lookups: setup.asksSponsors ? [question] : [] }
}

/** "Sponsorship S_1 stands on tier ST_1 at that time." The same for a webhook and for an answer of GraphQL. */
export function sponsoring(
  setup: GitHubSetup,
  sponsorship: Sponsorship,
  at: string,
): FactOf<'subscription_status'> {
  const product = required(sponsorship.tier, 'the tier')
  return subscriptionStatus(subscriptionSubject(setup, sponsorship.id), {
    status: 'active',
    at,
    product,
    price: `${product}/${sponsorship.one_time ? 'one_time' : 'monthly'}`,
    order: orderOf(setup, agreementOf(sponsorship)),
  })
}

/** Paused and not canceled, which would be for ever: GitHub reactivates a past sponsorship when its sponsor comes back. */
export function sponsoringEnded(
  setup: GitHubSetup,
  sponsorship: Sponsorship,
  at: string,
): FactOf<'subscription_status'> {
  return subscriptionStatus(subscriptionSubject(setup, sponsorship.id), {
    status: 'paused',
    at,
    product: sponsorship.tier,
    order: orderOf(setup, agreementOf(sponsorship)),
  })
}

function agreementOf({ id, payer, tier }: Sponsorship): GitHubAgreement {
  return { source: 'sponsors', id, payer, product: tier }
}

function isForeign(setup: GitHubSetup, given: JsonRecord): boolean {
  return setup.sponsorable !== undefined && numberIn(given, 'sponsorable', 'id') !== setup.sponsorable
}

/** A node id of either generation: `S_kw...`, or base64. The slash of base64 could not be told from ours. */
export function nodeIn(parent: unknown, ...path: readonly string[]): string | undefined {
  const id = textIn(parent, ...path)
  return id !== undefined && /^[A-Za-z0-9_=+-]{1,100}$/.test(id) ? id : undefined
}
