import { Webhook } from 'standardwebhooks'
import { Fault } from '../facts/fault.ts'
import { type Deliverer, giveUp, retryAfter } from './outcome.ts'
import type { OutgoingEffect } from './outgoing-effect.ts'

export interface SignedHttpOptions {
  /** Where to POST, http or https, without credentials in it. */
  readonly url: string
  /** Standard Webhooks secrets, `whsec_` and base64 of at least 24 bytes. Several sign side by side while one is replaced. */
  readonly secrets: readonly string[]
  /** How long a request may take, milliseconds. Default 15,000. */
  readonly time_limit_ms?: number
  /** Further headers, such as one that a gateway asks for. Those of the signature cannot be replaced. */
  readonly headers?: Readonly<Record<string, string>>
  /** The clock for the signed timestamp, Unix milliseconds. Default: this machine's. */
  readonly now_ms?: () => number
  /** Default: the global `fetch`. */
  readonly fetch?: typeof fetch
}

const SECRET_BYTES_MIN = 24
const ANSWER_KEPT_MAX = 200

/**
 * Delivers by HTTP, signed by Standard Webhooks: id (the effect's key), time and body together. 2xx means done; 410 means
 * that nobody will ever be there, so the effect is dead and a person is told; 429 and 503 are tried again when their
 * Retry-After says; redirects are not followed; everything else is tried again later.
 * Throws Fault `config_invalid` or `secret_missing` for options that cannot work.
 */
export function signedHttp(options: SignedHttpOptions): Deliverer {
  const url = checkedUrl(options.url)
  const signers = checkedSecrets(options.secrets)
  const { time_limit_ms = 15_000, now_ms = Date.now } = options
  const signedHeaders = (key: string, time: Date, body: string) => {
    const headers = new Headers(options.headers)
    headers.set('content-type', 'application/json')
    headers.set('user-agent', 'paidonce')
    headers.set('webhook-id', key)
    headers.set('webhook-timestamp', String(Math.floor(time.getTime() / 1000)))
    headers.set('webhook-signature', signers.map((signer) => signer.sign(key, time, body)).join(' '))
    return headers
  }
  return async (effect, { signal }) => {
    const body = JSON.stringify(asMessage(effect))
    const time = new Date(now_ms())
    const response = await (options.fetch ?? fetch)(url, {
      method: 'POST',
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(time_limit_ms)]),
      headers: signedHeaders(effect.key, time, body),
      body,
    })
    if (response.ok) {
      await response.body?.cancel()
      return undefined
    }
    return refused(response, await beginningOf(response), now_ms())
  }
}

/** The body of the request, the same at every attempt. */
export function asMessage(effect: OutgoingEffect) {
  return {
    type: effect.topic,
    timestamp: effect.created_at.toISOString(),
    data: {
      key: effect.key,
      tenant: effect.tenant,
      subject: effect.subject,
      order: effect.order,
      item: effect.item,
      cause: effect.cause,
      revision: effect.revision,
      epoch: String(effect.epoch),
      payload: effect.payload,
    },
  }
}

/** What an answer that is not 2xx means; throws where it is simply to be tried again. */
export function refused(response: Response, beginning: string, now_ms: number) {
  const answer = `The receiver answered ${response.status}${beginning === '' ? '' : `: ${beginning}`}`
  if (response.status === 410) return giveUp(answer)
  if (response.status === 429 || response.status === 503) {
    const delay_ms = retryAfter_ms(response.headers.get('retry-after'), now_ms)
    if (delay_ms !== null) return retryAfter(delay_ms, answer)
  }
  throw new Error(answer)
}

/** Reads a Retry-After header, seconds or an HTTP date, as milliseconds from now; null when it says nothing usable. */
export function retryAfter_ms(header: string | null, now_ms: number): number | null {
  if (header === null) return null
  if (/^\d{1,9}$/.test(header.trim())) return Number(header) * 1000
  const date_ms = /[a-z]/i.test(header) ? Date.parse(header) : Number.NaN
  return Number.isNaN(date_ms) ? null : Math.max(0, date_ms - now_ms)
}

/** Enough of an answer to understand it, and no more: it may be long, and is not ours to keep. */
export async function beginningOf(response: Response): Promise<string> {
  const reader = response.body?.getReader()
  if (!reader) return ''
  const decoder = new TextDecoder()
  let text = ''
  while (text.length < ANSWER_KEPT_MAX) {
    const { done, value } = await reader.read()
    if (done) break
    text += decoder.decode(value, { stream: true })
  }
  await reader.cancel()
  return text.slice(0, ANSWER_KEPT_MAX)
}

export function checkedUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null
  if (!url || !['http:', 'https:'].includes(url.protocol) || url.username !== '' || url.password !== '') {
    throw new Fault(
      'config_invalid',
      'The URL to send effects to must be http or https, without user or password in it.',
    )
  }
  return url.href
}

function checkedSecrets(secrets: readonly string[]): Webhook[] {
  if (secrets.length === 0 || secrets.some((secret) => secret.trim() === '')) {
    throw new Fault('secret_missing', 'Give at least one secret to sign effects with; none may be blank.')
  }
  return secrets.map((secret, index) => {
    if (keyBytes(secret) < SECRET_BYTES_MIN) {
      throw new Fault(
        'config_invalid',
        `Secret ${index + 1} for sending effects must be whsec_ and the base64 of at least ${SECRET_BYTES_MIN} random bytes.`,
      )
    }
    return new Webhook(secret)
  })
}

/** 0 for what is no base64 at all. */
function keyBytes(secret: string): number {
  const base64 = secret.replace(/^whsec_/, '')
  return /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(base64)
    ? Buffer.from(base64, 'base64').length
    : 0
}
