import { type KeyObject, X509Certificate } from 'node:crypto'

/** PayPal's two systems: each signs with a certificate of its own name. */
export type PaypalEnvironment = 'live' | 'sandbox'

const SIGNER: Readonly<Record<PaypalEnvironment, string>> = {
  live: 'messageverificationcerts.paypal.com',
  sandbox: 'messageverificationcerts.sandbox.paypal.com',
}

/** The certificate that signs deliveries, once it is known to be PayPal's. */
export interface SigningKey {
  readonly key: KeyObject
  /** Validity of the whole chain, Unix milliseconds. */
  readonly from_ms: number
  readonly to_ms: number
}

// A chain of more links than this is not what a public authority issues.
const MOST_LINKS = 5
const MOST_CERTIFICATES = 10
const PATH = /^\/v1\/notifications\/certs\/[A-Za-z0-9-]{1,100}$/

/**
 * The address of a certificate at PayPal, or null for any other: the host is compared whole, since
 * `https://evil.example/?paypal.com` and `https://paypal.com.evil.example` also contain the name.
 */
export function certificateAddress(text: string, environment: PaypalEnvironment): URL | null {
  if (!/^https:\/\/[!-~]{1,300}$/.test(text) || !URL.canParse(text)) return null
  const url = new URL(text)
  const plain =
    url.username === '' && url.password === '' && url.port === '' && url.search === '' && url.hash === ''
  return plain && isHostOf(url.hostname, environment) && PATH.test(url.pathname) ? url : null
}

function isHostOf(hostname: string, environment: PaypalEnvironment): boolean {
  const sandbox = hostname.endsWith('.sandbox.paypal.com')
  return hostname.endsWith('.paypal.com') && sandbox === (environment === 'sandbox')
}

/** All certificates of a PEM text, in its order; empty when one of them cannot be read. */
export function readCertificates(pem: string): readonly X509Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+?-----END CERTIFICATE-----/g) ?? []
  if (blocks.length > MOST_CERTIFICATES) return []
  try {
    return blocks.map((block) => new X509Certificate(block))
  } catch {
    return []
  }
}

export type ChainProblem =
  | { readonly problem: 'untrusted'; readonly detail: string }
  /** The chain is sound as far as it goes, but an issuer between it and a root was not sent. */
  | { readonly problem: 'issuer_missing'; readonly last: X509Certificate }

/**
 * Follows the chain from the first certificate to a trusted root: each is signed by the next, which is an authority.
 * Validity is not judged here but handed back, so that a key that is kept is judged each time it is used.
 */
export function checkChain(
  certificates: readonly X509Certificate[],
  roots: readonly X509Certificate[],
  environment: PaypalEnvironment,
): SigningKey | ChainProblem {
  const [leaf] = certificates
  if (leaf === undefined) return { problem: 'untrusted', detail: 'there is no certificate' }
  if (!isNamed(leaf, SIGNER[environment]))
    return { problem: 'untrusted', detail: `the certificate is not that of ${SIGNER[environment]}` }
  if (leaf.publicKey.asymmetricKeyType !== 'rsa')
    return { problem: 'untrusted', detail: 'the certificate has no RSA key' }
  const chain = [leaf]
  for (let last = leaf; chain.length <= MOST_LINKS; ) {
    const root = roots.find((candidate) => candidate.raw.equals(last.raw) || issued(candidate, last))
    if (root !== undefined) return keyOf(leaf, [...chain, root])
    const next = certificates.find((candidate) => !chain.includes(candidate) && issued(candidate, last))
    if (next === undefined) return { problem: 'issuer_missing', last }
    chain.push(next)
    last = next
  }
  return { problem: 'untrusted', detail: 'the chain of certificates is too long' }
}

function issued(issuer: X509Certificate, subject: X509Certificate): boolean {
  return issuer.ca && subject.checkIssued(issuer) && subject.verify(issuer.publicKey)
}

function keyOf(leaf: X509Certificate, chain: readonly X509Certificate[]): SigningKey {
  return {
    key: leaf.publicKey,
    from_ms: Math.max(...chain.map((link) => Date.parse(link.validFrom))),
    to_ms: Math.min(...chain.map((link) => Date.parse(link.validTo))),
  }
}

/** One common name, and it is this. */
function isNamed(certificate: X509Certificate, name: string): boolean {
  const names = certificate.subject.split('\n').filter((line) => line.startsWith('CN='))
  return names.length === 1 && names[0] === `CN=${name}`
}

/** Where the authority publishes the issuer of a certificate (Authority Information Access), over https. */
export function issuerAddress(certificate: X509Certificate, hosts: readonly string[]): URL | null {
  for (const line of certificate.infoAccess?.split('\n') ?? []) {
    const [, text = ''] = /^CA Issuers - URI:https?:\/\/([!-~]+)$/.exec(line) ?? []
    const url = URL.canParse(`https://${text}`) ? new URL(`https://${text}`) : null
    if (url !== null && url.username === '' && hosts.includes(url.host)) return url
  }
  return null
}
