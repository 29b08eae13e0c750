import type { Mode } from '../../facts/event.ts'
import { Fault } from '../../facts/fault.ts'
import { isPlaceholder } from '../secret.ts'

/**
 * The API key without blanks round it.
 * @throws Fault `secret_missing` when it is blank or a placeholder
 */
export function checkApiKey(provider: string, apiKey: string | undefined): string | undefined {
  if (apiKey === undefined) return undefined
  const key = typeof apiKey === 'string' ? apiKey.trim() : ''
  // It is sent in a header, where nothing but printable ASCII can stand.
  if (!/^[!-~]+$/.test(key) || isPlaceholder(key)) {
    throw new Fault(
      'secret_missing',
      `${provider}: apiKey is blank or a placeholder. Copy the key from the Circle console.`,
    )
  }
  return key
}

/** What the prefix of an API key says; null where it says nothing. That every key has one is unconfirmed. */
export function modeOfApiKey(key: string | undefined): Mode | null {
  if (key === undefined) return null
  if (/^(?:TEST|SAND)_API_KEY:/.test(key)) return 'test'
  return key.startsWith('LIVE_API_KEY:') ? 'live' : null
}

/**
 * The mode that all that is configured agrees on.
 * @throws Fault `config_invalid` when two parts contradict each other
 */
export function agreedMode(provider: string, said: Readonly<Record<string, Mode | null>>): Mode | null {
  const modes = Object.entries(said).filter(([, mode]) => mode !== null)
  if (new Set(modes.map(([, mode]) => mode)).size <= 1) return modes[0]?.[1] ?? null
  const list = modes.map(([name, mode]) => `${name} is for ${mode}`).join(', ')
  throw new Fault('config_invalid', `${provider}: ${list}. Use one mode for all of them.`)
}
