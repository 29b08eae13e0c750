import { Fault } from '../../facts/fault.ts'
import { checkBaseUrl } from '../base-url.ts'
import type { CapabilitySheet, SignedProvider } from '../contract.ts'
import { checkAccount } from '../provider-name.ts'
import type { SecretOption } from '../secret.ts'
import { isPlaceholder, readSecrets } from '../secret.ts'
import { newApi } from './api.ts'
import { readAppKey } from './app-token.ts'
import type { GitHubAgreement } from './github-event.ts'
import type { MarketplaceAccess } from './lookup.ts'
import { newLookup } from './lookup.ts'
import { EVENT_HEADER, translateGitHub } from './translate.ts'
import { verifyGitHub } from './verify.ts'

export type { LabelledSecret, SecretOption } from '../secret.ts'
export type { GitHubAgreement } from './github-event.ts'
export type { MarketplaceSample, SponsorshipSample } from './sample.ts'
export { marketplaceBody, signGitHub, sponsorshipBody } from './sample.ts'

/** How Marketplace is asked about accounts and plans: as the GitHub App of the listing, or as its OAuth app. */
export type MarketplaceCredentials = (
  | {
      /** The App's client id (`Iv...`) or its number. */
      readonly appId: string
      /** The App's private key, the content of its `.pem` file. */
      readonly privateKey: string
    }
  | { readonly clientId: string; readonly clientSecret: string }
) & {
  /** Asks the stubbed endpoints, whose answers are made up by GitHub: only for a test installation. Default false. */
  readonly stubbed?: boolean | undefined
}

export interface GitHubOptions {
  /** The hook's secret, or the old and the new one while it is changed. A hook without one cannot be believed. */
  readonly webhookSecrets: SecretOption
  /** Our name for this listing or sponsors profile, part of every key; one for each. Default `default`. */
  readonly account?: string | undefined
  /** Credentials to ask Marketplace with. Without them two changes of one account on one day stay undecided. */
  readonly marketplace?: MarketplaceCredentials | undefined
  /**
   * Personal access token of the maintainer, to ask Sponsors with. Without it no change and no end of a sponsorship is
   * settled, since those messages carry no time: they raise `lookup_failed`.
   */
  readonly sponsorsToken?: string | undefined
  /** GitHub number of the maintainer whose sponsorships count; others' are kept as not ours. Default: everybody's. */
  readonly sponsorable?: number | undefined
  /**
   * Gives the order that an agreement belongs to, or undefined for none. GitHub carries no reference of ours, so it can
   * only follow from GitHub's own ids. Pure: same ids, same answer. Default: no order is named.
   */
  readonly orderReference?: ((agreement: GitHubAgreement) => string | undefined) | undefined
  /** When set, events of other types (`marketplace_purchase.purchased`) are stored and cause nothing. */
  readonly expects?: readonly string[] | undefined
  /** Address of the API, for stand-ins. Default `https://api.github.com`. */
  readonly apiUrl?: string | undefined
}

const CAPABILITIES: CapabilitySheet = {
  // The only id is in X-GitHub-Delivery, which nothing signs; ours is made of the signed body.
  event_id: 'body',
  proof: 'bytes',
  signed_time: false,
  test_marker: 'secret',
  // Not even after a failure; what was missed is found by comparing with the look-ups alone.
  redelivers: false,
  redelivers_for_hours: null,
  // No payment, refund or dispute is ever told, and none can be asked about: this is a feed of rights.
  refund_ids: false,
  lookup_by_payment: false,
  lookup_by_reference: false,
  lists_by_window: false,
  read_lag_ms: null,
  late_failure_days: {},
  idempotency: { refund: null, charge: null },
}

/**
 * A GitHub Marketplace listing or Sponsors profile behind an endpoint. It tells who is on which plan from when, and
 * nothing about money. Source of what it reads: GitHub's documentation of webhooks, Marketplace and Sponsors, the schemas
 * of octokit/webhooks, REST version 2022-11-28.
 * @throws Fault `secret_missing` for blank or placeholder secrets, keys and tokens, `config_invalid` for other mistakes
 */
export function github(options: GitHubOptions): SignedProvider {
  const secrets = readSecrets('github', options.webhookSecrets, (text) => Buffer.from(text, 'utf8'))
  const account = checkAccount('github', options.account)
  const marketplace = options.marketplace && readAccess(options.marketplace)
  const sponsors_token = readCredential('sponsorsToken', options.sponsorsToken)
  const namespace = 'github'
  const expects = options.expects ?? null
  const setup = {
    namespace,
    account,
    sponsorable: readSponsorable(options.sponsorable),
    orderReference: options.orderReference,
    asksMarketplace: marketplace !== undefined,
    asksSponsors: sponsors_token !== undefined,
    expects,
  }
  const api = newApi(checkBaseUrl('github', 'apiUrl', options.apiUrl ?? 'https://api.github.com'))
  const asks = setup.asksMarketplace || setup.asksSponsors
  return {
    provider: 'github',
    namespace,
    account,
    secrets_mode: marketplace?.stubbed === true ? 'test' : null,
    secrets: secrets.map(({ label, fingerprint, trimmed }) => ({ label, fingerprint, trimmed })),
    adapter_version: 1,
    capabilities: CAPABILITIES,
    stored_headers: [EVENT_HEADER],
    methods: ['POST'],
    expects,
    verify: (delivery, now_ms) => verifyGitHub(secrets, delivery, now_ms),
    translate: (delivery) => translateGitHub(setup, delivery),
    lookup: asks ? newLookup({ setup, api, marketplace, sponsors_token }) : undefined,
  }
}

function readAccess(credentials: MarketplaceCredentials): MarketplaceAccess {
  const stubbed = credentials.stubbed === true
  if ('privateKey' in credentials) {
    const key = readAppKey(required('marketplace.privateKey', credentials.privateKey))
    return { app: required('marketplace.appId', credentials.appId), key, stubbed }
  }
  const id = required('marketplace.clientId', credentials.clientId)
  const pair = `${id}:${required('marketplace.clientSecret', credentials.clientSecret)}`
  return { basic: `Basic ${Buffer.from(pair, 'utf8').toString('base64')}`, stubbed }
}

function required(name: string, value: unknown): string {
  const text = typeof value === 'string' ? value.trim() : ''
  if (text !== '' && !isPlaceholder(text)) return text
  throw new Fault(
    'secret_missing',
    `github: ${name} is blank or a placeholder. Set it, or leave the credentials out.`,
  )
}

function readCredential(name: string, value: string | undefined): string | undefined {
  return value === undefined ? undefined : required(name, value)
}

function readSponsorable(id: number | undefined): string | undefined {
  if (id === undefined) return undefined
  if (Number.isSafeInteger(id) && id > 0) return String(id)
  throw new Fault(
    'config_invalid',
    'github: sponsorable is the number of a GitHub account; GET https://api.github.com/users/<login> tells it as id.',
  )
}
