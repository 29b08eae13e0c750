import { X509Certificate } from 'node:crypto'
import { rootCertificates } from 'node:tls'
import { Fault } from '../../facts/fault.ts'
import type { Ask } from '../ask.ts'
import {
  checkChain,
  issuerAddress,
  type PaypalEnvironment,
  readCertificates,
  type SigningKey,
} from './certificate.ts'

export interface KeyRingSetup {
  readonly environment: PaypalEnvironment
  /** Certificates of the authorities that are trusted. Default: those that Node trusts. */
  readonly roots: readonly X509Certificate[] | undefined
  /** Certificates between PayPal's and the root, for files that leave them out. */
  readonly intermediates: readonly X509Certificate[]
  /** Where certificates are asked for instead of PayPal's hosts. */
  readonly standIn: URL | undefined
}

/** No such certificate, or one that is not PayPal's: the delivery that names it is not authentic. */
export interface NoKey {
  readonly refused: string
}

const KEYS_MAX = 16
const REFUSED_MAX = 256
/** A refusal is forgotten, should PayPal's file have been wrong for a while. */
const REFUSED_FOR_MS = 600_000
const FETCHES_MAX = 4
const LIMIT_MS = 5_000
const FILE_MAX = 64 * 1024
/** The authority of PayPal's certificates publishes its intermediate ones here. */
const ISSUER_HOSTS = ['cacerts.digicert.com']

/**
 * The certificates that deliveries were signed with, fetched once each. Addresses come from unauthenticated headers:
 * they are only ever PayPal's own, few are fetched at once, and unknown ones are remembered apart, so that nobody can
 * push out the key in use.
 */
export class KeyRing {
  readonly #setup: KeyRingSetup
  readonly #ask: Ask
  readonly #keys = new Map<string, SigningKey>()
  readonly #refused = new Map<string, { refused: string; until_ms: number }>()
  readonly #fetching = new Map<string, Promise<SigningKey | NoKey>>()
  #roots: readonly X509Certificate[] | undefined

  constructor(setup: KeyRingSetup, ask: Ask) {
    this.#setup = setup
    this.#ask = ask
    this.#roots = setup.roots
  }

  /**
   * The key behind an address that `certificateAddress` has allowed; at once when it is known.
   * The promise rejects with Fault `provider_unavailable` when the certificate cannot be had now.
   */
  find(address: URL, now_ms: number): SigningKey | NoKey | Promise<SigningKey | NoKey> {
    const name = address.href
    const known = this.#keys.get(name)
    if (known !== undefined && now_ms <= known.to_ms) return known
    const refused = this.#refused.get(name)
    if (refused !== undefined && now_ms < refused.until_ms) return refused
    const under_way = this.#fetching.get(name)
    if (under_way !== undefined) return under_way
    if (this.#fetching.size >= FETCHES_MAX) return Promise.reject(unavailable('too many are fetched at once'))
    const fetching = this.#fetch(address, now_ms).finally(() => this.#fetching.delete(name))
    this.#fetching.set(name, fetching)
    return fetching
  }

  async #fetch(address: URL, now_ms: number): Promise<SigningKey | NoKey> {
    const source = this.#setup.standIn ? new URL(address.pathname, this.#setup.standIn) : address
    const { status, body } = await this.#get(source)
    if (status === 404 || status === 400) return this.#refuse(address, 'there is no such certificate', now_ms)
    if (status !== 200) throw unavailable(`status ${status}`)
    const certificates = readCertificates(body.toString('latin1'))
    // PayPal has served other text here for a while; that says nothing about the delivery.
    if (certificates.length === 0) throw unavailable('the file holds no certificate')
    const found = await this.#complete([...certificates, ...this.#setup.intermediates])
    if ('refused' in found) return this.#refuse(address, found.refused, now_ms)
    keep(this.#keys, address.href, found, KEYS_MAX)
    return found
  }

  /** Fetches at most two issuers that the file leaves out. */
  async #complete(given: readonly X509Certificate[]): Promise<SigningKey | NoKey> {
    const { environment } = this.#setup
    this.#roots ??= rootCertificates.map((pem) => new X509Certificate(pem))
    let certificates = given
    for (let fetched = 0; ; fetched += 1) {
      const result = checkChain(certificates, this.#roots, environment)
      if ('key' in result) return result
      if (result.problem === 'untrusted') return { refused: result.detail }
      const address = fetched < 2 ? issuerAddress(result.last, ISSUER_HOSTS) : null
      if (address === null) return { refused: 'the certificate does not lead to a trusted authority' }
      certificates = [...certificates, await this.#fetchIssuer(address)]
    }
  }

  async #fetchIssuer(address: URL): Promise<X509Certificate> {
    const { status, body } = await this.#get(address)
    try {
      if (status === 200) return new X509Certificate(body)
    } catch {
      // Falls through: not a certificate is as good as none.
    }
    throw unavailable(`the issuer's certificate at ${address.host} could not be read`)
  }

  #get(address: URL) {
    return this.#ask(address.href, { hosts: [address.host], limit_ms: LIMIT_MS, answer_max: FILE_MAX })
  }

  #refuse(address: URL, refused: string, now_ms: number): NoKey {
    keep(this.#refused, address.href, { refused, until_ms: now_ms + REFUSED_FOR_MS }, REFUSED_MAX)
    return { refused }
  }
}

/** Drops the oldest beyond `most`. */
function keep<V>(map: Map<string, V>, name: string, value: V, most: number): void {
  map.delete(name)
  map.set(name, value)
  for (const oldest of map.keys()) {
    if (map.size <= most) break
    map.delete(oldest)
  }
}

function unavailable(why: string): Fault {
  return new Fault(
    'provider_unavailable',
    `paypal: the certificate of a delivery cannot be had now (${why}). The sender is asked to deliver again.`,
    { retriable: true },
  )
}
