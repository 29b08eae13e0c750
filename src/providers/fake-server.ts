import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What can go wrong at a provider, as switches that may be turned at any time. All are off at first. */
export interface Faults {
  /** Every answer waits so long, milliseconds. */
  delay_ms: number
  /** So many requests are done, and their answer is lost: the connection ends without one. */
  lost_answers: number
  /** So many requests are done at once and answered only after `late_ms`. */
  late_answers: number
  /** So many requests stand still for `late_ms` before they are done and answered. */
  late_requests: number
  /** How late those are, milliseconds. */
  late_ms: number
  /** So many requests end with 500 before anything is done. */
  errors_before: number
  /** So many requests are done and answered with 500; a repeat under the same key gets that 500 again where the provider does so. */
  errors_after: number
  /** So many requests are refused with 429 and `Retry-After: 1`. */
  throttled: number
  /** Reads and lists show the state of so long ago, milliseconds. */
  lag_ms: number
  /** Lists break off with 500 after the first page. */
  list_breaks: boolean
  /** Stored idempotency keys are forgotten at once. */
  keys_expire: boolean
  /** Credentials are refused. */
  locked_out: boolean
}

type Countable =
  | 'throttled'
  | 'errors_before'
  | 'errors_after'
  | 'lost_answers'
  | 'late_answers'
  | 'late_requests'

export interface FakeRequest {
  readonly method: string
  /** Path without query. */
  readonly path: string
  readonly query: URLSearchParams
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

export interface FakeAnswer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  /** An object is sent as JSON. */
  readonly body?: string | object
}

/** A stand-in for a provider's API that listens on this machine. */
export interface FakeServer {
  /** `http://127.0.0.1:<port>` */
  readonly url: string
  readonly host: string
  readonly faults: Faults
  /** Everything that was asked, oldest first. */
  readonly requests: readonly FakeRequest[]
  close(): Promise<void>
}

export const NO_FAULTS: Faults = {
  delay_ms: 0,
  lost_answers: 0,
  late_answers: 0,
  late_requests: 0,
  late_ms: 30_000,
  errors_before: 0,
  errors_after: 0,
  throttled: 0,
  lag_ms: 0,
  list_breaks: false,
  keys_expire: false,
  locked_out: false,
}

/** Remembered requests; a stand-in that a demo keeps asking must not grow for ever. */
const REQUESTS_MAX = 10_000
const BODY_MAX = 4 * 1024 * 1024

/**
 * Starts a stand-in. The transport faults (delay, lost and late answers, errors, throttling) are done here; those that need
 * the provider's own meaning (lag, lists, keys, credentials) are the handler's, which reads them from `faults`.
 * @param onRequest is called with every request before anything is done about it, and may turn the switches
 */
export async function startFakeServer(
  handle: (request: FakeRequest, faults: Faults) => FakeAnswer | Promise<FakeAnswer>,
  onRequest: (request: FakeRequest, faults: Faults) => void = () => undefined,
): Promise<FakeServer> {
  const faults = { ...NO_FAULTS }
  const requests: FakeRequest[] = []
  const server = createServer((incoming, response) => {
    serve(incoming, response).catch(() => response.destroy())
  })

  async function serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const request = await readRequest(incoming)
    requests.push(request)
    if (requests.length > REQUESTS_MAX) requests.shift()
    onRequest(request, faults)
    if (faults.delay_ms > 0) await passed(faults.delay_ms)
    if (spend('late_requests')) await passed(faults.late_ms)
    if (spend('throttled')) return send(response, { status: 429, headers: { 'retry-after': '1' }, body: {} })
    if (spend('errors_before')) return send(response, { status: 500, body: { error: 'before' } })
    const answer = await handle(request, faults)
    if (spend('late_answers')) await passed(faults.late_ms)
    if (spend('lost_answers')) response.destroy()
    else if (spend('errors_after')) send(response, { status: 500, body: { error: 'after' } })
    else send(response, answer)
  }

  function spend(fault: Countable): boolean {
    if (faults[fault] === 0) return false
    faults[fault] -= 1
    return true
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url: `http://${host}`,
    host,
    faults,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function passed(delay_ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, delay_ms))
}

async function readRequest(incoming: IncomingMessage): Promise<FakeRequest> {
  const parts: Buffer[] = []
  let size = 0
  for await (const part of incoming as AsyncIterable<Buffer>) {
    size += part.byteLength
    if (size > BODY_MAX) throw new Error('the request is too large')
    parts.push(part)
  }
  const { pathname, searchParams } = new URL(incoming.url ?? '/', 'http://fake')
  const headers = Object.fromEntries(
    Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]),
  )
  return {
    method: incoming.method ?? 'GET',
    path: pathname,
    query: searchParams,
    headers,
    body: Buffer.concat(parts),
  }
}

function send(response: ServerResponse, { status, headers = {}, body = '' }: FakeAnswer): void {
  const json = typeof body === 'object'
  response.writeHead(status, { ...(json ? { 'content-type': 'application/json' } : {}), ...headers })
  response.end(json ? JSON.stringify(body) : body)
}
