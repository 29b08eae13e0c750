import type { X509Certificate } from 'node:crypto'
import { verify } from 'node:crypto'
import type { Refusal } from '../../../facts/refusal.ts'
import { refusal } from '../../../facts/refusal.ts'
import type { Delivery, Verdict, Verified } from '../../contract.ts'
import type { KeyCache } from '../key-cache.ts'
import { certificateProblem, certificateUrl } from './certificate.ts'
import type { SnsMessage } from './sns-message.ts'
import { readSnsMessage, stringToSign } from './sns-message.ts'
import type { Topic } from './topic.ts'

const ALGORITHMS = new Map([
  ['1', 'sha1'],
  ['2', 'sha256'],
])

/**
 * Amazon SNS: RSA over the named fields (SHA-1 for signature version 1, SHA-256 for version 2), with the certificate
 * that the message names. Nothing is fetched for a message of another topic or from another host.
 */
export function verifySns(
  topic: Topic,
  certificates: KeyCache<X509Certificate>,
  delivery: Delivery,
  now_ms: number,
): Verdict | Promise<Verdict> {
  const message = readSnsMessage(delivery.body)
  if (message === null) return refusal('signature_missing', 'the body is no complete SNS message')
  if (message.signed.TopicArn !== topic.arn) return refusal('signature_wrong', 'it is of another topic')
  const url = certificateUrl(message.certUrl, topic)
  if (url === null) return refusal('signature_malformed', `SigningCertURL is no certificate at ${topic.host}`)
  const algorithm = ALGORITHMS.get(message.version)
  const signature = base64(message.signature)
  if (algorithm === undefined || signature === null) {
    return refusal('signature_malformed', 'SignatureVersion is neither 1 nor 2, or Signature is no base64')
  }
  const judge = (certificate: X509Certificate | null): Verified | Refusal => {
    if (certificate === null)
      return refusal('signature_wrong', `there is no such certificate at ${topic.host}`)
    const problem = certificateProblem(certificate, topic, now_ms)
    if (problem === null) return judged(message, algorithm, signature, certificate)
    // It is fetched again, should AWS have put another one in its place.
    certificates.forget(url)
    return refusal('signature_wrong', problem)
  }
  const certificate = certificates.get(url, now_ms)
  return certificate instanceof Promise ? certificate.then(judge) : judge(certificate)
}

function judged(
  message: SnsMessage,
  algorithm: string,
  signature: Buffer,
  certificate: X509Certificate,
): Verified | Refusal {
  if (!verify(algorithm, Buffer.from(stringToSign(message)), certificate.publicKey, signature)) {
    return refusal('signature_wrong', 'Signature does not match the signed fields')
  }
  const label = certificate.fingerprint256.replaceAll(':', '').slice(0, 8).toLowerCase()
  return { refused: false, secret_label: label, signed_at_ms: null, signed_id: null }
}

function base64(text: string): Buffer | null {
  if (text.length > 2_000 || !/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return null
  const bytes = Buffer.from(text, 'base64')
  return bytes.toString('base64') === text ? bytes : null
}
