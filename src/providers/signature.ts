import { type Hmac, timingSafeEqual } from 'node:crypto'
import type { Secret } from './secret.ts'

/** The bytes that a text of exactly `length` hex-encoded bytes stands for, in either letter case; null for any other text. */
export function hexBytes(text: string, length: number): Buffer | null {
  return text.length === 2 * length && /^[0-9a-fA-F]*$/.test(text) ? Buffer.from(text, 'hex') : null
}

/** The same for standard base64 with its padding, in the one spelling that an encoder gives. */
export function base64Bytes(text: string, length: number): Buffer | null {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return null
  const bytes = Buffer.from(text, 'base64')
  return bytes.length === length && bytes.toString('base64') === text ? bytes : null
}

/** The digest's bytes. By way of a text they come from Node's pool, which takes less time than bytes of their own. */
export function digestBytes(hmac: Hmac): Buffer {
  return Buffer.from(hmac.digest('binary'), 'latin1')
}

/**
 * The first configured secret whose digest is among the given ones. Every secret is compared with every digest, so
 * the time taken does not tell which one came close. Digests must have equal lengths.
 */
export function matchingSecret(
  secrets: readonly Secret[],
  digestWith: (key: Buffer) => Buffer,
  given: readonly Buffer[],
): Secret | null {
  let match: Secret | null = null
  for (const secret of secrets) {
    const digest = digestWith(secret.key)
    for (const candidate of given) {
      const equal = digest.length === candidate.length && timingSafeEqual(digest, candidate)
      if (equal && match === null) match = secret
    }
  }
  return match
}
