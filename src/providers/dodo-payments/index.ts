import type { Mode } from '../../facts/event.ts'
import { Fault } from '../../facts/fault.ts'
import { readApiKey } from '../api-key.ts'
import { checkModeUrl } from '../base-url.ts'
import type { CapabilitySheet, IdempotencyRules } from '../capability.ts'
import type { SignedProvider } from '../contract.ts'
import { checkAccount } from '../provider-name.ts'
import type { SecretOption } from '../secret.ts'
import { readSecrets } from '../secret.ts'
import { secretKey } from '../standard-webhooks/secret-key.ts'
import { checkTolerance } from '../time-window.ts'
import type { DodoSetup, OrderReferenceOption, OrderTotals } from './dodo-event.ts'
import { newDodoLookup } from './lookup.ts'
import { readDodoReturn } from './return.ts'
import { translateDodo } from './translate.ts'
import { verifyDodo } from './verify.ts'

export type { LabelledSecret, SecretOption } from '../secret.ts'
export type { OrderReferenceOption, OrderTotals } from './dodo-event.ts'
export { makeDodoSample } from './sample.ts'

export interface DodoPaymentsOptions {
  /** The endpoint's secret (`whsec_` and base64), or several during a rotation: the old one stays valid for 24 hours. */
  readonly webhookSecrets: SecretOption
  /**
   * Which of Dodo's modes this endpoint is for. Nothing in a message tells it, so set it: a mode other than the
   * installation's stops the start. It also chooses the API's host. Default: not known.
   */
  readonly mode?: Mode | undefined
  /** API key, for look-ups, lists, refunds and charges; needs `mode` or `baseUrl`. Default: none of these. */
  readonly apiKey?: string | undefined
  /** Our name for the Dodo account, part of every key; never change it afterwards. Default `default`. */
  readonly account?: string | undefined
  /** Your `business_id` (`bus_...`). Messages of others are kept and not settled. Default: all are taken. */
  readonly businessId?: string | undefined
  /** The `brand_id` of this shop, where several share the business. Default: all are taken. */
  readonly brandId?: string | undefined
  /** Where our order reference stands and what it looks like. Default: metadata `order_id`. */
  readonly orderReference?: OrderReferenceOption | undefined
  /**
   * Which amount of a payment an order's total is compared with. `charged` (default): what the buyer paid, tax and
   * conversion fee included, in the buyer's currency. `charged_without_tax`: the same less tax, for prices without tax.
   * `settled`, `settled_without_tax`: what is credited to your balance, in its currency, for adaptive currency. All but
   * `charged` need `apiKey`, since a refund does not tell its amount in these terms.
   */
  readonly orderTotals?: OrderTotals | undefined
  /** When set, events of other types are stored and cause nothing. */
  readonly expects?: readonly string[] | undefined
  /** How far the signed time may lie from ours, seconds, both ways. Default 300, as in Dodo's own libraries. */
  readonly tolerance_s?: number | undefined
  /** Address of the API, for a stand-in. Default: `https://live.dodopayments.com` or `https://test.dodopayments.com`. */
  readonly baseUrl?: string | undefined
}

const NO_KEY = {
  where: 'none',
  name: null,
  window_hours: null,
  repeat: 'runs_again',
  looks_first: true,
  definitive_no: ['400', '402', '404', '422'],
} as const

const REFUND_RULES: IdempotencyRules = {
  ...NO_KEY,
  note: 'Dodo takes no key. Ours is kept in the metadata and looked for among the payment’s refunds before one is asked for. EXISTING_REFUND_REQUEST_PROCESSING is unknown, not a no. Source: dodopayments 2.52.0, error codes.',
}

const CHARGE_RULES: IdempotencyRules = {
  ...NO_KEY,
  note: 'On-demand subscriptions only; `method` is the subscription. Dodo takes no key. Ours is kept in the metadata and looked for among the subscription’s payments before one is asked for. PREVIOUS_PAYMENT_PENDING is unknown, not a no.',
}

const CAPABILITIES: CapabilitySheet = {
  event_id: 'signed_header',
  proof: 'bytes',
  signed_time: true,
  test_marker: 'secret',
  redelivers: true,
  // 5 s, 5 min, 30 min, 2 h, 5 h, 10 h and 10 h, each after the one before.
  redelivers_for_hours: 27,
  refund_ids: true,
  lookup_by_payment: true,
  lookup_by_reference: false,
  lists_by_window: true,
  read_lag_ms: null,
  late_failure_days: {},
  idempotency: { refund: REFUND_RULES, charge: CHARGE_RULES },
}

const ORDER_TOTALS: readonly OrderTotals[] = [
  'charged',
  'charged_without_tax',
  'settled',
  'settled_without_tax',
]

/**
 * A Dodo Payments account behind an endpoint. Source of what it reads: the types of `dodopayments` 2.52.0 and Dodo's
 * documentation of 2026.
 * @throws Fault `secret_missing` for a blank or placeholder secret or key, `config_invalid` for other mistakes
 */
export function dodoPayments(options: DodoPaymentsOptions): SignedProvider {
  const provider = 'dodo-payments'
  const secrets = readSecrets(provider, options.webhookSecrets, (text) => secretKey(provider, text, 'base64'))
  const tolerance_s = checkTolerance(provider, options.tolerance_s ?? 300)
  const apiKey = readApiKey(provider, options.apiKey)
  const expects = options.expects ?? null
  const setup: DodoSetup = {
    namespace: provider,
    account: checkAccount(provider, options.account),
    orderReference: options.orderReference ?? {},
    orderTotals: checkTotals(options.orderTotals ?? 'charged', apiKey),
  }
  const { businessId, brandId } = options
  const translateSetup = { ...setup, businessId, brandId, expects }
  return {
    provider,
    namespace: setup.namespace,
    account: setup.account,
    secrets_mode: options.mode ?? null,
    secrets: secrets.map(({ label, fingerprint, trimmed }) => ({ label, fingerprint, trimmed })),
    adapter_version: 1,
    capabilities: CAPABILITIES,
    stored_headers: ['webhook-id'],
    methods: ['POST'],
    expects,
    verify: (delivery, now_ms) => verifyDodo(secrets, tolerance_s, delivery, now_ms),
    translate: ({ body }, { signed_id }) => translateDodo(translateSetup, signed_id, body),
    readReturn: readDodoReturn,
    lookup: apiKey === undefined ? undefined : newDodoLookup(setup, { apiKey, baseUrl: addressOf(options) }),
  }
}

function checkTotals(totals: OrderTotals, apiKey: string | undefined): OrderTotals {
  if (!ORDER_TOTALS.includes(totals)) {
    throw new Fault('config_invalid', `dodo-payments: orderTotals must be ${ORDER_TOTALS.join(', ')}.`)
  }
  if (totals !== 'charged' && apiKey === undefined) {
    throw new Fault(
      'config_invalid',
      `dodo-payments: orderTotals ${totals} needs apiKey, since a refund tells its amount only with tax and in the buyer's currency. Set apiKey, or register orders with what the buyer is charged.`,
    )
  }
  return totals
}

function addressOf({ baseUrl, mode }: DodoPaymentsOptions): string {
  if (baseUrl !== undefined)
    return checkModeUrl('dodo-payments', 'baseUrl', baseUrl, mode, ['test.dodopayments.com'])
  if (mode === 'live' || mode === 'test') return `https://${mode}.dodopayments.com`
  throw new Fault(
    'config_invalid',
    "dodo-payments: apiKey needs mode, 'live' or 'test': Dodo's keys do not tell which API they belong to.",
  )
}
