import { Fault } from '../../facts/fault.ts'

/**
 * The HMAC key behind a secret.
 * @param format `base64`: `whsec_` (or `v1,whsec_`) and base64, as specified; `text`: the whole text is the key
 * @throws Fault `config_invalid` when the secret is of another kind
 */
export function secretKey(provider: string, text: string, format: 'base64' | 'text'): Buffer {
  if (format === 'text') return Buffer.from(text, 'utf8')
  const encoded = text.replace(/^(?:v1,)?(?:whsec_)?/, '')
  const key = Buffer.from(encoded, 'base64')
  if (/^wh[sp]k_/.test(encoded) || !/^[A-Za-z0-9+/]+={0,2}$/.test(encoded) || key.length < 16) {
    throw new Fault(
      'config_invalid',
      `${provider}: a secret must be whsec_ and the base64 of at least 16 bytes. For a sender that uses the text itself as the key, set secretFormat to 'text'.`,
    )
  }
  return key
}
