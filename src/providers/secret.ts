import { createHash } from 'node:crypto'
import { Fault } from '../facts/fault.ts'

/** A secret with a name of its own, so that a rotation can be followed: `{ label: '2025-11', secret: '...' }`. */
export interface LabelledSecret {
  readonly label: string
  readonly secret: string
}

/**
 * One secret, or several that are valid at once during a rotation. Without a label, a secret is called by its
 * fingerprint. White space round a secret is cut off and noted.
 */
export type SecretOption = string | readonly string[] | readonly LabelledSecret[]

export interface Secret {
  readonly label: string
  /** First 8 hex digits of the SHA-256 of the secret text. */
  readonly fingerprint: string
  readonly trimmed: boolean
  readonly key: Buffer
}

const PLACEHOLDER =
  /^(?:(?:whsec|sk|rk)_(?:(?:test|live)_)?)?(?:[x.*…_-]*|change[-_ ]?me.*|your[-_ ].*|replace[-_ ].*|insert[-_ ].*|placeholder.*|todo|secret|undefined|null|none|<.*>|\$\{?.*)$/iu

/**
 * Reads the secrets of one endpoint.
 * @param toKey turns the text of a secret into the bytes of the HMAC key
 * @throws Fault `secret_missing` when there is none, or one is blank or a placeholder; `config_invalid` when two have one label
 */
export function readSecrets(
  provider: string,
  option: SecretOption | undefined,
  toKey: (text: string) => Buffer,
): readonly Secret[] {
  const given: readonly (string | LabelledSecret | undefined)[] = Array.isArray(option) ? option : [option]
  if (given.length === 0) throw missing(provider, 'has no secret')
  const secrets = given.map((entry) => readSecret(provider, entry, toKey))
  const different = secrets.filter(
    (one, at) => secrets.findIndex((other) => other.key.equals(one.key)) === at,
  )
  if (new Set(different.map((one) => one.label)).size < different.length) {
    throw new Fault(
      'config_invalid',
      `${provider}: two secrets have one label. Give each a label of its own.`,
    )
  }
  return different
}

function readSecret(
  provider: string,
  entry: string | LabelledSecret | undefined,
  toKey: (text: string) => Buffer,
): Secret {
  const raw: unknown = typeof entry === 'object' && entry !== null ? entry.secret : entry
  const label: unknown = typeof entry === 'object' && entry !== null ? entry.label : undefined
  if (typeof raw !== 'string' || raw.trim() === '') throw missing(provider, 'has a blank secret')
  const text = raw.trim()
  if (isPlaceholder(text)) throw missing(provider, 'has a placeholder for a secret')
  const fingerprint = createHash('sha256').update(text).digest('hex').slice(0, 8)
  const name = typeof label === 'string' && label.trim() !== '' ? label.trim() : fingerprint
  return { label: name, fingerprint, trimmed: text !== raw, key: toKey(text) }
}

/** True for texts that stand where a secret should be: `whsec_...`, `changeme`, `<secret>`, `${SECRET}`. */
export function isPlaceholder(text: string): boolean {
  return PLACEHOLDER.test(text)
}

function missing(provider: string, problem: string): Fault {
  return new Fault(
    'secret_missing',
    `${provider}: the endpoint ${problem}. Copy the signing secret from the provider's webhook settings into its environment variable.`,
  )
}
