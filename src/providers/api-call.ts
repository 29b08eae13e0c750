import { Fault } from '../facts/fault.ts'
import type { AskAnswer, AskRequest } from './ask.ts'
import type { LookupAnswer, LookupContext } from './lookup.ts'

/** Why a request brought nothing that could be read. */
export type NoAnswer = Exclude<LookupAnswer, { outcome: 'found' | 'not_found' | 'unreadable' }>

/**
 * Sends one request to a provider's API. What no provider means as a statement (no whole answer, 429, a server error,
 * a refusal of the credentials) is sorted out here. Never throws.
 */
export async function callApi(
  context: LookupContext,
  url: string,
  request: Omit<AskRequest, 'hosts' | 'limit_ms'>,
): Promise<{ readonly outcome: 'answered'; readonly answer: AskAnswer } | NoAnswer> {
  const { host } = new URL(url)
  try {
    const answer = await context.ask(url, { ...request, hosts: [host], limit_ms: context.limit_ms })
    const { status, retry_after_ms } = answer
    if (status === 429 || status >= 500) {
      return { outcome: 'unavailable', reason: `${host} answered with HTTP ${status}`, retry_after_ms }
    }
    if (status === 401 || status === 403) {
      return { outcome: 'refused', reason: `${host} refuses our credentials (HTTP ${status})` }
    }
    return { outcome: 'answered', answer }
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'no answer came'
    const ours = error instanceof Fault && error.code === 'config_invalid'
    return { outcome: ours ? 'refused' : 'unavailable', reason }
  }
}
