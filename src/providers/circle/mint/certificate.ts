import { X509Certificate } from 'node:crypto'
import { Fault } from '../../../facts/fault.ts'
import type { Ask } from '../../ask.ts'
import { newAsk } from '../../ask.ts'
import type { LoadKey } from '../key-cache.ts'
import type { Topic } from './topic.ts'

/** The sender waits for its answer meanwhile. */
const LIMIT_MS = 5_000

/**
 * The address of a signing certificate in its one spelling, or null for any other: https, exactly the host of the
 * topic's region, one path that ends in `.pem`, and nothing else.
 */
export function certificateUrl(text: string, { host }: Topic): string | null {
  const path = text.startsWith(`https://${host}/`) ? text.slice(`https://${host}`.length) : ''
  return /^\/[A-Za-z0-9_-]{1,200}\.pem$/.test(path) ? text : null
}

/** Fetches a certificate from an address that `certificateUrl` has accepted; null when AWS has none there. */
export function topicCertificates({ host }: Topic, given: Ask | undefined): LoadKey<X509Certificate> {
  return async (url, now_ms) => {
    const ask = given ?? newAsk(fetch, () => now_ms)
    const answer = await ask(url, { hosts: [host], limit_ms: LIMIT_MS, answer_max: 64 * 1024 })
    if (answer.status === 403 || answer.status === 404) return null
    const certificate = answer.status === 200 ? readCertificate(answer.body) : null
    if (certificate !== null) return certificate
    const reason = `${host} gave no certificate (HTTP ${answer.status}).`
    throw new Fault('provider_unavailable', reason, { retriable: true })
  }
}

/** Null for what is no certificate. */
export function readCertificate(pem: Uint8Array | string): X509Certificate | null {
  try {
    return new X509Certificate(pem)
  } catch {
    return null
  }
}

/** Why a certificate may not be used for this topic now; null when it may. */
export function certificateProblem(
  certificate: X509Certificate,
  { host }: Topic,
  now_ms: number,
): string | null {
  const named = ['sns.amazonaws.com', host].some((name) => certificate.checkHost(name) !== undefined)
  if (!named) return 'the certificate is not one of SNS'
  if (certificate.publicKey.asymmetricKeyType !== 'rsa') return 'the certificate has no RSA key'
  const valid = Date.parse(certificate.validFrom) <= now_ms && now_ms <= Date.parse(certificate.validTo)
  return valid ? null : 'the certificate is not valid at this time'
}
