import { Fault } from '../../facts/fault.ts'
import { readApiKey } from '../api-key.ts'
import { checkBaseUrl } from '../base-url.ts'
import type { IdempotencyRules } from '../capability.ts'
import type { CapabilitySheet, Provider, SignedProvider } from '../contract.ts'
import { checkAccount } from '../provider-name.ts'
import type { SecretOption } from '../secret.ts'
import { readSecrets } from '../secret.ts'
import { checkTolerance } from '../time-window.ts'
import { newStripeLookup } from './lookup.ts'
import type { OrderReferenceOption } from './order-reference.ts'
import { translateStripe } from './translate.ts'
import { verifyStripe } from './verify.ts'

export type { LabelledSecret, SecretOption } from '../secret.ts'
export type { OrderReferenceOption } from './order-reference.ts'
export type { StripeSample } from './sample.ts'
export { samples, signStripe, stripeEvents } from './sample.ts'

export interface StripeOptions {
  /** The endpoint's signing secret (`whsec_...`), or several during a rotation. Never decoded: the prefix belongs to it. */
  readonly webhookSecrets: SecretOption
  /** Our name for the Stripe account, part of every key; never change it afterwards. Default `default`. */
  readonly account?: string | undefined
  /** For Stripe Connect: the `acct_...` whose events this endpoint takes. Events of others are kept and not settled. */
  readonly connectedAccount?: string | undefined
  /**
   * Secret or restricted API key, for look-ups, lists, refunds and charges through the official library `stripe`, which
   * has to be installed. Its prefix tells live from test. Without it nothing can be looked up.
   */
  readonly apiKey?: string | undefined
  /** Address of Stripe's API. Default `https://api.stripe.com`; http only on this machine, for stand-ins. */
  readonly apiUrl?: string | undefined
  /** Where our order reference stands and what it looks like. Default: metadata `order_id`, else `client_reference_id`. */
  readonly orderReference?: OrderReferenceOption | undefined
  /** When set, events of other types are stored and cause nothing. */
  readonly expects?: readonly string[] | undefined
  /** How far the signed time may lie from ours, seconds, both ways. Default 300, as in Stripe's own libraries. */
  readonly tolerance_s?: number | undefined
}

/** Stripe keeps the status and body of the first run, server errors included, and may drop a key after a day. */
const KEY: IdempotencyRules = {
  where: 'header',
  name: 'Idempotency-Key',
  window_hours: 24,
  repeat: 'same_answer_errors_too',
  echoes_key: true,
  definitive_no: ['400', '402', '404'],
  note: 'The official library sends a request a second time, under the same key, when the connection was closed. A key of more than 255 characters is refused; other parameters under a used key are an error. Source: Stripe API reference, idempotent requests.',
}

const CAPABILITIES: CapabilitySheet = {
  event_id: 'body',
  proof: 'bytes',
  test_marker: 'body',
  signed_time: true,
  redelivers: true,
  redelivers_for_hours: 72,
  refund_ids: true,
  lookup_by_payment: true,
  lookup_by_reference: true,
  lists_by_window: true,
  // Search lags by up to a minute; reading an object by its id does not.
  read_lag_ms: 60_000,
  idempotency: { refund: KEY, charge: KEY },
  // Return windows of the schemes; a Bacs indemnity claim has no limit.
  late_failure_days: { us_bank_account: 60, sepa_debit: 396, bacs_debit: 36_500, '*': 0 },
}

/**
 * A Stripe account behind an endpoint. Source of what it reads: Stripe's API reference and webhook documentation, API
 * versions up to 2026-10-28.
 * @throws Fault `secret_missing` for a blank or placeholder secret, `config_invalid` for other mistakes
 */
export function stripe(options: StripeOptions): SignedProvider {
  const secrets = readSecrets('stripe', options.webhookSecrets, signingKey)
  const tolerance_s = checkTolerance('stripe', options.tolerance_s ?? 300)
  const account = checkAccount('stripe', options.account)
  const namespace = 'stripe'
  const expects = options.expects ?? null
  const setup = {
    namespace,
    account,
    orderReference: options.orderReference ?? {},
    connectedAccount: options.connectedAccount,
    expects,
  }
  const apiKey = readApiKey('stripe', options.apiKey)
  const apiUrl = checkBaseUrl('stripe', 'apiUrl', options.apiUrl ?? 'https://api.stripe.com')
  return {
    provider: 'stripe',
    namespace,
    account,
    secrets_mode: modeOfKey(apiKey),
    secrets: secrets.map(({ label, fingerprint, trimmed }) => ({ label, fingerprint, trimmed })),
    adapter_version: 1,
    capabilities: CAPABILITIES,
    stored_headers: [],
    methods: ['POST'],
    expects,
    verify: (delivery, now_ms) => verifyStripe(secrets, tolerance_s, delivery, now_ms),
    translate: (delivery) => translateStripe(setup, delivery.body),
    lookup:
      apiKey === undefined
        ? undefined
        : newStripeLookup({ ...setup, apiKey, apiUrl, loadSdk: () => import('stripe') }),
  }
}

/** The whole text is the key, prefix included. */
function signingKey(secret: string): Buffer {
  if (/^(?:sk|rk|pk)_/.test(secret)) {
    throw new Fault(
      'config_invalid',
      'stripe: webhookSecrets has an API key. Use the signing secret of the webhook endpoint (whsec_...).',
    )
  }
  return Buffer.from(secret, 'utf8')
}

function modeOfKey(apiKey: string | undefined): Provider['secrets_mode'] {
  if (apiKey === undefined) return null
  const mode = /^(?:sk|rk)_(live|test)_/.exec(apiKey)?.[1]
  if (mode === 'live' || mode === 'test') return mode
  throw new Fault(
    'config_invalid',
    'stripe: apiKey must begin with sk_live_, sk_test_, rk_live_ or rk_test_.',
  )
}
