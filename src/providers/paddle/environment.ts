import { Fault } from '../../facts/fault.ts'
import { readApiKey } from '../api-key.ts'
import { checkModeUrl } from '../base-url.ts'
import type { Provider } from '../contract.ts'

/** Paddle's two separate systems, each with its own keys, secrets and data. */
export type PaddleEnvironment = 'live' | 'sandbox'

/** How the API is reached: which key, and at which address. */
export interface ApiAccess {
  readonly apiKey: string
  /** Without a slash at the end. */
  readonly url: string
}

export interface EnvironmentOptions {
  readonly environment?: PaddleEnvironment | undefined
  readonly apiKey?: string | undefined
  readonly baseUrl?: string | undefined
}

const HOSTS: Readonly<Record<PaddleEnvironment, string>> = {
  live: 'https://api.paddle.com',
  sandbox: 'https://sandbox-api.paddle.com',
}

/** @throws Fault `secret_missing` for a blank or placeholder key, `config_invalid` for a contradiction */
export function readEnvironment(options: EnvironmentOptions): {
  readonly mode: Provider['secrets_mode']
  readonly access: ApiAccess | null
} {
  const { environment } = options
  if (environment !== undefined && !Object.hasOwn(HOSTS, environment))
    throw invalid('environment must be live or sandbox')
  if (options.apiKey === undefined) return { mode: modeOf(environment), access: null }
  const apiKey = checkKey(options.apiKey)
  const named = environmentOfKey(apiKey)
  if (named !== undefined && environment !== undefined && named !== environment)
    throw invalid(`apiKey is a ${named} key, but environment is ${environment}`)
  const settled = named ?? environment
  if (settled === undefined)
    throw invalid('the apiKey does not tell live from sandbox. Set environment, or make a new key')
  return { mode: modeOf(settled), access: { apiKey, url: addressOf(options.baseUrl, settled) } }
}

function checkKey(given: string): string {
  const key = readApiKey('paddle', given)!
  readApiKey('paddle', key.replace(/^pdl_(?:live|sdbx)_apikey_/, ''))
  if (/^pdl_ntfset_/.test(key)) throw invalid('apiKey has the secret of a notification destination')
  if (/^(?:live|test)_/.test(key)) throw invalid('apiKey has a client-side token. Use a server-side API key')
  return key
}

/** Keys made before 2025 have no prefix. */
function environmentOfKey(key: string): PaddleEnvironment | undefined {
  const named = /^pdl_(live|sdbx)_apikey_/.exec(key)?.[1]
  return named === undefined ? undefined : named === 'live' ? 'live' : 'sandbox'
}

function addressOf(baseUrl: string | undefined, environment: PaddleEnvironment): string {
  if (baseUrl === undefined) return HOSTS[environment]
  const mode = environment === 'live' ? 'live' : 'test'
  return checkModeUrl('paddle', 'baseUrl', baseUrl, mode, ['sandbox-api.paddle.com'])
}

function modeOf(environment: PaddleEnvironment | undefined): Provider['secrets_mode'] {
  return environment === undefined ? null : environment === 'live' ? 'live' : 'test'
}

function invalid(problem: string): Fault {
  return new Fault('config_invalid', `paddle: ${problem}.`)
}
