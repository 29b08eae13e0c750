import { createPrivateKey, type KeyObject, sign } from 'node:crypto'
import { Fault } from '../../facts/fault.ts'

/** GitHub takes tokens of ten minutes at most; the clock may be a minute ahead of its. */
const BACKDATED_S = 60
const VALID_S = 540

/** @throws Fault `config_invalid` when it is no RSA private key in PEM */
export function readAppKey(pem: string): KeyObject {
  try {
    // Environment variables often carry the line ends of a key as backslash and n.
    const key = createPrivateKey(pem.replaceAll('\\n', '\n'))
    if (key.asymmetricKeyType === 'rsa') return key
  } catch {
    // The cause may quote the key.
  }
  throw new Fault(
    'config_invalid',
    'github: marketplace.privateKey is no RSA private key. Use the .pem file that the settings of the GitHub App give.',
  )
}

/** The token with which a GitHub App speaks for itself: a JWT, RS256. */
export function appToken(app: string, key: KeyObject, now_ms: number): string {
  const now_s = Math.floor(now_ms / 1000)
  const claims = { iat: now_s - BACKDATED_S, exp: now_s + VALID_S, iss: app }
  const text = [{ alg: 'RS256', typ: 'JWT' }, claims].map((part) => encode(JSON.stringify(part))).join('.')
  return `${text}.${sign('sha256', Buffer.from(text), key).toString('base64url')}`
}

function encode(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64url')
}
