import type { Mode } from '../facts/event.ts'
import { Fault } from '../facts/fault.ts'

/**
 * The same for an endpoint of one mode: with live credentials nobody asks a test system, whose word about money is play.
 * @param tests hosts of the provider's test systems
 * @throws Fault `config_invalid` for any other address, and for one of `tests` in live mode
 */
export function checkModeUrl(
  provider: string,
  option: string,
  value: string,
  mode: Mode | undefined,
  tests: readonly string[],
): string {
  const url = checkBaseUrl(provider, option, value)
  const { hostname } = new URL(url)
  if (mode !== 'live' || !tests.includes(hostname)) return url
  throw new Fault(
    'config_invalid',
    `${provider}: ${option} is the test system (${hostname}), but the endpoint is live. Leave it out.`,
  )
}

/**
 * The address of a provider's API without a final slash: https, or http on this machine for stand-ins.
 * @throws Fault `config_invalid` for any other address
 */
export function checkBaseUrl(provider: string, option: string, value: string): string {
  const url = URL.canParse(value) ? new URL(value) : null
  const here = url !== null && /^(?:127\.0\.0\.1|\[::1\]|localhost)$/.test(url.hostname)
  const plain = url !== null && url.username === '' && url.search === '' && url.hash === ''
  if (plain && (url.protocol === 'https:' || (here && url.protocol === 'http:'))) {
    return url.href.replace(/\/+$/, '')
  }
  throw new Fault(
    'config_invalid',
    `${provider}: ${option} must be an https address without query (http only on this machine), for example https://api.example.com.`,
  )
}
