import type { Mode } from '../../facts/event.ts'
import type { CapabilitySheet, SignedProvider } from '../contract.ts'
import type { MessageTranslate } from '../message.ts'
import { checkAccount, checkNamespace, checkProviderName } from '../provider-name.ts'
import type { SecretOption } from '../secret.ts'
import { readSecrets } from '../secret.ts'
import { checkTolerance } from '../time-window.ts'
import { secretKey } from './secret-key.ts'
import { translateStandardWebhook } from './translate.ts'
import { verifyStandardWebhook } from './verify.ts'

export { disputeFunds, disputeStatus } from '../../facts/dispute.ts'
export { paymentLink, paymentMilestone } from '../../facts/payment.ts'
export { refundMilestone, refundTotal } from '../../facts/refund.ts'
export { subscriptionStatus } from '../../facts/subscription.ts'
export { parseDecimal, parseMinor } from '../../money/amount.ts'
export { exponentOf, token } from '../../money/currency.ts'
export type { MessageContext, MessageReading, MessageTranslate } from '../message.ts'
export type { LabelledSecret, SecretOption } from '../secret.ts'
export { Unreadable } from '../unreadable.ts'
export { samples, signStandardWebhook, standardWebhookSample } from './sample.ts'

export interface StandardWebhooksOptions {
  /** The sender's name, part of every key; never change it afterwards. Lower-case letters, digits, dashes. */
  readonly name: string
  /** `whsec_` and base64; several during a rotation. */
  readonly secrets: SecretOption
  /** From this sender's payload to facts. The convention defines no payment, so nobody else can say. */
  readonly translate: MessageTranslate
  /** `text` for senders that use the secret's whole text as the key (Polar). Default `base64`. */
  readonly secretFormat?: 'base64' | 'text' | undefined
  /** Also take a complete set of `svix-*` headers where there is no complete `webhook-*` set. Default false. */
  readonly svixHeaders?: boolean | undefined
  /** Our name for the account at the sender. Default `default`. */
  readonly account?: string | undefined
  /** What the sender's payment ids belong to, where it differs from the name. */
  readonly namespace?: string | undefined
  /** What the secrets are for, where the sender has separate test and live endpoints. */
  readonly mode?: Mode | undefined
  /** When set, messages of other types are stored and cause nothing. */
  readonly expects?: readonly string[] | undefined
  /** How far the signed time may lie from ours, seconds, both ways. Default 300, as in the reference libraries. */
  readonly tolerance_s?: number | undefined
  /** Raise it whenever `translate` could give other facts for the same bytes. Default 1. */
  readonly adapter_version?: number | undefined
  /** What is known of the sender beyond the convention. */
  readonly capabilities?: Partial<CapabilitySheet> | undefined
}

const CAPABILITIES: CapabilitySheet = {
  event_id: 'signed_header',
  proof: 'bytes',
  test_marker: 'secret',
  signed_time: true,
  redelivers: true,
  redelivers_for_hours: null,
  refund_ids: false,
  lookup_by_payment: false,
  lookup_by_reference: false,
  lists_by_window: false,
  read_lag_ms: null,
  idempotency: { refund: null, charge: null },
  late_failure_days: {},
}

/**
 * Any sender that keeps to Standard Webhooks 1.0.0 (source: its specification and reference libraries). Not for Stripe,
 * whose secrets only look alike.
 * @throws Fault `secret_missing` for a blank or placeholder secret, `config_invalid` for other mistakes
 */
export function standardWebhooks(options: StandardWebhooksOptions): SignedProvider {
  const provider = checkProviderName(options.name)
  const format = options.secretFormat ?? 'base64'
  const secrets = readSecrets(provider, options.secrets, (text) => secretKey(provider, text, format))
  const families: readonly ('webhook' | 'svix')[] = options.svixHeaders ? ['webhook', 'svix'] : ['webhook']
  const tolerance_s = checkTolerance(provider, options.tolerance_s ?? 300)
  const namespace = checkNamespace(provider, options.namespace)
  const account = checkAccount(provider, options.account)
  const expects = options.expects ?? null
  const setup = { namespace, account, expects, translate: options.translate, families, secrets, tolerance_s }
  return {
    provider,
    namespace,
    account,
    secrets_mode: options.mode ?? null,
    secrets: secrets.map(({ label, fingerprint, trimmed }) => ({ label, fingerprint, trimmed })),
    adapter_version: options.adapter_version ?? 1,
    capabilities: { ...CAPABILITIES, ...options.capabilities },
    stored_headers: families.map((family) => `${family}-id`),
    methods: ['POST'],
    expects,
    verify: (delivery, now_ms) => verifyStandardWebhook(setup, delivery, now_ms),
    translate: (delivery, verified) => translateStandardWebhook(setup, delivery, verified),
  }
}
