import { Fault } from '../../facts/fault.ts'
import type { Ask } from '../ask.ts'
import { checkBaseUrl } from '../base-url.ts'
import type { CapabilitySheet, IdempotencyRules } from '../capability.ts'
import type { Provider } from '../contract.ts'
import { checkAccount } from '../provider-name.ts'
import { isPlaceholder } from '../secret.ts'
import { agreedMode, checkApiKey, modeOfApiKey } from './api-key.ts'
import { KeyCache } from './key-cache.ts'
import type { WalletsRefunds } from './lookup.ts'
import { walletsLookup } from './lookup.ts'
import { notificationKeys, readPublicKey } from './notification-key.ts'
import { isSampleKey } from './sample-key.ts'
import type { CircleToken } from './token-amount.ts'
import { readTokens } from './token-amount.ts'
import type { Deposit } from './transaction.ts'
import { translateNotification } from './translate.ts'
import { readUuids, uuidOf } from './uuid.ts'
import { verifyNotification } from './verify.ts'

export interface CircleWalletsOptions {
  /**
   * API key of the Circle account. Signing keys are fetched with it, and look-ups made. A key that begins with
   * `TEST_API_KEY:` or `LIVE_API_KEY:` tells the mode.
   */
  readonly apiKey?: string | undefined
  /**
   * Ids of your webhook subscriptions. Circle signs everybody's messages alike, so that a stranger could point a
   * subscription of his own at your address: what comes of any other is kept and settles nothing. May be empty until
   * the subscription exists.
   */
  readonly subscriptionIds: readonly string[]
  /** The tokens that count as money. Any other token that arrives at an address of yours is not a payment. */
  readonly tokens: readonly CircleToken[]
  /**
   * The order that a deposit is for, by the address or wallet that was given out for it: a deposit carries no reference.
   * Pure and synchronous: same deposit, same answer. Without it, or without an answer, the payment waits for somebody.
   */
  readonly orderOf?: ((deposit: Deposit) => string | undefined) | undefined
  /** The payment (Circle transaction id) that an outgoing transfer gives back, by the `refId` that you gave it. */
  readonly refundOf?: ((refId: string) => string | undefined) | undefined
  /** Allows refunds: transfers back to the address that a payment came from. Default: none are made. */
  readonly refunds?: WalletsRefunds | undefined
  /** Our name for the Circle account, part of every key; never change it afterwards. Default `default`. */
  readonly account?: string | undefined
  /** When set, notifications of other types are stored and cause nothing. */
  readonly expects?: readonly string[] | undefined
  /** Whose wallets are listed: yours (`DEVELOPER`, the default) or those of your users (`ENDUSER`). */
  readonly custodyType?: 'DEVELOPER' | 'ENDUSER' | undefined
  /** Signing keys known beforehand, by their id: base64 of the SPKI form. They are never fetched. */
  readonly publicKeys?: Readonly<Record<string, string>> | undefined
  /** Address of the API. Default `https://api.circle.com`. */
  readonly baseUrl?: string | undefined
  /** How signing keys are asked for; for tests and stand-ins. Default: the platform's `fetch`. */
  readonly ask?: Ask | undefined
}

const REFUND_KEY: IdempotencyRules = {
  where: 'body',
  name: 'idempotencyKey',
  window_hours: null,
  repeat: 'same_answer',
  definitive_no: ['400', '404', '422'],
  note: 'The key must be a uuid, made from ours. How long it is remembered is unconfirmed. Each request, also a repeat, carries an entity secret encrypted anew. Source: Circle API reference, idempotent requests.',
}

/** @param refunds whether this configuration can send transfers */
function capabilities(refunds: boolean): CapabilitySheet {
  return {
    event_id: 'body',
    proof: 'bytes',
    signed_time: false,
    test_marker: 'body',
    redelivers: true,
    redelivers_for_hours: null,
    refund_ids: true,
    lookup_by_payment: true,
    lookup_by_reference: false,
    lists_by_window: true,
    read_lag_ms: null,
    late_failure_days: { '*': 0 },
    idempotency: { refund: refunds ? REFUND_KEY : null, charge: null },
  }
}

/**
 * Circle Wallets behind an endpoint: notifications of version 2 about deposits and transfers. Source: Circle's developer
 * documentation and its SDK `@circle-fin/developer-controlled-wallets` 10.
 * @throws Fault `secret_missing` for a blank or placeholder key, `config_invalid` for other mistakes
 */
export function circleWallets(options: CircleWalletsOptions): Provider {
  const apiKey = checkApiKey('circle', options.apiKey)
  const publicKeys = readPublicKeys(options.publicKeys ?? {})
  if (apiKey === undefined && publicKeys.size === 0) {
    throw new Fault('secret_missing', 'circle: apiKey is missing. Without it no signing key can be fetched.')
  }
  const secrets_mode = agreedMode('circle', {
    apiKey: modeOfApiKey(apiKey),
    'the key in publicKeys': [...publicKeys.values()].some(isSampleKey) ? 'test' : null,
  })
  const baseUrl = checkBaseUrl('circle', 'baseUrl', options.baseUrl ?? 'https://api.circle.com')
  const account = checkAccount('circle', options.account)
  const expects = options.expects ?? null
  const keys = new KeyCache(notificationKeys({ baseUrl, apiKey, ask: options.ask }), publicKeys)
  const refunds = checkRefunds(options.refunds)
  const setup = {
    namespace: 'circle',
    account,
    expects,
    tokens: readTokens(options.tokens),
    subscriptionIds: readUuids('circle', 'subscriptionIds', options.subscriptionIds),
    orderOf: options.orderOf,
    refundOf: options.refundOf,
  }
  const custodyType = options.custodyType ?? 'DEVELOPER'
  return {
    provider: 'circle',
    namespace: setup.namespace,
    account,
    secrets_mode,
    secrets: [],
    adapter_version: 1,
    capabilities: capabilities(refunds !== undefined),
    stored_headers: [],
    // A subscription is made only when the address answers HEAD with 200.
    methods: ['POST', 'HEAD'],
    expects,
    verify: (delivery, now_ms) => verifyNotification(keys, delivery, now_ms),
    translate: (delivery) => translateNotification(setup, delivery.body),
    lookup:
      apiKey === undefined ? undefined : walletsLookup(setup, { apiKey, baseUrl, custodyType, refunds }),
  }
}

function readPublicKeys(given: Readonly<Record<string, string>>) {
  return new Map(
    Object.entries(given).map(([id, text]) => {
      const uuid = uuidOf(id.trim())
      if (uuid === null)
        throw new Fault('config_invalid', `circle: publicKeys names ${id}, which is not a uuid.`)
      return [uuid, readPublicKey(text.trim())] as const
    }),
  )
}

function checkRefunds(refunds: WalletsRefunds | undefined): WalletsRefunds | undefined {
  if (refunds === undefined) return undefined
  const entitySecret = refunds.entitySecret.trim()
  if (entitySecret === '' || isPlaceholder(entitySecret)) {
    throw new Fault('secret_missing', 'circle: refunds.entitySecret is blank or a placeholder.')
  }
  if (/^[0-9a-f]{64}$/i.test(entitySecret)) return { ...refunds, entitySecret }
  throw new Fault('config_invalid', 'circle: refunds.entitySecret must be 32 bytes in hex, 64 digits.')
}
