import { Fault } from '../facts/fault.ts'

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
