import { Fault } from '../facts/fault.ts'
import { cleanText } from './field.ts'

const NAME = /^[a-z][a-z0-9-]{0,39}$/

/** Names that have an adapter of their own. */
const BUILT_IN: ReadonlySet<string> = new Set([
  'circle',
  'dodo-payments',
  'esewa',
  'github',
  'ime-pay',
  'khalti',
  'paddle',
  'paypal',
  'paypal-ipn',
  'stripe',
  'yolfi',
])

/**
 * The name of a provider that the user describes; it becomes part of every key.
 * @throws Fault `config_invalid` unless it is 1 to 40 lower-case letters, digits and dashes, letter first, and free
 */
export function checkProviderName(name: string): string {
  if (!NAME.test(name) || BUILT_IN.has(name)) {
    throw new Fault(
      'config_invalid',
      `Provider name "${name}" must be lower-case letters, digits and dashes, letter first, and not a built-in one.`,
    )
  }
  return name
}

/**
 * What the sender's payment ids belong to: its name, or another provider's where the two share them.
 * @throws Fault `config_invalid` unless it is made like a provider's name
 */
export function checkNamespace(provider: string, namespace: string | undefined): string {
  if (namespace === undefined) return provider
  if (NAME.test(namespace)) return namespace
  throw new Fault(
    'config_invalid',
    `${provider}: namespace "${namespace}" must be lower-case letters, digits and dashes, letter first.`,
  )
}

/**
 * Our name for the account at the provider. It has no slash: exceptions name a payment `namespace/account/id`, which
 * must not be another one's too.
 * @throws Fault `config_invalid` when it is blank or unusable in a key
 */
export function checkAccount(provider: string, account: string | undefined): string {
  if (account === undefined) return 'default'
  if (cleanText(account) === undefined || account !== account.trim() || account.includes('/')) {
    throw new Fault(
      'config_invalid',
      `${provider}: account is blank, has blanks round it or a slash. Leave it out or name it.`,
    )
  }
  return account
}
