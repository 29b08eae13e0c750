import type { Mode } from '../../facts/event.ts'
import { Fault } from '../../facts/fault.ts'
import { checkModeUrl } from '../base-url.ts'
import type { CapabilitySheet, SignedProvider } from '../contract.ts'
import { returnHint, translateHint } from '../hint.ts'
import { checkAccount } from '../provider-name.ts'
import { isReturnUrl, returnFields } from '../return-fields.ts'
import { readSecrets } from '../secret.ts'
import { khaltiLookup } from './lookup.ts'
import type { KhaltiSetup } from './payment.ts'
import { startKhalti } from './start.ts'
import { readReturn } from './translate.ts'
import { verifyKhalti } from './verify.ts'

export { khaltiReturn } from './sample.ts'

export interface KhaltiOptions {
  /** The merchant's secret key. Test keys are called `live_secret_key` too, so only `mode` tells what it is for. */
  readonly secretKey: string
  /** Which of Khalti's environments the key is for. */
  readonly mode: Mode
  /** Address of the shop, which Khalti wants to be told with each payment. */
  readonly websiteUrl: string
  /** Our name for the merchant, part of every key; never change it afterwards. Default `default`. */
  readonly account?: string | undefined
  /** Address of the API without path. Default: Khalti's host of the mode. */
  readonly baseUrl?: string | undefined
  /** When set, returns with another status (lower case) cause nothing when they are delivered like a webhook. */
  readonly expects?: readonly string[] | undefined
}

const HOSTS = { live: 'https://khalti.com', test: 'https://dev.khalti.com' } as const
/** The present one, and the one before. */
const TESTS = ['dev.khalti.com', 'a.khalti.com']

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
  idempotency: {
    refund: {
      where: 'none',
      name: null,
      window_hours: null,
      repeat: 'runs_again',
      looks_first: true,
      definitive_no: ['400', '401', '403', '404'],
      note: 'A repeat can refund twice; the state is read before each. Whole payments only: the unit of a part is unconfirmed. Source: docs.khalti.com; idempotency was asked for there in an issue without an answer.',
    },
    charge: null,
  },
}

/**
 * A Khalti merchant (ePayment v2, KPG-2). There is no webhook and nothing that comes in is signed: `start` gets a pidx,
 * the buyer's return is a hint, and the look-up of that pidx tells the money. Source: docs.khalti.com.
 * @throws Fault `secret_missing` for a blank or placeholder key, `config_invalid` for other mistakes
 */
export function khalti(options: KhaltiOptions): SignedProvider {
  const keys = readSecrets('khalti', options.secretKey, secretKey)
  const account = checkAccount('khalti', options.account)
  if (options.mode !== 'live' && options.mode !== 'test') {
    throw new Fault('config_invalid', "khalti: mode must be 'live' or 'test'.")
  }
  if (!isReturnUrl(options.websiteUrl)) {
    throw new Fault('config_invalid', 'khalti: websiteUrl must be the http or https address of the shop.')
  }
  const expects = options.expects ?? null
  const setup: KhaltiSetup = {
    namespace: 'khalti',
    account,
    websiteUrl: options.websiteUrl,
    baseUrl: checkModeUrl('khalti', 'baseUrl', options.baseUrl ?? HOSTS[options.mode], options.mode, TESTS),
    headers: {
      authorization: `Key ${keys[0]!.key.toString('utf8')}`,
      'content-type': 'application/json',
    },
  }
  return {
    provider: 'khalti',
    namespace: 'khalti',
    account,
    secrets_mode: options.mode,
    secrets: keys.map(({ label, fingerprint, trimmed }) => ({ label, fingerprint, trimmed })),
    adapter_version: 1,
    capabilities: CAPABILITIES,
    stored_headers: [],
    methods: [],
    expects,
    verify: verifyKhalti,
    translate: (delivery) => translateHint(expects, options.mode, () => readReturn(returnFields(delivery))),
    readReturn: (delivery) => returnHint(() => readReturn(returnFields(delivery))),
    start: startKhalti(setup),
    lookup: khaltiLookup(setup),
  }
}

function secretKey(secret: string): Buffer {
  if (/^key\s/i.test(secret)) {
    throw new Fault('config_invalid', 'khalti: secretKey is the key alone, without the word Key before it.')
  }
  return Buffer.from(secret, 'utf8')
}
