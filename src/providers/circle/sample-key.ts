import type { KeyObject } from 'node:crypto'
import { createECDH, createHash, createHmac, createPrivateKey, createPublicKey } from 'node:crypto'

/**
 * The key that sample messages are signed with. It is printed here, so whoever trusts it trusts everybody: an endpoint
 * that has it counts as one for tests.
 */
export const SAMPLE_KEY = {
  id: '0d9c4f6e-3a51-4c77-9b0e-51a6f2c8d0e1',
  publicKey:
    'MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEqLIpD2OZ1OycqstoyrqKUZJShGpVyC7tkp4iwhNugNt3usRETZ77hAIz6O2v/EiZZ6WisZAaZ+5jIXagkaSS9A==',
} as const

const PRIVATE_KEY =
  'MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgAcYB889GmSJv6MJRlH4tBsLxVdL/ILYsxpVwUi6hVimhRANCAASosikPY5nU7Jyqy2jKuopRklKEalXILu2SniLCE26A23e6xERNnvuEAjPo7a/8SJlnpaKxkBpn7mMhdqCRpJL0'

export function isSampleKey(key: KeyObject): boolean {
  return key.equals(
    createPublicKey({ key: Buffer.from(SAMPLE_KEY.publicKey, 'base64'), format: 'der', type: 'spki' }),
  )
}

/** Order of P-256's group. */
const N = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n

/**
 * The ECDSA signature of a body, DER in base64. Node draws a new number for each signature; here it follows from key and
 * body (the thought of RFC 6979), so that the same sample is signed alike.
 */
export function signWithSampleKey(body: string | Uint8Array): string {
  const { d } = createPrivateKey({
    key: Buffer.from(PRIVATE_KEY, 'base64'),
    format: 'der',
    type: 'pkcs8',
  }).export({
    format: 'jwk',
  })
  const secret = Buffer.from(d ?? '', 'base64url')
  const digest = createHash('sha256').update(body).digest()
  const nonce = number(createHmac('sha256', secret).update(digest).digest()) % N
  const point = createECDH('prime256v1')
  point.setPrivateKey(bytes(nonce))
  const r = number(point.getPublicKey().subarray(1, 33)) % N
  const s = (inverse(nonce) * (number(digest) + r * number(secret))) % N
  const content = Buffer.concat([derInteger(r), derInteger(s)])
  return Buffer.concat([Buffer.from([0x30, content.length]), content]).toString('base64')
}

function number(from: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(from).toString('hex')}`)
}

function bytes(value: bigint): Buffer {
  return Buffer.from(value.toString(16).padStart(64, '0'), 'hex')
}

/** By Fermat's theorem, since N is prime. */
function inverse(value: bigint): bigint {
  let result = 1n
  let base = value % N
  for (let exponent = N - 2n; exponent > 0n; exponent >>= 1n) {
    if (exponent & 1n) result = (result * base) % N
    base = (base * base) % N
  }
  return result
}

function derInteger(value: bigint): Buffer {
  const hex = value.toString(16)
  const digits = Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex')
  const positive = (digits[0] ?? 0) > 0x7f ? Buffer.concat([Buffer.from([0]), digits]) : digits
  return Buffer.concat([Buffer.from([0x02, positive.length]), positive])
}
