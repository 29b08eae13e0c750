import type { Client } from '@paypal/paypal-server-sdk'
import { Fault } from '../../facts/fault.ts'
import type { AskAnswer, AskRequest } from '../ask.ts'
import { fieldIn, listIn, textIn } from '../field.ts'
import { parseJsonBody } from '../json-body.ts'
import type { LookupContext } from '../lookup.ts'
import type { PaypalEnvironment } from './certificate.ts'

type Sdk = typeof import('@paypal/paypal-server-sdk')

/** What came of one request. */
export type ApiAnswer =
  | { readonly came: 'answer'; readonly body: unknown }
  | { readonly came: 'nothing' }
  | { readonly came: 'refused' | 'unreadable'; readonly reason: string }
  | { readonly came: 'unavailable'; readonly reason: string; readonly retry_after_ms?: number | undefined }
  /** It says no to this request: a status of 4xx with a code. */
  | { readonly came: 'no'; readonly status: number; readonly code: string }

export interface ApiSetup {
  readonly environment: PaypalEnvironment
  readonly clientId: string
  readonly clientSecret: string
  /** `https://api-m.paypal.com`, or a stand-in. */
  readonly base: URL
}

interface Token {
  readonly text: string
  readonly until_ms: number
}

/** A token is renewed so long before it ends. */
const TOKEN_MARGIN_MS = 60_000
const INSTALL =
  'The package @paypal/paypal-server-sdk is not installed. Run `npm install @paypal/paypal-server-sdk`.'

/**
 * PayPal's API: through the official SDK where it has the call, else by request. Both have one token, one time limit,
 * one list of hosts and no retries of their own. Nothing throws.
 */
export class PaypalApi {
  readonly #setup: ApiSetup
  #token: Promise<Token> | undefined

  constructor(setup: ApiSetup) {
    this.#setup = setup
  }

  /** A call that the SDK does not have. */
  get(path: string, context: LookupContext): Promise<ApiAnswer> {
    return this.#authorized(context, (token) =>
      this.#ask(context, new URL(path, this.#setup.base), {
        headers: { accept: 'application/json', authorization: `Bearer ${token}` },
      }),
    )
  }

  /** A call of the SDK; its requests are sent through `context.ask`, and the answer is read as it came. */
  async call(
    context: LookupContext,
    run: (client: Client, sdk: Sdk) => Promise<unknown>,
  ): Promise<ApiAnswer> {
    let sdk: Sdk
    try {
      sdk = await import('@paypal/paypal-server-sdk')
    } catch {
      return { came: 'refused', reason: INSTALL }
    }
    return this.#authorized(context, async (token) => {
      let answer: AskAnswer | undefined
      let fault: unknown
      const client = this.#client(sdk, token, context, async (url, request) => {
        try {
          answer = await this.#ask(context, url, request)
        } catch (error) {
          fault = error
          throw error
        }
        return answer
      })
      try {
        await run(client, sdk)
      } catch (error) {
        // The SDK throws for every status beyond 2xx and for shapes that it does not know; the answer says it all.
        if (answer === undefined) throw fault ?? error
      }
      if (answer === undefined) throw new Error('the SDK asked nothing')
      return answer
    })
  }

  async #authorized(context: LookupContext, run: (token: string) => Promise<AskAnswer>): Promise<ApiAnswer> {
    try {
      const { text, fresh } = await this.#tokenFor(context)
      let answer = await run(text)
      if (answer.status === 401 && !fresh) {
        this.#token = undefined
        answer = await run((await this.#tokenFor(context)).text)
      }
      return readAnswer(answer)
    } catch (error) {
      if (error instanceof Refused) return { came: 'refused', reason: error.message }
      if (!(error instanceof Fault))
        return { came: 'unreadable', reason: `the SDK failed (${nameOf(error)})` }
      return error.retriable
        ? { came: 'unavailable', reason: error.message }
        : { came: 'refused', reason: error.message }
    }
  }

  async #tokenFor(context: LookupContext): Promise<{ readonly text: string; readonly fresh: boolean }> {
    const held = this.#token
    if (held !== undefined) {
      const { text, until_ms } = await held
      if (context.now_ms < until_ms) return { text, fresh: false }
    }
    if (this.#token === held) {
      const asked = this.#askToken(context)
      this.#token = asked
      asked.catch(() => {
        if (this.#token === asked) this.#token = undefined
      })
    }
    return { text: (await this.#token!).text, fresh: true }
  }

  async #askToken(context: LookupContext): Promise<Token> {
    const { clientId, clientSecret, base } = this.#setup
    const basic = Buffer.from(`${clientId}:${clientSecret}`).toString('base64')
    const answer = await this.#ask(context, new URL('/v1/oauth2/token', base), {
      method: 'POST',
      headers: { authorization: `Basic ${basic}`, 'content-type': 'application/x-www-form-urlencoded' },
      body: 'grant_type=client_credentials',
    })
    if (answer.status === 400 || answer.status === 401 || answer.status === 403)
      throw new Refused('PayPal does not accept clientId and clientSecret for this environment')
    const body = answer.status === 200 ? parseJsonBody(answer.body) : undefined
    const text = fieldIn(body, 'access_token')
    const seconds = fieldIn(body, 'expires_in')
    if (typeof text !== 'string' || typeof seconds !== 'number')
      throw new Fault('provider_unavailable', `PayPal gave no token (status ${answer.status}).`, {
        retriable: true,
      })
    return { text, until_ms: context.now_ms + seconds * 1000 - TOKEN_MARGIN_MS }
  }

  #ask(
    context: LookupContext,
    url: URL,
    request: Omit<AskRequest, 'hosts' | 'limit_ms'>,
  ): Promise<AskAnswer> {
    return context.ask(url.href, { ...request, hosts: [this.#setup.base.host], limit_ms: context.limit_ms })
  }

  /** Light to make; it lives for one call, since it keeps a token for ever and a failure of it too. */
  #client(
    sdk: Sdk,
    accessToken: string,
    context: LookupContext,
    ask: (url: URL, request: Omit<AskRequest, 'hosts' | 'limit_ms'>) => Promise<AskAnswer>,
  ): Client {
    const { environment, clientId, clientSecret, base } = this.#setup
    return new sdk.Client({
      environment: environment === 'live' ? sdk.Environment.Production : sdk.Environment.Sandbox,
      timeout: context.limit_ms,
      clientCredentialsAuthCredentials: {
        oAuthClientId: clientId,
        oAuthClientSecret: clientSecret,
        oAuthToken: { accessToken, tokenType: 'Bearer' },
      },
      httpClientOptions: { timeout: context.limit_ms, retryConfig: { maxNumberOfRetries: 0 } },
      unstable_httpClientOptions: { adapter: adapter(base, ask) },
    })
  }
}

class Refused extends Error {}

interface SdkRequest {
  readonly url: string
  readonly method?: string
  readonly headers: { toJSON(): Record<string, unknown> }
  readonly data?: string
}

/** The SDK's HTTP client lets its transport be replaced; hosts are replaced here, since it takes no address. */
function adapter(
  base: URL,
  ask: (url: URL, request: Omit<AskRequest, 'hosts' | 'limit_ms'>) => Promise<AskAnswer>,
) {
  return async (config: SdkRequest) => {
    const { pathname, search } = new URL(config.url)
    const headers = Object.entries(config.headers.toJSON()).map(([name, value]) => [name, String(value)])
    const answer = await ask(new URL(pathname + search, base), {
      method: config.method?.toUpperCase() === 'POST' ? 'POST' : 'GET',
      headers: Object.fromEntries(headers),
      body: config.data,
    })
    return {
      data: answer.body.toString('utf8'),
      status: answer.status,
      statusText: '',
      headers: Object.fromEntries(answer.headers),
      config,
    }
  }
}

function readAnswer({ status, body, retry_after_ms }: AskAnswer): ApiAnswer {
  if (status === 429 || status >= 500 || status === 408)
    return { came: 'unavailable', reason: `PayPal answered ${status}`, retry_after_ms }
  if (status === 404) return { came: 'nothing' }
  const json = jsonOf(body)
  if (status >= 200 && status < 300)
    return json === undefined
      ? { came: 'unreadable', reason: 'the answer is not JSON' }
      : { came: 'answer', body: json }
  if (status === 401 || status === 403)
    return { came: 'refused', reason: `PayPal answered ${status} (${codeOf(json)}): the app lacks a right` }
  return { came: 'no', status, code: codeOf(json) }
}

function jsonOf(body: Buffer): unknown {
  try {
    return parseJsonBody(body)
  } catch {
    return undefined
  }
}

/** The finest code of an error: the issue of its first detail. */
function codeOf(error: unknown): string {
  const code = textIn(listIn(error, 'details')[0], 'issue') ?? textIn(error, 'name') ?? textIn(error, 'error')
  return code !== undefined && /^[A-Za-z0-9_.-]+$/.test(code) ? code : 'no code'
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : 'a thrown value'
}
