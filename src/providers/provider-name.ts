import { Fault } from '../facts/fault.ts'
import { cleanText } from './field.ts'

/**
 * The name of a provider that the user describes; it becomes part of every key.
 * @throws Fault `config_invalid` unless it is 1 to 40 lower-case letters, digits and dashes, letter first, and free
 */
export function checkProviderName(name: string): string {
  if (!/^[a-z][a-z0-9-]{0,39}$/.test(name) || name === 'stripe') {
    throw new Fault(
      'config_invalid',
      `Provider name "${name}" must be lower-case letters, digits and dashes, letter first, and not a built-in one.`,
    )
  }
  return name
}

/** Our name for the account at the provider. @throws Fault `config_invalid` when it is blank or unusable in a key */
export function checkAccount(provider: string, account: string | undefined): string {
  if (account === undefined) return 'default'
  if (cleanText(account) === undefined || account !== account.trim()) {
    throw new Fault(
      'config_invalid',
      `${provider}: account is blank or has blanks round it. Leave it out or name it.`,
    )
  }
  return account
}
