import { Fault } from '../../facts/fault.ts'
import type { CapabilitySheet, SignedProvider } from '../contract.ts'
import { checkAccount } from '../provider-name.ts'
import type { SecretOption } from '../secret.ts'
import { isPlaceholder, readSecrets } from '../secret.ts'
import { checkTolerance } from '../time-window.ts'
import type { AmountKind } from './amount.ts'
import { newPaddleApi } from './api.ts'
import type { PaddleEnvironment } from './environment.ts'
import { readEnvironment } from './environment.ts'
import { newPaddleLookup } from './lookup.ts'
import type { OrderReferenceOption } from './order-reference.ts'
import { NAMESPACE } from './paddle-event.ts'
import { translatePaddle } from './translate.ts'
import { verifyPaddle } from './verify.ts'

export type { LabelledSecret, SecretOption } from '../secret.ts'
export type { AmountKind } from './amount.ts'
export type { PaddleEnvironment } from './environment.ts'
export type { OrderReferenceOption } from './order-reference.ts'
export { samples, signPaddle } from './sample.ts'

export interface PaddleOptions {
  /**
   * Secret key of the notification destination (`pdl_ntfset_...`), or several: one per destination that sends here. The
   * whole text is the key, prefix included.
   */
  readonly webhookSecrets: SecretOption
  /** Our name for the Paddle account, part of every key; never change it afterwards. Default `default`. */
  readonly account?: string | undefined
  /**
   * Which of Paddle's two systems this is. Default: as the API key says; without one it stays open. A body never tells,
   * so set it where no API key is given.
   */
  readonly environment?: PaddleEnvironment | undefined
  /**
   * Server-side API key, for look-ups, lists and refunds. Needs to read transactions, adjustments and subscriptions, and
   * to write adjustments for refunds. Left out, there are none.
   */
  readonly apiKey?: string | undefined
  /** Another address of the API, for a stand-in. Default Paddle's own host of the environment. */
  readonly baseUrl?: string | undefined
  /** Where our order reference stands and what it looks like. Default: `custom_data.order_id`. */
  readonly orderReference?: OrderReferenceOption | undefined
  /**
   * What your order totals are compared with: `gross`, what the buyer pays, or `net`, without tax. Default `gross`, which
   * is only a fixed sum where your prices include tax: Paddle decides the tax. Never change it afterwards.
   */
  readonly amounts?: AmountKind | undefined
  /** When set, events of other types are stored and cause nothing. */
  readonly expects?: readonly string[] | undefined
  /**
   * How far the signed time may lie from ours, seconds, both ways. Default 300. Paddle prescribes nothing; its own
   * libraries allow 5, which refuses good deliveries behind a queue or with a clock that is a little off.
   */
  readonly tolerance_s?: number | undefined
}

const CAPABILITIES: CapabilitySheet = {
  event_id: 'body',
  proof: 'bytes',
  test_marker: 'secret',
  signed_time: true,
  redelivers: true,
  // 60 tries over three days; in the sandbox only 3 within 15 minutes.
  redelivers_for_hours: 72,
  refund_ids: true,
  lookup_by_payment: true,
  lookup_by_reference: false,
  lists_by_window: true,
  read_lag_ms: null,
  late_failure_days: { '*': 0 },
  idempotency: {
    refund: {
      where: 'none',
      name: null,
      window_hours: null,
      repeat: 'runs_again',
      looks_first: true,
      echoes_key: true,
      definitive_no: ['request_error'],
      note: 'Paddle documents no key. Ours is written into the reason of the adjustment and looked for before each try; beyond that only the lock on a pending refund helps. Source: Paddle API reference, adjustments and errors.',
    },
    charge: null,
  },
}

/**
 * A Paddle Billing account behind an endpoint (not Paddle Classic, which is another system). Source of what it reads:
 * Paddle's API reference and webhook documentation of 2026, and its official libraries.
 * @throws Fault `secret_missing` for a blank or placeholder secret or key, `config_invalid` for other mistakes
 */
export function paddle(options: PaddleOptions): SignedProvider {
  const secrets = readSecrets('paddle', options.webhookSecrets, signingKey)
  const tolerance_s = checkTolerance('paddle', options.tolerance_s ?? 300)
  const account = checkAccount('paddle', options.account)
  const { mode, access } = readEnvironment(options)
  const expects = options.expects ?? null
  const setup = {
    account,
    orderReference: options.orderReference ?? {},
    amounts: checkAmounts(options.amounts ?? 'gross'),
    expects,
  }
  return {
    provider: 'paddle',
    namespace: NAMESPACE,
    account,
    secrets_mode: mode,
    secrets: secrets.map(({ label, fingerprint, trimmed }) => ({ label, fingerprint, trimmed })),
    adapter_version: 1,
    capabilities: CAPABILITIES,
    stored_headers: [],
    methods: ['POST'],
    expects,
    verify: (delivery, now_ms) => verifyPaddle(secrets, tolerance_s, delivery, now_ms),
    translate: (delivery) => translatePaddle(setup, delivery.body),
    lookup: access === null ? undefined : newPaddleLookup(setup, newPaddleApi(access)),
  }
}

/** The whole text is the key, prefix included. */
function signingKey(secret: string): Buffer {
  if (/^pdl_(?:live|sdbx)_apikey_/.test(secret)) {
    throw new Fault(
      'config_invalid',
      'paddle: webhookSecrets has an API key. Use the secret key of the notification destination (pdl_ntfset_...).',
    )
  }
  if (isPlaceholder(secret.replace(/^pdl_ntfset_/, ''))) {
    throw new Fault(
      'secret_missing',
      'paddle: the endpoint has a placeholder for a secret. Copy the secret key of the notification destination from Developer tools, Notifications.',
    )
  }
  return Buffer.from(secret, 'utf8')
}

function checkAmounts(amounts: AmountKind): AmountKind {
  if (amounts === 'gross' || amounts === 'net') return amounts
  throw new Fault('config_invalid', "paddle: amounts must be 'gross' or 'net'.")
}
