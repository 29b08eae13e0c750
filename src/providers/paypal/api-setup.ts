import { Fault } from '../../facts/fault.ts'
import type { IdempotencyRules } from '../capability.ts'
import { isPlaceholder } from '../secret.ts'
import { PaypalApi } from './api.ts'
import type { PaypalEnvironment } from './certificate.ts'

/** What the configurations of REST webhooks and IPN have in common. */

/** PayPal keeps keys of payments v2 for 45 days. */
export const REFUND_KEY: IdempotencyRules = {
  where: 'header',
  name: 'PayPal-Request-Id',
  window_hours: 45 * 24,
  repeat: 'same_answer',
  definitive_no: ['400', '404', '422'],
  note: 'A repeat answers with the latest state of the first refund. Two requests at once under one key: the second may fail with 409, which is no answer. Without the header a repeat is a second refund. Source: PayPal, API idempotency.',
}

const API_HOSTS: Readonly<Record<PaypalEnvironment, string>> = {
  live: 'https://api-m.paypal.com',
  sandbox: 'https://api-m.sandbox.paypal.com',
}

/** @throws Fault `config_invalid` unless it is one of the two */
export function checkEnvironment(provider: string, environment: PaypalEnvironment): PaypalEnvironment {
  if (environment === 'live' || environment === 'sandbox') return environment
  throw new Fault('config_invalid', `${provider}: environment must be 'live' or 'sandbox'.`)
}

/** @throws Fault `config_invalid` for a stand-in where real money is, or an address that is none */
export function standInBase(
  provider: string,
  environment: PaypalEnvironment,
  baseUrl: string | undefined,
): URL | undefined {
  if (baseUrl === undefined) return undefined
  if (environment === 'sandbox' && URL.canParse(baseUrl)) return new URL(baseUrl)
  throw new Fault(
    'config_invalid',
    `${provider}: baseUrl is the address of a stand-in, and only for environment 'sandbox'. Leave it out.`,
  )
}

/** @throws Fault `config_invalid` without credentials, `secret_missing` when one is a placeholder */
export function paypalApi(
  provider: string,
  options: {
    readonly environment: PaypalEnvironment
    readonly clientId?: string | undefined
    readonly clientSecret?: string | undefined
    readonly baseUrl?: string | undefined
  },
): PaypalApi {
  const { environment } = options
  const [clientId, clientSecret] = [options.clientId, options.clientSecret].map(
    (value) => value?.trim() ?? '',
  )
  if (!clientId || !clientSecret) {
    throw new Fault(
      'config_invalid',
      `${provider}: clientId and clientSecret are missing. The signature does not cover amounts, so without look-ups nothing could ever be granted: copy both from the app's page in PayPal's dashboard.`,
    )
  }
  if (isPlaceholder(clientId) || isPlaceholder(clientSecret)) {
    throw new Fault(
      'secret_missing',
      `${provider}: clientId or clientSecret is a placeholder. Copy both from the app's page in PayPal's dashboard.`,
    )
  }
  const base = standInBase(provider, environment, options.baseUrl) ?? new URL(API_HOSTS[environment])
  return new PaypalApi({ environment, clientId, clientSecret, base })
}
