import type { Environment, Paddle } from '@paddle/paddle-node-sdk'
import { textIn } from '../field.ts'
import type { ApiAccess } from './environment.ts'

/** Why a call has no result. `rejected`: Paddle understood the request and said no. */
export interface Problem {
  readonly kind: 'unavailable' | 'refused' | 'not_found' | 'rejected'
  /** Paddle's error code, or a word of ours. */
  readonly code: string
  readonly reason: string
  readonly retry_after_ms?: number | undefined
}

export type Called<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problem: Problem }

/** Calls Paddle's API through the official SDK. Never rejects. */
export interface PaddleApi {
  call<T>(limit_ms: number, ask: (sdk: Paddle) => Promise<T>): Promise<Called<T>>
}

type Sdk = Pick<typeof import('@paddle/paddle-node-sdk'), 'Paddle'>

/**
 * The SDK is loaded on the first call. It makes no retries of its own and sets no time limit, so each call gets one
 * here; a call given up may still be carried out.
 */
export function newPaddleApi(
  access: ApiAccess,
  load: () => Promise<Sdk> = () => import('@paddle/paddle-node-sdk'),
): PaddleApi {
  let client: Paddle | undefined
  return {
    async call(limit_ms, ask) {
      try {
        // The SDK takes any address for an environment that it does not know.
        client ??= new (await load()).Paddle(access.apiKey, { environment: access.url as Environment })
      } catch {
        return { ok: false, problem: SDK_MISSING }
      }
      try {
        return { ok: true, value: await within(limit_ms, ask(client)) }
      } catch (error) {
        return { ok: false, problem: problemOf(error) }
      }
    },
  }
}

const SDK_MISSING: Problem = {
  kind: 'refused',
  code: 'sdk_missing',
  reason: 'Look-ups at Paddle need its SDK: npm install @paddle/paddle-node-sdk',
}

const LATE = Symbol('late')

async function within<T>(limit_ms: number, answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(LATE), limit_ms)
  })
  try {
    return await Promise.race([answer, limit])
  } finally {
    clearTimeout(timer)
  }
}

/** Codes of Paddle's that speak of our credentials. */
const NO_RIGHT = new Set([
  'authentication_missing',
  'authentication_malformed',
  'invalid_token',
  'forbidden',
  'paddle_billing_not_enabled',
])
/** Answers to a good request at a bad moment. */
const TRY_AGAIN = new Set(['too_many_requests', 'concurrent_modification', 'conflict', 'bad_gateway'])

/**
 * The SDK hides the HTTP status; what tells a no from a failure is Paddle's `type`: `request_error` or `api_error`.
 * Everything else (no connection, no JSON, another shape) is nobody's word.
 */
function problemOf(error: unknown): Problem {
  if (error === LATE)
    return {
      kind: 'unavailable',
      code: 'late',
      reason: 'Paddle did not answer in time. It is asked again later.',
    }
  const code = textIn(error, 'code') ?? ''
  const said = textIn(error, 'type') === 'request_error' && /^[a-z0-9_]{1,100}$/.test(code)
  if (!said || TRY_AGAIN.has(code)) {
    const reason = said ? `Paddle answered ${code}.` : 'Paddle gave no answer that can be used.'
    return { kind: 'unavailable', code: said ? code : 'no_answer', reason, retry_after_ms: retryAfter(error) }
  }
  if (NO_RIGHT.has(code))
    return {
      kind: 'refused',
      code,
      reason: `Paddle refuses the API key (${code}). Check apiKey and its permissions.`,
    }
  const missing = code === 'not_found' || code.endsWith('_not_found')
  return { kind: missing ? 'not_found' : 'rejected', code, reason: `Paddle answered ${code}.` }
}

/** The SDK gives whole seconds, or null. */
function retryAfter(error: unknown): number | undefined {
  const seconds = (error as { retryAfter?: unknown } | null)?.retryAfter
  return typeof seconds === 'number' && seconds >= 0 && seconds < 100_000 ? seconds * 1000 : undefined
}
