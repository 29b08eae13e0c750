import { callApi } from '../api-call.ts'
import type { AskAnswer } from '../ask.ts'
import { fieldIn, listIn, textIn } from '../field.ts'
import { parseJsonBody } from '../json-body.ts'
import type { LookupAnswer, LookupContext } from '../lookup.ts'
import { unreadableReason } from '../unreadable.ts'

/** An answer in JSON, or why there is none. */
export type Answered =
  | { readonly outcome: 'answered'; readonly json: unknown }
  | Exclude<LookupAnswer, { readonly outcome: 'found' }>

/** GitHub's API at one address. */
export interface GitHubApi {
  /** Reads one address of the REST API. */
  get(path: string, authorization: string, context: LookupContext): Promise<Answered>
  /** Sends one query to the GraphQL API; gives the content of `data`. */
  query(
    text: string,
    variables: Readonly<Record<string, string | null>>,
    authorization: string,
    context: LookupContext,
  ): Promise<Answered>
}

/** @param base_url address of the REST API, without a slash at the end */
export function newApi(base_url: string): GitHubApi {
  async function send(
    path: string,
    authorization: string,
    context: LookupContext,
    body?: string,
  ): Promise<Answered> {
    const json = body === undefined ? {} : { 'content-type': 'application/json' }
    const called = await callApi(withLimits(context), `${base_url}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { ...HEADERS, ...json, authorization },
      body,
    })
    return called.outcome === 'answered' ? readAnswer(called.answer) : called
  }

  return {
    get: (path, authorization, context) => send(path, authorization, context),
    query: async (text, variables, authorization, context) => {
      const answer = await send(
        '/graphql',
        authorization,
        context,
        JSON.stringify({ query: text, variables }),
      )
      return answer.outcome === 'answered' ? readData(answer.json) : answer
    },
  }
}

const HEADERS = {
  accept: 'application/vnd.github+json',
  'user-agent': 'paidonce',
  'x-github-api-version': '2022-11-28',
}

/** GitHub tells that a limit is reached as 429 or as 403, which would else mean that we may not ask at all. */
function withLimits(context: LookupContext): LookupContext {
  const ask: LookupContext['ask'] = async (url, request) => {
    const answer = await context.ask(url, request)
    const spent = answer.headers.get('x-ratelimit-remaining') === '0'
    if (answer.status !== 403 || !(spent || answer.retry_after_ms !== undefined)) return answer
    return {
      ...answer,
      status: 429,
      retry_after_ms: answer.retry_after_ms ?? untilReset(answer, context.now_ms),
    }
  }
  return { ...context, ask }
}

function untilReset({ headers }: AskAnswer, now_ms: number): number | undefined {
  const reset = headers.get('x-ratelimit-reset') ?? ''
  return /^[0-9]{1,11}$/.test(reset) ? Math.max(0, Number(reset) * 1000 - now_ms) : undefined
}

function readAnswer({ status, body }: AskAnswer): Answered {
  if (status === 200) return readJson(body)
  if (status === 404) return { outcome: 'not_found' }
  return { outcome: 'unreadable', reason: `GitHub answered with HTTP ${status}` }
}

function readJson(body: Uint8Array): Answered {
  try {
    return { outcome: 'answered', json: parseJsonBody(body) }
  } catch (error) {
    return { outcome: 'unreadable', reason: unreadableReason(error) }
  }
}

const NOT_ALLOWED: ReadonlySet<string> = new Set(['FORBIDDEN', 'INSUFFICIENT_SCOPES', 'UNAUTHENTICATED'])

/** GraphQL tells failures inside a 200. Their messages may quote what was asked for; the type is enough. */
function readData(json: unknown): Answered {
  const [error] = listIn(json, 'errors')
  if (error === undefined) return { outcome: 'answered', json: fieldIn(json, 'data') }
  const type = textIn(error, 'type') ?? 'without a type'
  if (type === 'NOT_FOUND') return { outcome: 'not_found' }
  if (type === 'RATE_LIMITED') return { outcome: 'unavailable', reason: 'GraphQL error RATE_LIMITED' }
  if (NOT_ALLOWED.has(type))
    return { outcome: 'refused', reason: `GraphQL error ${type}: check the token's scopes` }
  return { outcome: 'unreadable', reason: `GraphQL error ${type}` }
}
