import type { Mode } from '../../facts/event.ts'
import { Fault } from '../../facts/fault.ts'
import { checkModeUrl } from '../base-url.ts'
import type { CapabilitySheet, SignedProvider } from '../contract.ts'
import { returnHint, translateHint } from '../hint.ts'
import { checkAccount } from '../provider-name.ts'
import { returnFields } from '../return-fields.ts'
import { readSecrets } from '../secret.ts'
import { imePayLookup } from './lookup.ts'
import type { ImePaySetup } from './payment.ts'
import { startImePay } from './start.ts'
import { readDelivery, readReturn } from './translate.ts'
import { verifyImePay } from './verify.ts'

export { imePayReturn } from './sample.ts'

export interface ImePayOptions {
  /** The merchant code, up to 10 characters. */
  readonly merchantCode: string
  /** The API user that IME gives to the merchant. */
  readonly apiUser: string
  /** The API user's password. */
  readonly password: string
  /** The module's name, as IME gives it; it is encoded here. */
  readonly module: string
  /** Which of IME Pay's environments the credentials are for. */
  readonly mode: Mode
  /** Our name for the merchant code, part of every key; never change it afterwards. Default `default`. */
  readonly account?: string | undefined
  /** Address of the API and of the checkout. Default: IME Pay's host of the mode, port 7979. */
  readonly baseUrl?: string | undefined
  /**
   * Also take what IME Pay's server posts for the mobile SDK ("delivery service"), as a hint. It is not signed, so
   * anybody can post it. Default false.
   */
  readonly deliveryService?: boolean | undefined
  /** When set, deliveries with another response (`response.0`) cause nothing. */
  readonly expects?: readonly string[] | undefined
}

const HOSTS = {
  live: 'https://payment.imepay.com.np:7979',
  test: 'https://stg.imepay.com.np:7979',
} as const
const TESTS = ['stg.imepay.com.np']

const CAPABILITIES: CapabilitySheet = {
  event_id: 'none',
  proof: 'none',
  signed_time: false,
  test_marker: 'secret',
  redelivers: false,
  redelivers_for_hours: null,
  refund_ids: false,
  lookup_by_payment: true,
  lookup_by_reference: false,
  lists_by_window: false,
  read_lag_ms: null,
  late_failure_days: {},
  idempotency: { refund: null, charge: null },
}

/**
 * An IME Pay merchant code (web checkout). Nothing that comes in is signed: `start` gets a token, the buyer's return is a
 * hint, Recheck and Confirm tell the money. Source: IME's developer pages and plugins as copied in public repositories;
 * no official specification is public.
 * @throws Fault `secret_missing` for a blank or placeholder credential, `config_invalid` for other mistakes
 */
export function imePay(options: ImePayOptions): SignedProvider {
  const account = checkAccount('ime-pay', options.account)
  const passwords = readSecrets('ime-pay', options.password, asText)
  const apiUser = credential(options.apiUser)
  const module = credential(options.module)
  const merchantCode = credential(options.merchantCode)
  if (!/^[A-Za-z0-9_-]{1,10}$/.test(merchantCode)) {
    throw new Fault('config_invalid', 'ime-pay: merchantCode must be up to 10 letters and digits.')
  }
  if (options.mode !== 'live' && options.mode !== 'test') {
    throw new Fault('config_invalid', "ime-pay: mode must be 'live' or 'test'.")
  }
  const expects = options.expects ?? null
  const setup: ImePaySetup = {
    namespace: 'ime-pay',
    account,
    merchantCode,
    baseUrl: checkModeUrl('ime-pay', 'baseUrl', options.baseUrl ?? HOSTS[options.mode], options.mode, TESTS),
    headers: {
      authorization: `Basic ${base64(`${apiUser}:${passwords[0]!.key.toString('utf8')}`)}`,
      module: base64(module),
    },
  }
  return {
    provider: 'ime-pay',
    namespace: 'ime-pay',
    account,
    secrets_mode: options.mode,
    secrets: passwords.map(({ label, fingerprint, trimmed }) => ({ label, fingerprint, trimmed })),
    adapter_version: 1,
    capabilities: CAPABILITIES,
    stored_headers: [],
    methods: options.deliveryService === true ? ['POST'] : [],
    expects,
    verify: verifyImePay,
    translate: (delivery) =>
      translateHint(expects, options.mode, () => readDelivery(delivery.body, returnFields(delivery))),
    readReturn: (delivery) => returnHint(() => readReturn(returnFields(delivery))),
    start: startImePay(setup),
    lookup: imePayLookup(setup),
  }
}

function credential(option: string): string {
  return readSecrets('ime-pay', option, asText)[0]!.key.toString('utf8')
}

function asText(text: string): Buffer {
  return Buffer.from(text, 'utf8')
}

function base64(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64')
}
