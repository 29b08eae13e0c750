import type { X509Certificate } from 'node:crypto'
import type { Mode } from '../../../facts/event.ts'
import { Fault } from '../../../facts/fault.ts'
import { token } from '../../../money/currency.ts'
import type { Ask } from '../../ask.ts'
import { checkModeUrl } from '../../base-url.ts'
import type { CapabilitySheet, IdempotencyRules } from '../../capability.ts'
import type { Provider } from '../../contract.ts'
import { checkAccount } from '../../provider-name.ts'
import { agreedMode, checkApiKey, modeOfApiKey } from '../api-key.ts'
import { KeyCache } from '../key-cache.ts'
import { readUuids } from '../uuid.ts'
import { certificateUrl, readCertificate, topicCertificates } from './certificate.ts'
import { mintLookup } from './lookup.ts'
import type { MintReference } from './payment.ts'
import { isSampleCertificate } from './sample-certificate.ts'
import type { Topic } from './topic.ts'
import { readTopic } from './topic.ts'
import { translateMint } from './translate.ts'
import { verifySns } from './verify.ts'

export interface CircleMintOptions {
  /**
   * ARN of the SNS topic that Circle sends from; it stands in the first message that arrives. Messages of every other
   * topic are refused: anybody can sign those with AWS.
   */
  readonly topicArn: string
  /**
   * Your client ids at Circle (`clientId` in its messages). The topic carries the messages of all customers: what is
   * another's is kept and settles nothing. May be empty until the first message shows it.
   */
  readonly clientIds: readonly string[]
  /** Live or test, where neither the topic's name (`sandbox_`, `prod_`) nor the API key's prefix tells. */
  readonly mode?: Mode | undefined
  /** API key, for look-ups and refunds. Without it there are none. */
  readonly apiKey?: string | undefined
  /** The order of a payment or payment intent, by the ids that you got when you created it. Pure and synchronous. */
  readonly orderOf?: ((reference: MintReference) => string | undefined) | undefined
  /** Currencies beside those of ISO 4217: code and decimals, for example `{ code: 'BTC', decimals: 8 }`. */
  readonly tokens?: readonly { readonly code: string; readonly decimals: number }[] | undefined
  /**
   * `sender`: refunds of payments on a chain go to the one address that they came from, which may be an exchange's and
   * not the buyer's. Default: such refunds are declined.
   */
  readonly refundTo?: 'sender' | undefined
  /** Our name for the Circle account, part of every key; never change it afterwards. Default `default`. */
  readonly account?: string | undefined
  /** When set, notifications of other types (`payments`, `paymentIntents`, ...) are stored and cause nothing. */
  readonly expects?: readonly string[] | undefined
  /** Signing certificates (PEM) known beforehand, by their address. They are never fetched. */
  readonly certificates?: Readonly<Record<string, string>> | undefined
  /** Address of the API. Default `https://api.circle.com`, in test mode `https://api-sandbox.circle.com`. */
  readonly baseUrl?: string | undefined
  /** How certificates are asked for; for tests and stand-ins. Default: the platform's `fetch`. */
  readonly ask?: Ask | undefined
}

const KEY: IdempotencyRules = {
  where: 'body',
  name: 'idempotencyKey',
  window_hours: null,
  repeat: 'same_answer',
  definitive_no: ['400', '404', '422'],
  note: 'The key must be a uuid, made from ours. How long it is remembered is unconfirmed. Source: Circle API reference, idempotent requests.',
}

const CAPABILITIES: CapabilitySheet = {
  event_id: 'body',
  proof: 'fields',
  signed_time: false,
  test_marker: 'secret',
  redelivers: true,
  redelivers_for_hours: null,
  refund_ids: true,
  lookup_by_payment: true,
  lookup_by_reference: false,
  lists_by_window: true,
  read_lag_ms: null,
  // The return window of unauthorised ACH debits; money on a chain does not come back by itself.
  late_failure_days: { ach: 60, '*': 0 },
  idempotency: { refund: KEY, charge: null },
}

/**
 * Circle Mint (payments, payment intents, chargebacks) behind an endpoint: notifications of version 1 by way of Amazon
 * SNS. Source: Circle's developer documentation, its SDK `@circle-fin/circle-sdk` 2 and its sample application; how AWS
 * signs, from AWS. Circle itself does not describe the signature (unconfirmed).
 * @throws Fault `secret_missing` for a blank or placeholder key, `config_invalid` for other mistakes
 */
export function circleMint(options: CircleMintOptions): Provider {
  const topic = readTopic(options.topicArn)
  const apiKey = checkApiKey('circle-mint', options.apiKey)
  const pinned = readCertificates(options.certificates ?? {}, topic)
  const mode = agreedMode('circle-mint', {
    mode: options.mode ?? null,
    topicArn: topic.mode,
    apiKey: modeOfApiKey(apiKey),
    'the certificate': [...pinned.values()].some(isSampleCertificate) ? 'test' : null,
  })
  if (mode === null) {
    throw new Fault(
      'config_invalid',
      "circle-mint: nothing tells live from test. Set mode to 'live' or 'test'.",
    )
  }
  const usual = mode === 'live' ? 'https://api.circle.com' : 'https://api-sandbox.circle.com'
  const baseUrl = checkModeUrl('circle-mint', 'baseUrl', options.baseUrl ?? usual, mode, [
    'api-sandbox.circle.com',
  ])
  const account = checkAccount('circle-mint', options.account)
  const expects = options.expects ?? null
  const certificates = new KeyCache(topicCertificates(topic, options.ask), pinned)
  const setup = {
    namespace: 'circle-mint',
    account,
    mode,
    expects,
    tokens: readTokens(options.tokens ?? []),
    clientIds: readUuids('circle-mint', 'clientIds', options.clientIds),
    orderOf: options.orderOf,
  }
  return {
    provider: 'circle-mint',
    namespace: setup.namespace,
    account,
    secrets_mode: mode,
    secrets: [],
    adapter_version: 1,
    capabilities: CAPABILITIES,
    stored_headers: [],
    // A subscription is made only when the address answers HEAD with 200.
    methods: ['POST', 'HEAD'],
    expects,
    verify: (delivery, now_ms) => verifySns(topic, certificates, delivery, now_ms),
    translate: (delivery) => translateMint(setup, delivery.body),
    lookup:
      apiKey === undefined ? undefined : mintLookup(setup, { apiKey, baseUrl, refundTo: options.refundTo }),
  }
}

function readCertificates(
  given: Readonly<Record<string, string>>,
  topic: Topic,
): ReadonlyMap<string, X509Certificate> {
  return new Map(
    Object.entries(given).map(([url, pem]) => {
      const certificate = readCertificate(pem)
      if (certificateUrl(url, topic) !== null && certificate !== null) return [url, certificate] as const
      throw new Fault(
        'config_invalid',
        `circle-mint: certificates must be PEM by their address at ${topic.host}.`,
      )
    }),
  )
}

function readTokens(given: readonly { readonly code: string; readonly decimals: number }[]) {
  try {
    return given.map(({ code, decimals }) => token(code, decimals))
  } catch (cause) {
    throw new Fault('config_invalid', `circle-mint: ${(cause as Error).message}`)
  }
}
