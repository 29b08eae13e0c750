import type { Mode } from '../../facts/event.ts'
import { Fault } from '../../facts/fault.ts'
import type { CapabilitySheet, SignedProvider } from '../contract.ts'
import type { MessageTranslate } from '../message.ts'
import { checkAccount, checkNamespace, checkProviderName } from '../provider-name.ts'
import type { SecretOption } from '../secret.ts'
import { readSecrets } from '../secret.ts'
import { checkTolerance } from '../time-window.ts'
import type { HmacScheme } from './scheme.ts'
import { signedParts } from './scheme.ts'
import { translateHmac } from './translate.ts'
import { verifyHmac } from './verify.ts'

export { disputeFunds, disputeStatus } from '../../facts/dispute.ts'
export { paymentLink, paymentMilestone } from '../../facts/payment.ts'
export { refundMilestone, refundTotal } from '../../facts/refund.ts'
export { subscriptionStatus } from '../../facts/subscription.ts'
export { parseDecimal, parseMinor } from '../../money/amount.ts'
export { exponentOf, token } from '../../money/currency.ts'
export type { MessageContext, MessageReading, MessageTranslate } from '../message.ts'
export type { LabelledSecret, SecretOption } from '../secret.ts'
export { Unreadable } from '../unreadable.ts'
export { hmacSample, hmacSamples, samples, signHmac } from './sample.ts'
export type { HmacScheme } from './scheme.ts'

export interface HmacOptions extends HmacScheme {
  /** The sender's name, part of every key; never change it afterwards. Lower-case letters, digits, dashes. */
  readonly name: string
  /** The shared secret, or several during a rotation. */
  readonly secrets: SecretOption
  /** From this sender's payload to facts. */
  readonly translate: MessageTranslate
  /** How the secret's text becomes the key. Default `text`: its UTF-8 bytes. */
  readonly secretFormat?: 'text' | 'hex' | 'base64' | undefined
  /** Further headers to keep and to show to `translate`, for example the event type's. No signature covers them. */
  readonly storedHeaders?: readonly string[] | undefined
  /** Accepted HTTP methods. Default POST alone. */
  readonly methods?: readonly string[] | undefined
  /** Our name for the account at the sender. Default `default`. */
  readonly account?: string | undefined
  /** What the sender's payment ids belong to, where it differs from the name. */
  readonly namespace?: string | undefined
  /** What the secrets are for, where the sender has separate test and live endpoints. */
  readonly mode?: Mode | undefined
  /** When set, messages of other types are stored and cause nothing. */
  readonly expects?: readonly string[] | undefined
  /** Raise it whenever `translate` could give other facts for the same bytes. Default 1. */
  readonly adapter_version?: number | undefined
  /** What is known of the sender. Default: nothing beyond what the scheme says. */
  readonly capabilities?: Partial<CapabilitySheet> | undefined
}

/**
 * Any sender that signs its body with an HMAC over a shared secret, described as data by the sender's documentation.
 * @throws Fault `secret_missing` for a blank or placeholder secret, `config_invalid` for other mistakes
 */
export function hmac(options: HmacOptions): SignedProvider {
  const provider = checkProviderName(options.name)
  const secrets = readSecrets(provider, options.secrets, (text) =>
    secretKey(provider, text, options.secretFormat ?? 'text'),
  )
  const parts = signedParts(provider, options)
  if (options.time !== undefined) checkTolerance(provider, options.time.tolerance_s)
  const namespace = checkNamespace(provider, options.namespace)
  const account = checkAccount(provider, options.account)
  const expects = options.expects ?? null
  const storedHeaders = (options.storedHeaders ?? []).map((name) => name.toLowerCase())
  const setup = { namespace, account, expects, translate: options.translate, scheme: options, storedHeaders }
  return {
    provider,
    namespace,
    account,
    secrets_mode: options.mode ?? null,
    secrets: secrets.map(({ label, fingerprint, trimmed }) => ({ label, fingerprint, trimmed })),
    adapter_version: options.adapter_version ?? 1,
    capabilities: { ...capabilitiesOf(options), ...options.capabilities },
    stored_headers: options.id ? [...storedHeaders, options.id.header.toLowerCase()] : storedHeaders,
    methods: options.methods ?? ['POST'],
    expects,
    verify: (delivery, now_ms) => verifyHmac({ scheme: options, parts, secrets }, delivery, now_ms),
    translate: (delivery, verified) => translateHmac(setup, delivery, verified),
  }
}

/** Decoding is strict: a lenient one would turn a secret of the wrong format into a short or empty key. */
function secretKey(provider: string, text: string, format: 'text' | 'hex' | 'base64'): Buffer {
  if (format === 'text') return Buffer.from(text, 'utf8')
  const key = Buffer.from(text, format)
  const spelling = format === 'hex' ? text.toLowerCase() : text.replace(/=+$/, '')
  if (key.toString(format).replace(/=+$/, '') === spelling) return key
  throw new Fault('config_invalid', `${provider}: a secret is not ${format}. Correct it or secretFormat.`)
}

function capabilitiesOf(scheme: HmacScheme): CapabilitySheet {
  return {
    event_id: scheme.id === undefined ? 'body' : 'signed_header',
    proof: 'bytes',
    test_marker: 'secret',
    signed_time: scheme.time !== undefined,
    redelivers: false,
    redelivers_for_hours: null,
    refund_ids: false,
    lookup_by_payment: false,
    lookup_by_reference: false,
    lists_by_window: false,
    read_lag_ms: null,
    idempotency: { refund: null, charge: null },
    late_failure_days: {},
  }
}
