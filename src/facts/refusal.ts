/**
 * The sender's delivery is not believed. A value, not an error: it has an HTTP status and no stack, and nothing raw
 * goes back to the sender.
 */
export interface Refusal {
  readonly refused: true
  readonly code: RefusalCode
  readonly status: 401 | 404 | 405 | 413
  /** For our own counters and `events` output, never for the sender. Holds no secret and no payload. */
  readonly detail: string
}

export type RefusalCode =
  | 'unknown_endpoint'
  | 'wrong_method'
  | 'body_too_large'
  | 'signature_missing'
  | 'signature_malformed'
  | 'signature_wrong'
  | 'signature_stale'
  | 'signature_ahead'

export function refusal(code: RefusalCode, detail: string): Refusal {
  const status =
    code === 'unknown_endpoint' ? 404 : code === 'wrong_method' ? 405 : code === 'body_too_large' ? 413 : 401
  return { refused: true, code, status, detail }
}
