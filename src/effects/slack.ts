import { alertText } from './alerts-text.ts'
import type { Deliverer } from './outcome.ts'
import { beginningOf, checkedUrl, refused } from './signed-http.ts'

export interface SlackOptions {
  /** Address of an incoming webhook of Slack, or of what takes the same (Mattermost, Rocket.Chat). It is a secret. */
  readonly url: string
  /** How long a request may take, milliseconds. Default 15,000. */
  readonly time_limit_ms?: number
  /** The clock for a Retry-After that names a date, Unix milliseconds. Default: this machine's. */
  readonly now_ms?: () => number
  /** Default: the global `fetch`. */
  readonly fetch?: typeof fetch
}

/** Longer texts are cut by Slack, or refused by others. */
const TEXT_MAX = 3_500

/**
 * Delivers alerts as chat messages. A message may come twice after a crash: a webhook takes no idempotency key, so each
 * ends with the effect's. Answers are taken as `signedHttp` takes them. Throws Fault `config_invalid` for a wrong URL.
 */
export function slack(options: SlackOptions): Deliverer {
  const url = checkedUrl(options.url)
  const { time_limit_ms = 15_000, now_ms = Date.now } = options
  return async (effect, { signal }) => {
    const { title, body } = alertText(effect)
    const text = `*${escaped(title)}*\n${cut(escaped(body))}\n_${effect.key}_`
    const response = await (options.fetch ?? fetch)(url, {
      method: 'POST',
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(time_limit_ms)]),
      headers: { 'content-type': 'application/json', 'user-agent': 'paidonce' },
      body: JSON.stringify({ text }),
    })
    if (response.ok) {
      await response.body?.cancel()
      return undefined
    }
    return refused(response, await beginningOf(response), now_ms())
  }
}

/** The three characters that Slack reads as markup of its own; otherwise a reference could mention a whole channel. */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

function cut(text: string): string {
  return text.length > TEXT_MAX ? `${text.slice(0, TEXT_MAX)} ...` : text
}
