import { Fault } from '../../facts/fault.ts'
import type { CapabilitySheet } from '../capability.ts'
import type { Provider } from '../contract.ts'
import { cleanText } from '../field.ts'
import { checkEnvironment, REFUND_KEY, standInBase } from '../paypal/api-setup.ts'
import type { OrderReferenceOption } from '../paypal/order-reference.ts'
import { NAMESPACE } from '../paypal/paypal-object.ts'
import { checkAccount } from '../provider-name.ts'
import { confirmIpn } from './confirm.ts'
import { ipnLookup } from './lookup.ts'
import { translateIpn } from './translate.ts'
import { verifyIpn } from './verify.ts'

export type { OrderReferenceOption } from '../paypal/order-reference.ts'
export type { FakeIpn } from './fake.ts'
export { startFakeIpn } from './fake.ts'

export interface PaypalIpnOptions {
  /** Which of PayPal's two systems is asked whether it sent a message; never taken from the message. */
  readonly environment: 'live' | 'sandbox'
  /** PayPal's id of our account (13 characters). This or `receiverEmails` must be set; messages for others are kept and not settled. */
  readonly receiverId?: string | undefined
  /** Our addresses at PayPal, the primary one first. Compared without regard to case. */
  readonly receiverEmails?: readonly string[] | undefined
  /** Our name for the PayPal account, part of every key. The same as for REST webhooks of that account. Default `default`. */
  readonly account?: string | undefined
  /** Where our order reference stands and what it looks like. Default: `invoice`, else `custom`. */
  readonly orderReference?: OrderReferenceOption | undefined
  /** When set, messages of other types (`web_accept/Completed`, `subscr_eot`, `Refunded`) are stored and cause nothing. */
  readonly expects?: readonly string[] | undefined
  /** Client id of a REST app of this account, for look-ups. Default: none. */
  readonly clientId?: string | undefined
  /** Client secret of that app. */
  readonly clientSecret?: string | undefined
  /** Address of a stand-in for PayPal, in place of the post-back and the API. Sandbox only. */
  readonly baseUrl?: string | undefined
}

const POST_BACK = {
  live: 'https://ipnpb.paypal.com',
  sandbox: 'https://ipnpb.sandbox.paypal.com',
} as const

function capabilities(asks: boolean): CapabilitySheet {
  return {
    event_id: 'none',
    proof: 'confirmation',
    test_marker: 'body',
    signed_time: false,
    redelivers: true,
    redelivers_for_hours: 96,
    refund_ids: true,
    lookup_by_payment: asks,
    lookup_by_reference: false,
    lists_by_window: asks,
    read_lag_ms: asks ? 10_800_000 : null,
    // An eCheck that bounces after it was completed is told as a reversal; PayPal documents no window.
    late_failure_days: { '*': 0 },
    idempotency: { refund: asks ? REFUND_KEY : null, charge: null },
  }
}

/**
 * A PayPal account behind an endpoint for Instant Payment Notifications. Shares its payments with `paypal`: what IPN
 * calls `txn_id` is the capture or sale of REST. Source of what it reads: PayPal's IPN guide and variables, and
 * paypal/ipn-code-samples.
 * @throws Fault `config_invalid` for mistakes, `secret_missing` for placeholders
 */
export function paypalIpn(options: PaypalIpnOptions): Provider {
  const environment = checkEnvironment('paypal-ipn', options.environment)
  const account = checkAccount('paypal-ipn', options.account)
  const base = standInBase('paypal-ipn', environment, options.baseUrl) ?? new URL(POST_BACK[environment])
  const postBack = new URL('/cgi-bin/webscr', base)
  const expects = options.expects ?? null
  const orderReference = options.orderReference ?? {}
  const lookup = ipnLookup({ account, orderReference, merchantId: options.receiverId }, options)
  const asks = lookup !== undefined
  const setup = { account, receiver: readReceiver(options), orderReference, expects, asks }
  return {
    provider: 'paypal-ipn',
    namespace: NAMESPACE,
    account,
    secrets_mode: environment === 'live' ? 'live' : 'test',
    secrets: [],
    adapter_version: 1,
    capabilities: capabilities(asks),
    stored_headers: [],
    methods: ['POST'],
    expects,
    verify: (delivery) => verifyIpn(delivery),
    translate: (delivery) => translateIpn(setup, delivery.body),
    confirm: (delivery, context) => confirmIpn(postBack, delivery, context),
    lookup,
  }
}

/** A genuine message may be about anybody's account: PayPal confirms that it sent it, not that it is ours. */
function readReceiver({ receiverId, receiverEmails = [] }: PaypalIpnOptions) {
  const id = receiverId?.trim()
  const emails = receiverEmails.map((email) => email.trim().toLowerCase())
  const usable = id === undefined ? emails.length > 0 : /^[A-Z0-9]{8,20}$/.test(id)
  if (usable && emails.every((email) => cleanText(email) !== undefined && email.includes('@')))
    return { id, emails }
  throw new Fault(
    'config_invalid',
    'paypal-ipn: set receiverId (the merchant id on your PayPal profile page, 13 capitals and digits) or receiverEmails, so that messages about other accounts are not taken for yours.',
  )
}
