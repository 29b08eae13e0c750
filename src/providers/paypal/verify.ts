import { verify as verifySignature } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { Refusal } from '../../facts/refusal.ts'
import { refusal } from '../../facts/refusal.ts'
import type { Delivery, Verified } from '../contract.ts'
import { headerLines, singleHeader } from '../header.ts'
import type { Secret } from '../secret.ts'
import { base64Bytes } from '../signature.ts'
import { outsideWindow } from '../time-window.ts'
import { certificateAddress, type PaypalEnvironment, type SigningKey } from './certificate.ts'
import type { KeyRing, NoKey } from './key-ring.ts'

export const TRANSMISSION_HEADERS = [
  'paypal-transmission-sig',
  'paypal-transmission-id',
  'paypal-transmission-time',
  'paypal-cert-url',
  'paypal-auth-algo',
] as const

const ALGORITHM = 'SHA256withRSA'
// RSA of 2048 or 4096 bits. Some proxies repeat a header; each further entry costs a verification.
const SIGNATURE_BYTES = [256, 512]
const MOST_SIGNATURES = 4

interface Transmission {
  readonly id: string
  readonly time: string
  readonly signed_at_ms: number
  readonly signatures: readonly Buffer[]
  readonly certificate: URL
}

/**
 * RSA with SHA-256 over `<transmission id>|<transmission time>|<webhook id>|<CRC-32 of the body, decimal>`. The webhook
 * id is ours and not in the request, so a message for another webhook fails. Proves the sender, but of the body only 32
 * bits, which anybody can keep while changing the rest: nothing in it may be believed.
 */
export function verifyPaypal(
  setup: {
    readonly webhooks: readonly Secret[]
    readonly environment: PaypalEnvironment
    readonly tolerance_s: number
    readonly keys: KeyRing
  },
  delivery: Delivery,
  now_ms: number,
): Verified | Refusal | Promise<Verified | Refusal> {
  const transmission = readTransmission(delivery, setup.environment)
  if ('refused' in transmission) return transmission
  const judge = (key: SigningKey | NoKey): Verified | Refusal => {
    if ('refused' in key) return refusal('signature_wrong', `paypal-cert-url: ${key.refused}`)
    if (now_ms < key.from_ms || now_ms > key.to_ms)
      return refusal('signature_wrong', 'the certificate is not valid at this time')
    return judgeSignature(setup, transmission, key, delivery.body, now_ms)
  }
  const key = setup.keys.find(transmission.certificate, now_ms)
  return key instanceof Promise ? key.then(judge) : judge(key)
}

function judgeSignature(
  setup: { readonly webhooks: readonly Secret[]; readonly tolerance_s: number },
  { id, time, signed_at_ms, signatures }: Transmission,
  { key }: SigningKey,
  body: Uint8Array,
  now_ms: number,
): Verified | Refusal {
  const crc = crc32(body)
  for (const webhook of setup.webhooks) {
    const signed = Buffer.from(`${id}|${time}|${webhook.key.toString('latin1')}|${crc}`, 'latin1')
    if (!signatures.some((signature) => verifySignature('sha256', signed, key, signature))) continue
    return (
      outsideWindow(signed_at_ms, now_ms, setup.tolerance_s) ?? {
        refused: false,
        secret_label: webhook.label,
        signed_at_ms,
        signed_id: null,
      }
    )
  }
  return refusal('signature_wrong', `it matches none of ${setup.webhooks.length} webhook id(s)`)
}

function readTransmission(delivery: Delivery, environment: PaypalEnvironment): Transmission | Refusal {
  const values: string[] = []
  for (const name of TRANSMISSION_HEADERS.slice(1)) {
    const value = singleHeader(delivery, name)
    if (value === undefined) return refusal('signature_missing', `no ${name} header`)
    if (value === null) return refusal('signature_malformed', `${name} is repeated`)
    values.push(value)
  }
  const [id = '', time = '', address = '', algorithm] = values
  if (algorithm !== ALGORITHM) return refusal('signature_malformed', `paypal-auth-algo is not ${ALGORITHM}`)
  // A bar in one of the parts could shift them against each other.
  if (!/^[A-Za-z0-9-]{1,100}$/.test(id))
    return refusal('signature_malformed', 'paypal-transmission-id is odd')
  const signed_at_ms = timeOf(time)
  if (signed_at_ms === null) return refusal('signature_malformed', 'paypal-transmission-time is no UTC time')
  const certificate = certificateAddress(address, environment)
  if (certificate === null)
    return refusal('signature_malformed', `paypal-cert-url is not at PayPal's ${environment} API`)
  const signatures = readSignatures(delivery)
  return 'refused' in signatures
    ? signatures
    : { id, time, signed_at_ms, certificate, signatures: signatures.list }
}

function readSignatures(delivery: Delivery): { readonly list: readonly Buffer[] } | Refusal {
  const [name] = TRANSMISSION_HEADERS
  const lines = headerLines(delivery, name)
  if (lines.length === 0) return refusal('signature_missing', `no ${name} header`)
  const entries = lines.join(',').split(',', MOST_SIGNATURES + 1)
  const list = entries
    .flatMap((entry) => SIGNATURE_BYTES.map((length) => base64Bytes(entry.trim(), length)))
    .filter((signature) => signature !== null)
  return list.length === 0 || entries.length > MOST_SIGNATURES
    ? refusal('signature_malformed', `${name} has no usable signature, or too many`)
    : { list }
}

function timeOf(text: string): number | null {
  if (!/^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?Z$/.test(text)) return null
  const time_ms = Date.parse(text)
  return Number.isNaN(time_ms) ? null : time_ms
}
