import type { Refusal } from '../facts/refusal.ts'

/** What goes back to the sender. It learns nothing but that the delivery was taken, known, refused or cannot be taken now. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

const JSON_HEADERS = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' }

/** Committed: 200 goes out only after that. */
export const OK: Answer = { status: 200, headers: JSON_HEADERS, body: '{"status":"ok"}' }

/** An answer to HEAD, where the provider sends it: the endpoint is there. Nothing was delivered. */
export const THERE: Answer = { status: 200, headers: { 'cache-control': 'no-store' }, body: '' }

/** Known already. 200 too, since the sender has nothing left to do. */
export const DUPLICATE: Answer = { status: 200, headers: JSON_HEADERS, body: '{"status":"duplicate"}' }

const REFUSED: Readonly<Record<Refusal['status'], Answer>> = {
  401: { status: 401, headers: JSON_HEADERS, body: '{"status":"refused"}' },
  404: { status: 404, headers: JSON_HEADERS, body: '{"status":"refused"}' },
  405: { status: 405, headers: { ...JSON_HEADERS, allow: 'POST' }, body: '{"status":"refused"}' },
  413: { status: 413, headers: { ...JSON_HEADERS, connection: 'close' }, body: '{"status":"refused"}' },
}

export function refused(refusal: Pick<Refusal, 'status'>, allow?: readonly string[]): Answer {
  const answer = REFUSED[refusal.status]
  return allow ? { ...answer, headers: { ...answer.headers, allow: allow.join(', ') } } : answer
}

/** Ours to mend: nothing was written, or nobody knows. The sender is asked to deliver again. */
export function tryAgain(after_s: number): Answer {
  return {
    status: 503,
    headers: { ...JSON_HEADERS, 'retry-after': String(after_s) },
    body: '{"status":"unavailable"}',
  }
}
