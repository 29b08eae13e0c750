import type { DodoPayments } from 'dodopayments'
import type { LookupAnswer, LookupContext } from '../lookup.ts'

export interface Access {
  readonly apiKey: string
  readonly baseUrl: string
}

/** The SDK, as far as it is used, with the options that each request has. */
export interface Client {
  readonly api: DodoPayments
  readonly each: { readonly signal: AbortSignal }
}

/** Why a request came to nothing. */
export interface Failure {
  /** Of the answer; null when none came. */
  readonly status: number | null
  /** Dodo's code, else the status; never the answer's text, which may quote people. */
  readonly code: string
  readonly reason: string
  readonly retry_after_ms: number | undefined
}

const MISSING: Failure = {
  status: null,
  code: 'sdk_missing',
  reason: 'the package dodopayments is not installed. Run: npm install dodopayments',
  retry_after_ms: undefined,
}

/**
 * Runs one request through the official SDK: loaded on first use, its own retries off (it would repeat a refund after a
 * timeout, without any key), no redirects, nothing logged, one limit for the whole answer.
 */
export async function request<T>(
  access: Access,
  context: Pick<LookupContext, 'limit_ms'>,
  run: (client: Client) => PromiseLike<T>,
): Promise<{ readonly ok: T } | { readonly failed: Failure }> {
  const sdk = await import('dodopayments').catch(() => null)
  if (sdk === null) return { failed: MISSING }
  const api = new sdk.DodoPayments({
    bearerToken: access.apiKey,
    baseURL: access.baseUrl,
    webhookKey: null,
    maxRetries: 0,
    timeout: context.limit_ms,
    logLevel: 'off',
    fetchOptions: { redirect: 'error' },
  })
  try {
    return { ok: await run({ api, each: { signal: AbortSignal.timeout(context.limit_ms) } }) }
  } catch (error) {
    return { failed: failureOf(error) }
  }
}

/** What the failure of a read comes to. */
export function unanswered(failed: Failure): LookupAnswer {
  const { status, reason, retry_after_ms } = failed
  if (status === 404) return { outcome: 'not_found' }
  const turned_away = status !== null && status >= 400 && status < 500 && ![408, 409, 429].includes(status)
  return turned_away || failed === MISSING
    ? { outcome: 'refused', reason }
    : { outcome: 'unavailable', reason, retry_after_ms }
}

function failureOf(error: unknown): Failure {
  const told = error as { status?: unknown; headers?: unknown; error?: { code?: unknown } } | null
  const status = typeof told?.status === 'number' ? told.status : null
  const named = told?.error?.code
  const code =
    typeof named === 'string' && /^[A-Z0-9_]{1,64}$/.test(named) ? named : `${status ?? 'no_answer'}`
  const reason =
    status === null
      ? `Dodo Payments gave no whole answer (${error instanceof Error ? error.name : 'a thrown value'})`
      : `Dodo Payments answered ${status}${code === `${status}` ? '' : ` ${code}`}`
  return { status, code, reason, retry_after_ms: retryAfter(told?.headers) }
}

function retryAfter(headers: unknown): number | undefined {
  const value = headers instanceof Headers ? headers.get('retry-after') : null
  return value !== null && /^[0-9]{1,6}$/.test(value) ? Number(value) * 1000 : undefined
}
