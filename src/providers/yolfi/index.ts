import { Fault } from '../../facts/fault.ts'
import type { Token } from '../../money/currency.ts'
import { readApiKey } from '../api-key.ts'
import { checkBaseUrl } from '../base-url.ts'
import type { CapabilitySheet } from '../capability.ts'
import type { SignedProvider } from '../contract.ts'
import { checkAccount } from '../provider-name.ts'
import type { SecretOption } from '../secret.ts'
import { readSecrets } from '../secret.ts'
import { newYolfiLookup } from './lookup.ts'
import { translateYolfi } from './translate.ts'
import { verifyYolfi } from './verify.ts'
import type { OrderReferenceOption } from './yolfi-event.ts'

export { token } from '../../money/currency.ts'
export type { LabelledSecret, SecretOption } from '../secret.ts'
export { makeYolfiSample, signYolfi } from './sample.ts'
export type { OrderReferenceOption } from './yolfi-event.ts'

export interface YolfiOptions {
  /**
   * The signing secret of this very endpoint, never the API key; during a rotation also the old one, for about an hour.
   */
  readonly webhookSecrets: SecretOption
  /** API key, for lists. Look-ups of one payment need none. Default: no lists. */
  readonly apiKey?: string | undefined
  /** Our name for the Yolfi account, part of every key; never change it afterwards. Default `default`. */
  readonly account?: string | undefined
  /** Your organisation's id. Messages that name another are kept and not settled. Default: all are taken. */
  readonly organizationId?: string | undefined
  /** Where our order reference stands and what it looks like. Default: `merchantOrderId`, else metadata `order_id`. */
  readonly orderReference?: OrderReferenceOption | undefined
  /** Tokens in which prices are set, for example `token('USDC', 6)`. Default none: prices are in ISO 4217 currencies. */
  readonly tokens?: readonly Token[] | undefined
  /** When set, events of other types are stored and cause nothing. */
  readonly expects?: readonly string[] | undefined
  /** Address of the API, for a stand-in. Default `https://app.yolfi.com/api`. */
  readonly baseUrl?: string | undefined
}

const CAPABILITIES: CapabilitySheet = {
  event_id: 'body',
  proof: 'bytes',
  signed_time: false,
  test_marker: 'body',
  redelivers: true,
  // Older documents: three sends within four minutes; newer ones promise nothing.
  redelivers_for_hours: null,
  refund_ids: false,
  lookup_by_payment: true,
  lookup_by_reference: false,
  lists_by_window: true,
  read_lag_ms: null,
  late_failure_days: { '*': 0 },
  idempotency: { refund: null, charge: null },
}

/**
 * A Yolfi organisation behind an endpoint whose adapter is NONE. Source of what it reads: Yolfi's documentation and
 * article on webhooks of 2026, and the field names that a public receiver reads.
 * @throws Fault `secret_missing` for a blank or placeholder secret or key, `config_invalid` for other mistakes
 */
export function yolfi(options: YolfiOptions): SignedProvider {
  const provider = 'yolfi'
  const secrets = readSecrets(provider, options.webhookSecrets, (text) => Buffer.from(text, 'utf8'))
  const apiKey = readApiKey(provider, options.apiKey)
  if (apiKey !== undefined && secrets.some(({ key }) => key.equals(Buffer.from(apiKey, 'utf8')))) {
    throw new Fault(
      'config_invalid',
      'yolfi: webhookSecrets has the API key. Use the signing secret that was shown when the endpoint was made or its secret rotated.',
    )
  }
  const expects = options.expects ?? null
  const setup = {
    namespace: provider,
    account: checkAccount(provider, options.account),
    orderReference: options.orderReference ?? {},
    tokens: options.tokens ?? [],
    organizationId: options.organizationId,
    expects,
  }
  const baseUrl = checkBaseUrl(provider, 'baseUrl', options.baseUrl ?? 'https://app.yolfi.com/api')
  return {
    provider,
    namespace: setup.namespace,
    account: setup.account,
    secrets_mode: null,
    secrets: secrets.map(({ label, fingerprint, trimmed }) => ({ label, fingerprint, trimmed })),
    adapter_version: 1,
    capabilities: CAPABILITIES,
    stored_headers: [],
    methods: ['POST'],
    expects,
    verify: (delivery) => verifyYolfi(secrets, delivery),
    translate: (delivery) => translateYolfi(setup, delivery.body),
    lookup: newYolfiLookup(setup, { baseUrl, apiKey }),
  }
}
