import { fieldIn, textIn } from '../field.ts'
import type { LookupAnswer, OperationAnswer } from '../lookup.ts'
import { Unreadable } from '../unreadable.ts'
import { SdkMissing } from './client.ts'

/** How a request to Stripe failed. The SDK's message is left out: it may quote what was sent. */
export interface Failure {
  readonly status: number | undefined
  /** Stripe's code, or its type where there is none. */
  readonly code: string
  readonly reason: string
  readonly retry_after_ms: number | undefined
}

export function failureOf(error: unknown): Failure {
  if (error instanceof SdkMissing) return { ...NOTHING, code: 'sdk_missing', reason: error.message }
  const status = Number(fieldIn(error, 'statusCode') ?? Number.NaN)
  if (!Number.isInteger(status)) {
    const name = textIn(error, 'type') ?? (error instanceof Error ? error.name : 'a thrown value')
    return { ...NOTHING, code: name, reason: `Stripe gave no whole answer (${name})` }
  }
  const type = textIn(error, 'rawType') ?? 'no type'
  const code = textIn(error, 'decline_code') ?? textIn(error, 'code') ?? type
  return { status, code, reason: `Stripe answered ${status} (${code})`, retry_after_ms: retryAfter(error) }
}

const NOTHING = { status: undefined, retry_after_ms: undefined }

function retryAfter(error: unknown): number | undefined {
  const value = textIn(error, 'headers', 'retry-after')
  return value !== undefined && /^[0-9]{1,5}$/.test(value) ? Number(value) * 1000 : undefined
}

/** What a failed look-up comes to. */
export function lookupFailure(error: unknown): Exclude<LookupAnswer, { outcome: 'found' }> {
  if (error instanceof Unreadable) return { outcome: 'unreadable', reason: error.message }
  const { status, code, reason, retry_after_ms } = failureOf(error)
  if (status === 404 || code === 'resource_missing') return { outcome: 'not_found' }
  if (code === 'sdk_missing') return { outcome: 'refused', reason }
  if (status === undefined || status === 409 || status === 429 || status >= 500) {
    return { outcome: 'unavailable', reason, retry_after_ms }
  }
  return { outcome: 'refused', reason }
}

/**
 * What a failed refund or charge comes to. A no is definitive only where Stripe looked at the request and refused it.
 * Refused credentials are no answer about the request, and a key that was used with other parameters says that
 * something else was once done under it.
 */
export function operationFailure(error: unknown): Exclude<OperationAnswer, { outcome: 'accepted' }> {
  const { status, code, reason, retry_after_ms } = failureOf(error)
  const refused = status === 400 || status === 402 || status === 404
  const keyUsed = textIn(error, 'rawType') === 'idempotency_error' || code === 'idempotency_key_in_use'
  if (refused && !keyUsed && code !== 'rate_limit') return { outcome: 'declined', code, reason }
  return { outcome: 'unknown', reason, retry_after_ms }
}
