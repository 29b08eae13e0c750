import type { FakeAnswer, FakeRequest, FakeServer, Faults } from '../fake-server.ts'
import { startFakeServer } from '../fake-server.ts'
import type { SampleMessage } from '../sample-maker.ts'
import type { SamplePlan, SamplePurchase } from './sample.ts'
import { marketplaceBody, planOf, purchaseOf, signGitHub, sponsorshipBody } from './sample.ts'

/** A sponsorship as the stand-in keeps it. */
export interface FakeSponsorship {
  readonly id: string
  readonly tier: string
  readonly active: boolean
  readonly one_time: boolean
  readonly sponsor: number
  readonly created_at: string
}

export interface FakeGitHubOptions {
  /** The clock, Unix milliseconds. */
  readonly now_ms: () => number
  readonly plans: readonly SamplePlan[]
  /** The maintainer whose sponsorships it keeps. Default `example-maintainer`, number 770001. */
  readonly login?: string | undefined
  /** Whether an `Authorization` header is good. Default: any is. */
  readonly authorizes?: ((authorization: string) => boolean) | undefined
}

/** A stand-in for the REST and GraphQL API, and for what GitHub does when people buy and sponsor. */
export interface FakeGitHub extends FakeServer {
  purchase(purchase: SamplePurchase): void
  change(purchase: SamplePurchase): void
  /** Ends the plan of an account, whatever it is. */
  cancel(account: number): void
  sponsor(id: string, tier: string, options?: { sponsor?: number; one_time?: boolean }): void
  changeTier(id: string, tier: string): void
  cancelSponsorship(id: string): void
  /** The signed messages of everything that happened since the last call; GitHub sends each once and never again. */
  deliveries(secret: string): readonly SampleMessage[]
}

interface State {
  readonly purchases: ReadonlyMap<number, SamplePurchase & { readonly updated_at: string }>
  readonly sponsorships: ReadonlyMap<string, FakeSponsorship>
}

const MAINTAINER = 770_001
const PAGE = 100

export async function startFakeGitHub(options: FakeGitHubOptions): Promise<FakeGitHub> {
  const versions: { at_ms: number; state: State }[] = [
    { at_ms: Number.NEGATIVE_INFINITY, state: { purchases: new Map(), sponsorships: new Map() } },
  ]
  let happened: { event: string; body: string }[] = []
  const now = () => new Date(options.now_ms()).toISOString()
  const midnight = () => `${now().slice(0, 10)}T00:00:00+00:00`
  const present = () => versions.at(-1)!.state
  const become = (state: Partial<State>) => {
    versions.push({ at_ms: options.now_ms(), state: { ...present(), ...state } })
  }
  const seen = (faults: Faults) =>
    versions.findLast(({ at_ms }) => at_ms <= options.now_ms() - faults.lag_ms)?.state ?? present()

  function setPurchase(action: 'purchased' | 'changed', purchase: SamplePurchase): void {
    const previous = present().purchases.get(purchase.account)
    const purchases = new Map(present().purchases).set(purchase.account, { ...purchase, updated_at: now() })
    become({ purchases })
    const body = marketplaceBody({ ...purchase, action, effective_date: midnight(), previous })
    happened.push({ event: 'marketplace_purchase', body })
  }

  function setSponsorship(action: string, sponsorship: FakeSponsorship): void {
    const from = action === 'tier_changed' ? present().sponsorships.get(sponsorship.id)?.tier : undefined
    become({ sponsorships: new Map(present().sponsorships).set(sponsorship.id, sponsorship) })
    happened.push({ event: 'sponsorship', body: sponsorshipBody({ ...sponsorship, action, from }) })
  }

  function known(id: string): FakeSponsorship {
    const sponsorship = present().sponsorships.get(id)
    if (sponsorship === undefined) throw new Error(`no sponsorship ${id}`)
    return sponsorship
  }

  const server = await startFakeServer((request, faults) => {
    const authorization = request.headers.authorization ?? ''
    if (faults.locked_out || authorization === '' || options.authorizes?.(authorization) === false)
      return { status: 401, body: { message: 'Bad credentials' } }
    const state = seen(faults)
    return request.path === '/graphql'
      ? answerGraphql(request, state, options.login ?? 'example-maintainer', faults)
      : answerRest(request, state, options.plans, faults)
  })

  return {
    ...server,
    purchase: (purchase) => setPurchase('purchased', purchase),
    change: (purchase) => setPurchase('changed', purchase),
    cancel: (account) => {
      const purchase = present().purchases.get(account)
      if (purchase === undefined) throw new Error(`account ${account} has no plan`)
      const purchases = new Map(present().purchases)
      purchases.delete(account)
      become({ purchases })
      const body = marketplaceBody({ ...purchase, action: 'cancelled', effective_date: midnight() })
      happened.push({ event: 'marketplace_purchase', body })
    },
    sponsor: (id, tier, { sponsor = 880_001, one_time = false } = {}) => {
      // Who comes back gets the former sponsorship again.
      const created_at = present().sponsorships.get(id)?.created_at ?? now()
      setSponsorship('created', { id, tier, active: true, one_time, sponsor, created_at })
    },
    changeTier: (id, tier) => setSponsorship('tier_changed', { ...known(id), tier }),
    cancelSponsorship: (id) => setSponsorship('cancelled', { ...known(id), active: false }),
    deliveries: (secret) => {
      const sent = happened
      happened = []
      return sent.map(({ event, body }) => ({
        method: 'POST',
        query: '',
        headers: signGitHub(event, body, secret),
        body,
      }))
    },
  }
}

const NOT_FOUND: FakeAnswer = { status: 404, body: { message: 'Not Found', status: '404' } }

function answerRest(
  request: FakeRequest,
  { purchases }: State,
  plans: readonly SamplePlan[],
  faults: Faults,
): FakeAnswer {
  const path = request.path.replace('/marketplace_listing/stubbed', '/marketplace_listing')
  const page = Number(request.query.get('page') ?? 1)
  if (path === '/marketplace_listing/plans') return pageOf(plans.map(planOf), page, faults)
  const account = /^\/marketplace_listing\/accounts\/([0-9]+)$/.exec(path)?.[1]
  if (account !== undefined) {
    const purchase = purchases.get(Number(account))
    return purchase ? { status: 200, body: accountAnswer(purchase) } : NOT_FOUND
  }
  const plan = /^\/marketplace_listing\/plans\/([0-9]+)\/accounts$/.exec(path)?.[1]
  if (plan === undefined) return NOT_FOUND
  const held = [...purchases.values()].filter((purchase) => purchase.plan.id === Number(plan))
  return pageOf(held.map(accountAnswer), page, faults)
}

function accountAnswer(purchase: SamplePurchase & { readonly updated_at: string }) {
  return {
    id: purchase.account,
    type: 'Organization',
    login: `example-org-${purchase.account}`,
    marketplace_pending_change: null,
    marketplace_purchase: {
      ...purchaseOf(purchase),
      next_billing_date: null,
      updated_at: purchase.updated_at,
    },
  }
}

function pageOf(items: readonly object[], page: number, faults: Faults): FakeAnswer {
  if (faults.list_breaks && page > 1) return { status: 500, body: { message: 'Server Error' } }
  return { status: 200, body: items.slice((page - 1) * PAGE, page * PAGE) }
}

function answerGraphql(request: FakeRequest, state: State, login: string, faults: Faults): FakeAnswer {
  const { query, variables } = JSON.parse(request.body.toString('utf8')) as {
    query: string
    variables: { id?: string; login?: string; after?: string | null }
  }
  if (query.includes('repositoryOwner'))
    return answerMaintainer(state, variables.login === login, variables.after, faults)
  const sponsorship = state.sponsorships.get(variables.id ?? '')
  if (sponsorship !== undefined) return { status: 200, body: { data: { node: nodeOf(sponsorship) } } }
  const errors = [{ type: 'NOT_FOUND', path: ['node'], message: 'Could not resolve to a node' }]
  return { status: 200, body: { data: { node: null }, errors } }
}

function answerMaintainer(
  { sponsorships }: State,
  found: boolean,
  after: string | null | undefined,
  faults: Faults,
): FakeAnswer {
  if (!found) return { status: 200, body: { data: { repositoryOwner: null } } }
  const first = Number(after ?? 0)
  if (faults.list_breaks && first > 0) return { status: 500, body: { message: 'Server Error' } }
  const end = first + PAGE
  const sponsorshipsAsMaintainer = {
    pageInfo: { hasNextPage: end < sponsorships.size, endCursor: String(end) },
    nodes: [...sponsorships.values()].slice(first, end).map(nodeOf),
  }
  return { status: 200, body: { data: { repositoryOwner: { sponsorshipsAsMaintainer } } } }
}

function nodeOf({ id, active, one_time, tier, sponsor }: FakeSponsorship) {
  return {
    id,
    isActive: active,
    isOneTimePayment: one_time,
    tier: { id: tier },
    sponsorable: { databaseId: MAINTAINER },
    sponsorEntity: { databaseId: sponsor },
  }
}
