import type { Lookup } from '../lookup.ts'
import { paypalApi } from '../paypal/api-setup.ts'
import { paypalLookup } from '../paypal/lookup.ts'
import type { PaypalSetup } from '../paypal/paypal-object.ts'

export interface IpnCredentials {
  readonly environment: 'live' | 'sandbox'
  readonly clientId?: string | undefined
  readonly clientSecret?: string | undefined
  readonly baseUrl?: string | undefined
}

/**
 * Look-ups through PayPal's REST API, under the ids that IPN tells; none without credentials. Whether that API shows a
 * classic payment is unconfirmed: a 404 is then "not found", never "not paid".
 * @throws Fault `config_invalid` when only one of the credentials is there, `secret_missing` for a placeholder
 */
export function ipnLookup(setup: PaypalSetup, credentials: IpnCredentials): Lookup | undefined {
  if (credentials.clientId === undefined && credentials.clientSecret === undefined) return undefined
  return paypalLookup({ setup, api: paypalApi('paypal-ipn', credentials) })
}
