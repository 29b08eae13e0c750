import { Fault } from '../facts/fault.ts'
import { isPlaceholder } from './secret.ts'

/**
 * An API key as configured, without white space round it; undefined when the option is left out.
 * @throws Fault `secret_missing` when it is blank or a placeholder
 */
export function readApiKey(provider: string, apiKey: string | undefined): string | undefined {
  if (apiKey === undefined) return undefined
  const key = apiKey.trim()
  if (key !== '' && !isPlaceholder(key)) return key
  throw new Fault(
    'secret_missing',
    `${provider}: apiKey is blank or a placeholder. Set it, or leave the option out.`,
  )
}
