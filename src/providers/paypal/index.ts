import { X509Certificate } from 'node:crypto'
import { Fault } from '../../facts/fault.ts'
import { newAsk } from '../ask.ts'
import type { CapabilitySheet } from '../capability.ts'
import type { Provider } from '../contract.ts'
import { checkAccount } from '../provider-name.ts'
import type { SecretOption } from '../secret.ts'
import { readSecrets } from '../secret.ts'
import { checkTolerance } from '../time-window.ts'
import { checkEnvironment, paypalApi, REFUND_KEY, standInBase } from './api-setup.ts'
import type { PaypalEnvironment } from './certificate.ts'
import { KeyRing } from './key-ring.ts'
import { paypalLookup } from './lookup.ts'
import type { OrderReferenceOption } from './order-reference.ts'
import { NAMESPACE } from './paypal-object.ts'
import { translatePaypal } from './translate.ts'
import { verifyPaypal } from './verify.ts'

export type { LabelledSecret, SecretOption } from '../secret.ts'
export type { PaypalEnvironment } from './certificate.ts'
export type { FakePaypal } from './fake.ts'
export { startFakePaypal } from './fake.ts'
export type { OrderReferenceOption } from './order-reference.ts'
export { standInRoot } from './sample.ts'

export interface PaypalOptions {
  /**
   * The id of the registered webhook, from the app's page in PayPal's dashboard; several while a webhook is replaced.
   * It is part of what is signed and not in the request.
   */
  readonly webhookIds: SecretOption
  /** Which of PayPal's two systems this endpoint belongs to. */
  readonly environment: PaypalEnvironment
  /** Client id of the app, for the look-ups without which nothing is granted. */
  readonly clientId: string
  /** Client secret of the app. */
  readonly clientSecret: string
  /** Our name for the PayPal account, part of every key; never change it afterwards. Default `default`. */
  readonly account?: string | undefined
  /** Our merchant id at PayPal (13 characters). When set, events and money of others are kept and not settled. */
  readonly merchantId?: string | undefined
  /** Where our order reference stands and what it looks like. Default: the invoice id, else the custom id. */
  readonly orderReference?: OrderReferenceOption | undefined
  /** When set, events of other types are stored and cause nothing. */
  readonly expects?: readonly string[] | undefined
  /**
   * How far the signed time may lie from ours, seconds, both ways. Default 345,600 (four days): PayPal documents none
   * and delivers again for three days, maybe with the first time.
   */
  readonly tolerance_s?: number | undefined
  /** Certificates (PEM) between PayPal's and its root, should its file leave them out and its authority not offer them. */
  readonly intermediates?: readonly string[] | undefined
  /** Address of a stand-in for PayPal's API and its certificates. Sandbox only. */
  readonly baseUrl?: string | undefined
  /** Root certificates (PEM) that are trusted instead of the public ones. Sandbox only. */
  readonly trustedRoots?: readonly string[] | undefined
  /** Sends the requests for certificates. Default: `fetch`. */
  readonly fetcher?: typeof fetch | undefined
}

const CAPABILITIES: CapabilitySheet = {
  event_id: 'body',
  proof: 'bytes',
  test_marker: 'secret',
  signed_time: true,
  redelivers: true,
  redelivers_for_hours: 72,
  refund_ids: true,
  lookup_by_payment: true,
  lookup_by_reference: false,
  lists_by_window: true,
  // The transaction report; single objects can be read at once, or seconds after their event.
  read_lag_ms: 10_800_000,
  // An eCheck that bounces after it was completed is told as a reversal; PayPal documents no window.
  late_failure_days: { '*': 0 },
  idempotency: { refund: REFUND_KEY, charge: null },
}

/**
 * A PayPal account behind an endpoint for REST webhooks. Source of what it reads: PayPal's REST API specifications
 * (payments 2.5, orders 2.13, subscriptions 1.6, disputes 1.10, transaction reporting 1.9) and webhook guides.
 * @throws Fault `secret_missing` for a blank or placeholder id or secret, `config_invalid` for other mistakes
 */
export function paypal(options: PaypalOptions): Provider {
  const environment = checkEnvironment('paypal', options.environment)
  const webhooks = readSecrets('paypal', options.webhookIds, webhookKey)
  const tolerance_s = checkTolerance('paypal', options.tolerance_s ?? 345_600)
  const account = checkAccount('paypal', options.account)
  const base = standInBase('paypal', environment, options.baseUrl)
  const expects = options.expects ?? null
  const setup = {
    account,
    orderReference: options.orderReference ?? {},
    merchantId: options.merchantId,
    environment,
    expects,
  }
  const api = paypalApi('paypal', options)
  const keys = new KeyRing(
    {
      environment,
      roots: readRoots(environment, options.trustedRoots),
      intermediates: readPem(options.intermediates ?? []),
      standIn: base,
    },
    newAsk(options.fetcher ?? fetch, Date.now),
  )
  return {
    provider: 'paypal',
    namespace: NAMESPACE,
    account,
    secrets_mode: environment === 'live' ? 'live' : 'test',
    secrets: webhooks.map(({ label, fingerprint, trimmed }) => ({ label, fingerprint, trimmed })),
    adapter_version: 1,
    capabilities: CAPABILITIES,
    stored_headers: [],
    methods: ['POST'],
    expects,
    verify: (delivery, now_ms) =>
      verifyPaypal({ webhooks, environment, tolerance_s, keys }, delivery, now_ms),
    translate: (delivery) => translatePaypal(setup, delivery.body),
    lookup: paypalLookup({ setup, api }),
  }
}

/** The literal id with which PayPal's simulator signs is nobody's, so anybody could send under it. */
function webhookKey(id: string): Buffer {
  if (id === 'WEBHOOK_ID' || !/^[A-Za-z0-9-]{8,64}$/.test(id)) {
    throw new Fault(
      'config_invalid',
      'paypal: webhookIds must hold the id of a registered webhook, as the app page in the dashboard shows it (letters and digits).',
    )
  }
  return Buffer.from(id, 'latin1')
}

function readRoots(
  environment: PaypalEnvironment,
  roots: readonly string[] | undefined,
): readonly X509Certificate[] | undefined {
  if (roots === undefined) return undefined
  if (environment === 'sandbox') return readPem(roots)
  throw new Fault('config_invalid', "paypal: trustedRoots is for environment 'sandbox' only. Leave it out.")
}

function readPem(certificates: readonly string[]): readonly X509Certificate[] {
  try {
    return certificates.map((pem) => new X509Certificate(pem))
  } catch {
    throw new Fault(
      'config_invalid',
      'paypal: intermediates and trustedRoots must each be a certificate in PEM.',
    )
  }
}
