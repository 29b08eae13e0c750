import { Fault } from '../../facts/fault.ts'
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

export function newApi(base_url: string): GitHubApi {
  const { host } = new URL(base_url)

  async function send(
    path: string,
    authorization: string,
    context: LookupContext,
    body?: string,
  ): Promise<Answered> {
    try {
      const answer = await context.ask(`${base_url}${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers: {
          accept: 'application/vnd.github+json',
          authorization,
          'user-agent': 'paidonce',
          'x-github-api-version': '2022-11-28',
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        body,
        hosts: [host],
        limit_ms: context.limit_ms,
      })
      return readAnswer(answer)
    } catch (error) {
      return failed(error)
    }
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

function readAnswer(answer: AskAnswer): Answered {
  const { status, headers, retry_after_ms } = answer
  if (status === 200) return readJson(answer.body)
  if (status === 404) return { outcome: 'not_found' }
  // Both limits, of requests in an hour and at once, are told as 403 or 429.
  const throttled = status === 429 || (status === 403 && isThrottled(headers, retry_after_ms))
  if (throttled || status >= 500)
    return { outcome: 'unavailable', reason: `GitHub answered ${status}`, retry_after_ms }
  if (status === 401 || status === 403)
    return {
      outcome: 'refused',
      reason: `GitHub answered ${status}: check the credentials and what they may read`,
    }
  return { outcome: 'unreadable', reason: `GitHub answered ${status}` }
}

function isThrottled(headers: Headers, retry_after_ms: number | undefined): boolean {
  return retry_after_ms !== undefined || headers.get('x-ratelimit-remaining') === '0'
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

function failed(error: unknown): Answered {
  const reason = error instanceof Error ? error.message : 'unknown error'
  const refused = error instanceof Fault && error.code === 'config_invalid'
  return { outcome: refused ? 'refused' : 'unavailable', reason }
}
