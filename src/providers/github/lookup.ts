import type { KeyObject } from 'node:crypto'
import type { Fact } from '../../facts/fact.ts'
import type { LookupRequest } from '../../facts/lookup.ts'
import { booleanIn, listIn, recordIn, textIn, utcTime } from '../field.ts'
import type { Lookup, LookupAnswer, LookupContext } from '../lookup.ts'
import { unreadableReason } from '../unreadable.ts'
import type { Answered, GitHubApi } from './api.ts'
import { appToken } from './app-token.ts'
import type { GitHubSetup } from './github-event.ts'
import { numberIn, required } from './github-event.ts'
import * as marketplace from './marketplace.ts'
import type { Sponsorship } from './sponsorship.ts'
import * as sponsors from './sponsorship.ts'

/** Everybody who is on a plan, and everybody who sponsors one maintainer: for a comparison of all there is. */
export const LISTING = 'marketplace_listing'
export const MAINTAINER = 'sponsorships_of'

/** How Marketplace is asked: as a GitHub App, or as an OAuth app. */
export type MarketplaceAccess =
  | { readonly app: string; readonly key: KeyObject; readonly stubbed: boolean }
  | { readonly basic: string; readonly stubbed: boolean }

export interface LookupSetup {
  readonly setup: GitHubSetup
  readonly api: GitHubApi
  readonly marketplace: MarketplaceAccess | undefined
  readonly sponsors_token: string | undefined
}

const PAGE = 100
/** No listing has so many pages; an API that never ends its lists must not keep us for ever. */
const PAGES_MAX = 1_000

export function newLookup(setup: LookupSetup): Lookup {
  return {
    fetch: async (request, _expected, context) => {
      try {
        return await fetchObject(setup, request, context)
      } catch (error) {
        return { outcome: 'unreadable', reason: unreadableReason(error) }
      }
    },
  }
}

function fetchObject(
  setup: LookupSetup,
  { object, id }: LookupRequest,
  context: LookupContext,
): Promise<LookupAnswer> {
  switch (object) {
    case marketplace.ACCOUNT:
    case marketplace.CANCELLATION:
      return fetchAccount(setup, id, object === marketplace.CANCELLATION, context)
    case LISTING:
      return fetchListing(setup, context)
    case sponsors.SPONSORSHIP:
    case sponsors.CANCELLATION:
      return fetchSponsorship(setup, id, object === sponsors.CANCELLATION, context)
    case MAINTAINER:
      return fetchMaintainer(setup, id, context)
    default:
      return Promise.resolve({ outcome: 'refused', reason: `GitHub has no object ${object} to ask about` })
  }
}

/** An account without a plan is what a cancellation wants to see; after a purchase it may be one not to be seen yet. */
async function fetchAccount(
  setup: LookupSetup,
  id: string,
  ended: boolean,
  context: LookupContext,
): Promise<LookupAnswer> {
  const answer = await getMarketplace(setup, `/accounts/${encodeURIComponent(id)}`, context)
  if (answer.outcome === 'answered' && numberIn(answer.json, 'id') !== id)
    return { outcome: 'unreadable', reason: 'the answer is about another account' }
  const fact = answer.outcome === 'answered' ? accountFact(setup.setup, answer.json) : null
  if (fact !== null) return { outcome: 'found', facts: [fact] }
  if (answer.outcome !== 'answered' && answer.outcome !== 'not_found') return answer
  if (!ended) return { outcome: 'not_found' }
  const now = new Date(context.now_ms).toISOString()
  return { outcome: 'found', facts: [marketplace.planEnded(setup.setup, id, undefined, now)] }
}

/** Stated at GitHub's own time of the change, so that an answer that lags states what is old. Null without a plan. */
function accountFact(setup: GitHubSetup, json: unknown): Fact | null {
  const purchase = recordIn(json, 'marketplace_purchase')
  if (purchase === undefined) return null
  const account = required(numberIn(json, 'id'), 'id')
  const at = required(utcTime(textIn(purchase, 'updated_at')), 'marketplace_purchase.updated_at')
  return marketplace.planHeld(setup, account, purchase, at)
}

async function fetchListing(setup: LookupSetup, context: LookupContext): Promise<LookupAnswer> {
  const plans = await getPages(setup, '/plans', context)
  if (!Array.isArray(plans)) return plans
  const facts: Fact[] = []
  for (const plan of plans) {
    const id = required(numberIn(plan, 'id'), 'id of a plan')
    const accounts = await getPages(setup, `/plans/${id}/accounts`, context)
    if (!Array.isArray(accounts)) return accounts
    facts.push(...accounts.flatMap((account) => accountFact(setup.setup, account) ?? []))
  }
  return { outcome: 'found', facts }
}

type Missing = Exclude<Answered, { readonly outcome: 'answered' }>

async function getPages(
  setup: LookupSetup,
  path: string,
  context: LookupContext,
): Promise<unknown[] | Missing> {
  const items: unknown[] = []
  for (let page = 1; page <= PAGES_MAX; page += 1) {
    const answer = await getMarketplace(setup, `${path}?per_page=${PAGE}&page=${page}`, context)
    if (answer.outcome !== 'answered') return answer
    if (!Array.isArray(answer.json)) return { outcome: 'unreadable', reason: 'a list is no list' }
    items.push(...answer.json)
    if (answer.json.length < PAGE) return items
  }
  return { outcome: 'unreadable', reason: 'a list does not end' }
}

function getMarketplace(setup: LookupSetup, path: string, context: LookupContext): Promise<Answered> {
  const access = setup.marketplace
  if (access === undefined)
    return Promise.resolve({
      outcome: 'refused',
      reason: 'github: set the option marketplace to ask about plans',
    })
  const authorization =
    'basic' in access ? access.basic : `Bearer ${appToken(access.app, access.key, context.now_ms)}`
  const root = access.stubbed ? '/marketplace_listing/stubbed' : '/marketplace_listing'
  return setup.api.get(`${root}${path}`, authorization, context)
}

const FIELDS = `
  id isActive isOneTimePayment
  tier { id }
  sponsorable { ... on User { databaseId } ... on Organization { databaseId } }
  sponsorEntity { ... on User { databaseId } ... on Organization { databaseId } }`

const ONE = `query ($id: ID!) { node(id: $id) { ... on Sponsorship { ${FIELDS} } } }`

const ALL = `query ($login: String!, $after: String) {
  repositoryOwner(login: $login) { ... on Sponsorable {
    sponsorshipsAsMaintainer(first: ${PAGE}, after: $after, includePrivate: true, activeOnly: false) {
      pageInfo { hasNextPage endCursor }
      nodes { ${FIELDS} }
    }
  } }
}`

/** @param id the sponsorship's node id, and where a message told it, the tier's behind a slash */
async function fetchSponsorship(
  setup: LookupSetup,
  id: string,
  ended: boolean,
  context: LookupContext,
): Promise<LookupAnswer> {
  const [sponsorship, tier] = id.split('/') as [string, string?]
  const answer = await query(setup, ONE, { id: sponsorship }, context)
  if (answer.outcome !== 'answered') return answer
  const node = recordIn(answer.json, 'node')
  if (node === undefined) return { outcome: 'not_found' }
  if (textIn(node, 'id') !== sponsorship)
    return { outcome: 'unreadable', reason: 'the answer is about another sponsorship' }
  const told = readNode(setup.setup, node, context)
  // GraphQL tells no time of a change: what does not show yet what the message told is asked again, not believed.
  const shows = told.active !== ended && (tier === undefined || tier === told.tier)
  return shows ? { outcome: 'found', facts: told.facts } : { outcome: 'not_found' }
}

async function fetchMaintainer(
  setup: LookupSetup,
  login: string,
  context: LookupContext,
): Promise<LookupAnswer> {
  const facts: Fact[] = []
  let after: string | null = null
  for (let page = 1; page <= PAGES_MAX; page += 1) {
    const answer = await query(setup, ALL, { login, after }, context)
    if (answer.outcome !== 'answered') return answer
    const list = recordIn(answer.json, 'repositoryOwner', 'sponsorshipsAsMaintainer')
    if (list === undefined) return { outcome: 'not_found' }
    for (const node of listIn(list, 'nodes')) facts.push(...readNode(setup.setup, node, context).facts)
    if (booleanIn(list, 'pageInfo', 'hasNextPage') !== true) return { outcome: 'found', facts }
    after = required(textIn(list, 'pageInfo', 'endCursor'), 'pageInfo.endCursor')
  }
  return { outcome: 'unreadable', reason: 'a list does not end' }
}

/** Stated at the time of asking, since GraphQL tells no time at which a sponsorship ended or came back. */
function readNode(
  setup: GitHubSetup,
  node: unknown,
  context: LookupContext,
): { active: boolean; tier: string | undefined; facts: readonly Fact[] } {
  const id = required(sponsors.nodeIn(node, 'id'), 'id')
  const tier = sponsors.nodeIn(node, 'tier', 'id')
  const active = required(booleanIn(node, 'isActive'), 'isActive')
  const one_time = required(booleanIn(node, 'isOneTimePayment'), 'isOneTimePayment')
  const foreign =
    setup.sponsorable !== undefined && numberIn(node, 'sponsorable', 'databaseId') !== setup.sponsorable
  if (foreign) return { active, tier, facts: [] }
  const sponsorship: Sponsorship = {
    id,
    tier,
    one_time,
    payer: numberIn(node, 'sponsorEntity', 'databaseId'),
  }
  const now = new Date(context.now_ms).toISOString()
  const state = active ? sponsors.sponsoring : sponsors.sponsoringEnded
  return { active, tier, facts: [state(setup, sponsorship, now)] }
}

function query(
  setup: LookupSetup,
  text: string,
  variables: Readonly<Record<string, string | null>>,
  context: LookupContext,
): Promise<Answered> {
  const token = setup.sponsors_token
  return token === undefined
    ? Promise.resolve({
        outcome: 'refused',
        reason:
          'github: set the option sponsorsToken; changes and cancellations of sponsorships carry no time',
      })
    : setup.api.query(text, variables, `Bearer ${token}`, context)
}
