import type { Mode } from '../../facts/event.ts'
import { Fault } from '../../facts/fault.ts'
import { checkModeUrl } from '../base-url.ts'
import type { CapabilitySheet, SignedProvider } from '../contract.ts'
import { cleanText } from '../field.ts'
import { returnHint, translateHint } from '../hint.ts'
import { checkAccount } from '../provider-name.ts'
import { returnFields } from '../return-fields.ts'
import type { SecretOption } from '../secret.ts'
import { isPlaceholder, readSecrets } from '../secret.ts'
import { esewaLookup } from './lookup.ts'
import type { EsewaSetup } from './payment.ts'
import { startEsewa } from './start.ts'
import { readFailure, readSuccess } from './translate.ts'
import { verifyEsewa } from './verify.ts'

export type { LabelledSecret, SecretOption } from '../secret.ts'
export { esewaReturn } from './sample.ts'

export interface EsewaOptions {
  /** The merchant code, `EPAYTEST` in the test environment. */
  readonly productCode: string
  /** The merchant secret that belongs to the code, as text; several while it is changed. The first one signs. */
  readonly secret: SecretOption
  /** Which of eSewa's environments the code is for. */
  readonly mode: Mode
  /** Our name for the merchant code, part of every key; never change it afterwards. Default `default`. */
  readonly account?: string | undefined
  /** Where the browser posts the form. Default: eSewa's host of the mode. */
  readonly formBaseUrl?: string | undefined
  /** The host of the status API. Default: the one of the mode in eSewa's present documentation. */
  readonly statusBaseUrl?: string | undefined
  /** When set, returns with another status cause nothing when they are delivered like a webhook. */
  readonly expects?: readonly string[] | undefined
}

const HOSTS = {
  live: { form: 'https://epay.esewa.com.np', status: 'https://epay.esewa.com.np' },
  test: { form: 'https://rc-epay.esewa.com.np', status: 'https://rc.esewa.com.np' },
} as const

/** Those of the present documentation, and older ones. */
const TESTS = ['rc-epay.esewa.com.np', 'rc.esewa.com.np', 'uat.esewa.com.np']

/** eSewa publishes both. */
const TEST_CODE = 'EPAYTEST'
const TEST_SECRET = '8gBm/:&EnhH.1/q'

const CAPABILITIES: CapabilitySheet = {
  event_id: 'none',
  proof: 'fields',
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
 * An eSewa merchant code (ePay v2). There is no webhook: `start` makes the signed form, the buyer's return is a hint,
 * and the status API tells the money. Source: developer.esewa.com.np, ePay.
 * @throws Fault `secret_missing` for a blank or placeholder secret or code, `config_invalid` for other mistakes
 */
export function esewa(options: EsewaOptions): SignedProvider {
  const secrets = readSecrets('esewa', options.secret, secretKey)
  const account = checkAccount('esewa', options.account)
  const productCode = checkedCode(options.productCode)
  checkMode(
    options.mode,
    productCode,
    secrets.some(({ key }) => key.toString('utf8') === TEST_SECRET),
  )
  const hosts = HOSTS[options.mode]
  const expects = options.expects ?? null
  const setup: EsewaSetup = {
    namespace: 'esewa',
    account,
    productCode,
    secrets,
    formBaseUrl: checkModeUrl('esewa', 'formBaseUrl', options.formBaseUrl ?? hosts.form, options.mode, TESTS),
    statusBaseUrl: checkModeUrl(
      'esewa',
      'statusBaseUrl',
      options.statusBaseUrl ?? hosts.status,
      options.mode,
      TESTS,
    ),
  }
  return {
    provider: 'esewa',
    namespace: 'esewa',
    account,
    secrets_mode: options.mode,
    secrets: secrets.map(({ label, fingerprint, trimmed }) => ({ label, fingerprint, trimmed })),
    adapter_version: 1,
    capabilities: CAPABILITIES,
    stored_headers: [],
    methods: [],
    expects,
    verify: (delivery) => verifyEsewa(secrets, returnFields(delivery)),
    translate: (delivery) =>
      translateHint(expects, options.mode, () => readSuccess(setup, returnFields(delivery))),
    readReturn(delivery) {
      const fields = returnFields(delivery)
      if (!fields.has('data')) return returnHint(() => readFailure(fields))
      return verifyEsewa(secrets, fields).refused ? null : returnHint(() => readSuccess(setup, fields))
    },
    start: startEsewa(setup),
    lookup: esewaLookup(setup),
  }
}

/** The documentation prints the test secret with a bracket behind it, which is easily copied along. */
function secretKey(secret: string): Buffer {
  if (secret === `${TEST_SECRET}(`) {
    throw new Fault(
      'config_invalid',
      'esewa: the secret ends in a bracket that belongs to the documentation. Cut it off.',
    )
  }
  return Buffer.from(secret, 'utf8')
}

function checkedCode(code: unknown): string {
  const text = cleanText(code)?.trim()
  if (text === undefined || isPlaceholder(text)) {
    throw new Fault('secret_missing', 'esewa: productCode is blank or a placeholder. Set your merchant code.')
  }
  if (/[,=\s]/.test(text)) {
    throw new Fault('config_invalid', 'esewa: productCode has a blank, comma or equals sign. Copy it again.')
  }
  return text
}

function checkMode(mode: unknown, productCode: string, testSecret: boolean): void {
  if (mode !== 'live' && mode !== 'test') {
    throw new Fault('config_invalid', "esewa: mode must be 'live' or 'test'.")
  }
  if (mode === 'live' && (testSecret || productCode === TEST_CODE)) {
    throw new Fault(
      'config_invalid',
      `esewa: ${TEST_CODE} and its published secret are for mode 'test'. Set your own code and secret.`,
    )
  }
}
