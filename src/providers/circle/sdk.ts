import type { LookupAnswer, OperationAnswer } from '../lookup.ts'

/** Why a call of an SDK brought nothing. */
export interface Failure {
  /** `rejected`: a definitive no to this very request. `unavailable`: nobody knows. */
  readonly kind: 'not_found' | 'rejected' | 'refused' | 'unavailable'
  readonly reason: string
  /** HTTP status, or `none`. */
  readonly code: string
  readonly retry_after_ms?: number | undefined
}

export type Called<Value> = { readonly value: Value } | { readonly failure: Failure }

/** The optional package is not there. */
export class SdkMissing extends Error {}

/** Loads an optional package on first use. Rejects with `SdkMissing` when it is not installed or cannot be loaded. */
export async function loadSdk(name: string, load: () => Promise<unknown>): Promise<Record<string, unknown>> {
  try {
    const loaded = (await load()) as Record<string, unknown>
    return { ...(loaded.default as Record<string, unknown> | undefined), ...loaded }
  } catch (cause) {
    throw new SdkMissing(`circle: the package ${name} cannot be loaded. Install it: npm install ${name}`, {
      cause,
    })
  }
}

/** Calls an SDK with a time limit, which loading it does not use up, and sorts out what went wrong. Never rejects. */
export async function callSdk<Client, Value>(
  limit_ms: number,
  load: () => Promise<Client>,
  call: (client: Client) => Promise<Value>,
): Promise<Called<Value>> {
  let timer: NodeJS.Timeout | undefined
  try {
    const client = await load()
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error('late')), limit_ms)
    })
    return { value: await Promise.race([call(client), late]) }
  } catch (error) {
    return { failure: failureOf(error) }
  } finally {
    clearTimeout(timer)
  }
}

/** A failed look-up as an answer. */
export function answerOf({ kind, reason, retry_after_ms }: Failure): LookupAnswer {
  if (kind === 'not_found') return { outcome: 'not_found' }
  if (kind === 'unavailable') return { outcome: 'unavailable', reason, retry_after_ms }
  return { outcome: kind === 'refused' ? 'refused' : 'unreadable', reason }
}

/** A failed operation as an answer: only a definitive no is one. */
export function operationAnswerOf({ kind, reason, code, retry_after_ms }: Failure): OperationAnswer {
  if (kind === 'not_found' || kind === 'rejected') return { outcome: 'declined', code, reason }
  return { outcome: 'unknown', reason, retry_after_ms }
}

/** The statuses that say nothing about whether the request was done, or only that it may be done later. */
const UNDECIDED = new Set([408, 409, 425, 429])

/** The message of an SDK's error may quote what was sent, so only its status is told. */
function failureOf(error: unknown): Failure {
  if (error instanceof SdkMissing) return { kind: 'refused', reason: error.message, code: 'none' }
  const status = statusOf(error)
  if (status === undefined)
    return { kind: 'unavailable', reason: 'Circle gave no whole answer in time', code: 'none' }
  const reason = `Circle answered HTTP ${status}`
  const code = `${status}`
  if (status === 404) return { kind: 'not_found', reason, code }
  if (status === 401 || status === 403) return { kind: 'refused', reason: `${reason}: check apiKey`, code }
  if (status >= 400 && status < 500 && !UNDECIDED.has(status)) return { kind: 'rejected', reason, code }
  return { kind: 'unavailable', reason, code, retry_after_ms: retryAfterOf(error) }
}

/** Of the SDK's own error, or of the HTTP client's under it. */
function statusOf(error: unknown): number | undefined {
  const { status, response } = (error ?? {}) as { status?: unknown; response?: { status?: unknown } }
  const found = response?.status ?? status
  return typeof found === 'number' && found > 0 ? found : undefined
}

function retryAfterOf(error: unknown): number | undefined {
  const { response } = (error ?? {}) as { response?: { headers?: Record<string, unknown> } }
  const text = String(response?.headers?.['retry-after'] ?? '')
  return /^[0-9]{1,7}$/.test(text) ? Number(text) * 1000 : undefined
}
