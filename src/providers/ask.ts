import { Fault } from '../facts/fault.ts'

/** One request to a provider's API. */
export interface AskRequest {
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'DELETE' | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly body?: string | Uint8Array | undefined
  /** The hosts that may be asked; any other address is refused before anything is sent. */
  readonly hosts: readonly string[]
  /** Longest time for the whole answer, milliseconds. */
  readonly limit_ms: number
  /** Largest answer, bytes. Default 4 MiB. */
  readonly answer_max?: number | undefined
}

export interface AskAnswer {
  readonly status: number
  readonly headers: Headers
  readonly body: Buffer
  /** What `Retry-After` asks for, milliseconds; undefined when it says nothing that can be read. */
  readonly retry_after_ms: number | undefined
}

/**
 * Sends one request: no redirects, no retries, https only (plain http to this machine, for stand-ins), one of the
 * named hosts, a limit for time and size.
 * @throws Fault `provider_unavailable` (retriable) when no whole answer came; `config_invalid` for an address that may
 *   not be asked. The message holds the host and no query, key or body.
 */
export type Ask = (url: string, request: AskRequest) => Promise<AskAnswer>

/** @param fetcher how a request is sent; `fetch` of the platform */
export function newAsk(fetcher: typeof fetch, now_ms: () => number): Ask {
  return async (url, request) => {
    const target = permitted(url, request.hosts)
    const headers = sendable(request.headers, target.host)
    const answer_max = request.answer_max ?? 4 * 1024 * 1024
    try {
      const response = await fetcher(target, {
        method: request.method ?? 'GET',
        headers,
        body: request.body === undefined ? null : (request.body as RequestInit['body'] & {}),
        redirect: 'manual',
        signal: AbortSignal.timeout(request.limit_ms),
      })
      return {
        status: response.status,
        headers: response.headers,
        body: await wholeBody(response, answer_max),
        retry_after_ms: retryAfter(response.headers.get('retry-after'), now_ms()),
      }
    } catch (cause) {
      if (cause instanceof Fault) throw cause
      throw unavailable(target.host, cause)
    }
  }
}

function permitted(url: string, hosts: readonly string[]): URL {
  const target = URL.canParse(url) ? new URL(url) : null
  const here = target !== null && /^(?:127\.0\.0\.1|\[::1\]|localhost)$/.test(target.hostname)
  const safe = target !== null && (target.protocol === 'https:' || (target.protocol === 'http:' && here))
  if (target !== null && safe && hosts.includes(target.host) && target.username === '') return target
  throw new Fault(
    'config_invalid',
    `The address ${target?.host ?? ''} may not be asked. Allowed over https: ${hosts.join(', ')}.`,
  )
}

/** The platform's own complaint quotes the value, which may be a secret, so it goes no further than here. */
function sendable(headers: AskRequest['headers'], host: string): Headers {
  const sent = new Headers()
  for (const [name, value] of Object.entries(headers ?? {})) {
    try {
      sent.set(name, value)
    } catch {
      throw new Fault(
        'config_invalid',
        `The header ${name} for ${host} has characters that cannot be sent. Copy the credentials again, on one line.`,
      )
    }
  }
  return sent
}

async function wholeBody(response: Response, answer_max: number): Promise<Buffer> {
  const parts: Uint8Array[] = []
  let size = 0
  if (response.body === null) return Buffer.alloc(0)
  for await (const part of response.body as AsyncIterable<Uint8Array>) {
    size += part.byteLength
    if (size > answer_max) throw new Error(`the answer is larger than ${answer_max} bytes`)
    parts.push(part)
  }
  return Buffer.concat(parts)
}

/** Seconds, or a date. */
function retryAfter(value: string | null, now_ms: number): number | undefined {
  if (value === null) return undefined
  if (/^[0-9]{1,7}$/.test(value.trim())) return Number(value) * 1000
  const at_ms = Date.parse(value)
  return Number.isNaN(at_ms) ? undefined : Math.max(0, at_ms - now_ms)
}

function unavailable(host: string, cause: unknown): Fault {
  const why =
    cause instanceof Error ? (cause.cause instanceof Error ? cause.cause.message : cause.message) : ''
  return new Fault(
    'provider_unavailable',
    `${host} gave no whole answer (${why}). It is asked again later.`,
    {
      retriable: true,
      cause,
    },
  )
}
