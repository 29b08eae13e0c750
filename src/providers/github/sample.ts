import { createHash } from 'node:crypto'
import { signHmac } from '../hmac/sample.ts'
import type { SampleMaker, SampleWish } from '../sample-maker.ts'
import { SCHEME } from './verify.ts'

/** A Marketplace plan as GitHub's bodies and answers carry it. */
export interface SamplePlan {
  readonly id: number
  readonly name?: string | undefined
  /** List price of a month, US cents. */
  readonly monthly_price_in_cents: number
  /** Default: ten months' price. */
  readonly yearly_price_in_cents?: number | undefined
  /** Default `FLAT_RATE`. */
  readonly price_model?: 'PER_UNIT' | 'FLAT_RATE' | 'FREE' | undefined
}

/** What an account has bought. */
export interface SamplePurchase {
  /** Number of the buying account. */
  readonly account: number
  readonly plan: SamplePlan
  /** Default `monthly`. */
  readonly billing_cycle?: 'monthly' | 'yearly' | null | undefined
  readonly unit_count?: number | undefined
  readonly on_free_trial?: boolean | undefined
}

export interface MarketplaceSample extends SamplePurchase {
  /** Default `purchased`. */
  readonly action?: string | undefined
  /** ISO 8601; GitHub gives midnight. */
  readonly effective_date: string
  readonly previous?: SamplePurchase | undefined
}

export interface SponsorshipSample {
  /** Default `created`. */
  readonly action?: string | undefined
  /** The sponsorship's node id. */
  readonly id: string
  /** The tier's node id. Default: made of the sponsorship's. */
  readonly tier?: string | undefined
  /** Price of the tier, US cents; for a one-time tier the price of that one time. Default 500. */
  readonly price_in_cents?: number | undefined
  readonly one_time?: boolean | undefined
  /** ISO 8601. */
  readonly created_at: string
  /** For what is announced only. */
  readonly effective_date?: string | undefined
  /** Number of the sponsor; null for one that GitHub hides. Default 880001. */
  readonly sponsor?: number | null | undefined
  /** Number of the maintainer. Default 770001. */
  readonly sponsorable?: number | undefined
  /** The former tier, for changes of it. */
  readonly from?: string | undefined
}

const USER = { type: 'User', site_admin: false }
const SENDER = { login: 'example-user', id: 880_001, node_id: 'U_kwExample880001', ...USER }

/** Makes the JSON text of a `marketplace_purchase` delivery. Sign it with `signGitHub`. */
export function marketplaceBody(sample: MarketplaceSample): string {
  return JSON.stringify({
    action: sample.action ?? 'purchased',
    effective_date: sample.effective_date,
    sender: { ...SENDER, email: 'user@example.com' },
    marketplace_purchase: {
      account: accountOf(sample.account),
      ...purchaseOf(sample),
      next_billing_date: null,
    },
    ...(sample.previous && {
      previous_marketplace_purchase: { account: accountOf(sample.account), ...purchaseOf(sample.previous) },
    }),
  })
}

function accountOf(id: number) {
  return { type: 'Organization', id, node_id: `O_kwExample${id}`, login: `example-org-${id}` }
}

/** A purchase without its account, as bodies and answers have it. */
export function purchaseOf(sample: SamplePurchase) {
  return {
    billing_cycle: sample.billing_cycle === undefined ? 'monthly' : sample.billing_cycle,
    unit_count: sample.unit_count ?? 1,
    on_free_trial: sample.on_free_trial ?? false,
    free_trial_ends_on: null,
    plan: planOf(sample.plan),
  }
}

export function planOf(plan: SamplePlan) {
  return {
    id: plan.id,
    name: plan.name ?? `Plan ${plan.id}`,
    description: 'A plan',
    monthly_price_in_cents: plan.monthly_price_in_cents,
    yearly_price_in_cents: plan.yearly_price_in_cents ?? 10 * plan.monthly_price_in_cents,
    price_model: plan.price_model ?? 'FLAT_RATE',
    has_free_trial: true,
    unit_name: plan.price_model === 'PER_UNIT' ? 'seat' : null,
    bullets: ['Support'],
  }
}

/** Makes the JSON text of a `sponsorship` delivery. Sign it with `signGitHub`. */
export function sponsorshipBody(sample: SponsorshipSample): string {
  const { action = 'created', id, sponsorable = 770_001, sponsor = SENDER.id } = sample
  const tier = sample.tier ?? `ST_${id.replace(/^S_/, '')}`
  return JSON.stringify({
    action,
    sponsorship: {
      node_id: id,
      created_at: sample.created_at,
      sponsorable: {
        login: 'example-maintainer',
        id: sponsorable,
        node_id: `U_kwExample${sponsorable}`,
        ...USER,
      },
      sponsor: sponsor === null ? null : { ...SENDER, id: sponsor },
      privacy_level: sponsor === null ? 'private' : 'public',
      tier: tierOf(tier, sample),
    },
    ...changesOf(action, sample),
    ...(sample.effective_date !== undefined && { effective_date: sample.effective_date }),
    sender: SENDER,
  })
}

function tierOf(node_id: string, { price_in_cents = 500, one_time = false }: SponsorshipSample) {
  return {
    node_id,
    created_at: '2025-01-01T10:00:00Z',
    description: 'Thank you ☕',
    monthly_price_in_cents: price_in_cents,
    monthly_price_in_dollars: Math.floor(price_in_cents / 100),
    name: `$${Math.floor(price_in_cents / 100)} ${one_time ? 'one time' : 'a month'}`,
    is_one_time: one_time,
    is_custom_amount: false,
  }
}

function changesOf(action: string, sample: SponsorshipSample) {
  if (action === 'edited') return { changes: { privacy_level: { from: 'private' } } }
  return sample.from === undefined ? {} : { changes: { tier: { from: tierOf(sample.from, sample) } } }
}

/**
 * The headers with which GitHub would send this body.
 * @param form sends it as the field `payload` of a form; then `body` is that form's text (see `formBody`)
 */
export function signGitHub(
  event: string,
  body: string | Uint8Array,
  secret: string,
  form = false,
): Record<string, string> {
  const digest = createHash('sha256').update(body).digest('hex')
  return {
    ...signHmac(SCHEME, body, secret, 0),
    'content-type': form ? 'application/x-www-form-urlencoded' : 'application/json',
    'user-agent': 'GitHub-Hookshot/0000000',
    'x-github-event': event,
    'x-github-delivery': digest.slice(0, 32).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'),
    'x-github-hook-id': '410001',
  }
}

/** The same payload as a hook with content type `application/x-www-form-urlencoded` sends it. */
export function formBody(json: string): string {
  return new URLSearchParams({ payload: json }).toString()
}

const MARKETPLACE = ['purchased', 'changed', 'pending_change', 'pending_change_cancelled', 'cancelled']
const SPONSORS = [
  'created',
  'edited',
  'tier_changed',
  'pending_tier_change',
  'pending_cancellation',
  'cancelled',
]

/**
 * A wish's payment is the number of the buying account; sponsorships get a node id made of it. Its order is not carried:
 * GitHub has no place for one. No event tells of money: `paid` is what begins the right.
 */
export const samples: SampleMaker = {
  events: [
    ...MARKETPLACE.map((action) => `marketplace_purchase.${action}`),
    ...SPONSORS.map((action) => `sponsorship.${action}`),
    'ping',
  ],
  steps: { paid: ['marketplace_purchase.purchased'] },
  currency: 'USD',
  payment: (seed) => {
    const digest = createHash('sha256').update(seed).digest()
    return String(1_000_000 + (digest.readUInt32BE(0) % 200_000_000))
  },
  make: (wish, secret) => {
    const [event, action] = (wish.event ?? 'marketplace_purchase.purchased').split('.') as [string, string?]
    const body = bodyOf(event, action, wish)
    return { method: 'POST', query: '', headers: signGitHub(event, body, secret), body }
  },
}

function bodyOf(event: string, action: string | undefined, wish: SampleWish): string {
  const at = new Date(wish.at_s * 1000).toISOString()
  if (event === 'ping')
    return JSON.stringify({ zen: 'Half measures.', hook_id: 410_001, hook: { type: 'Repository' } })
  if (event === 'marketplace_purchase')
    return wishedPurchase(action, wish, `${at.slice(0, 10)}T00:00:00+00:00`)
  const id = wish.payment.startsWith('S_') ? wish.payment : `S_kw${wish.payment}`
  const changing = action === 'tier_changed' || action === 'pending_tier_change'
  return sponsorshipBody({
    action,
    id,
    price_in_cents: Number(wish.amount_minor),
    created_at: at,
    effective_date: action?.startsWith('pending_') ? at : undefined,
    from: changing ? 'ST_kwFormer' : undefined,
  })
}

function wishedPurchase(action: string | undefined, wish: SampleWish, effective_date: string): string {
  const account = /^[1-9][0-9]{0,14}$/.test(wish.payment)
    ? Number(wish.payment)
    : Number(samples.payment(wish.payment))
  const plan = { id: 1313, name: 'Team', monthly_price_in_cents: Number(wish.amount_minor) }
  const changing = action === 'changed' || action === 'pending_change'
  const previous = changing ? { account, plan: { id: 1312, monthly_price_in_cents: 100 } } : undefined
  return marketplaceBody({ action, account, plan, effective_date, previous })
}
