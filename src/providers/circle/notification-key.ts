import type { KeyObject } from 'node:crypto'
import { createPublicKey } from 'node:crypto'
import { Fault } from '../../facts/fault.ts'
import type { Ask } from '../ask.ts'
import { newAsk } from '../ask.ts'
import { textIn } from '../field.ts'
import { parseJsonBody } from '../json-body.ts'
import type { LoadKey } from './key-cache.ts'

export interface KeyServer {
  readonly baseUrl: string
  readonly apiKey: string | undefined
  readonly ask: Ask | undefined
}

/** The sender waits for its answer meanwhile. */
const LIMIT_MS = 5_000

/**
 * `GET /v2/notifications/publicKey/{id}` with the account's own API key. Without an API key no key can be fetched, and
 * only those known beforehand count.
 */
export function notificationKeys(server: KeyServer): LoadKey<KeyObject> {
  const { host } = new URL(server.baseUrl)
  return async (id, now_ms) => {
    if (server.apiKey === undefined) return null
    const ask = server.ask ?? newAsk(fetch, () => now_ms)
    const answer = await ask(`${server.baseUrl}/v2/notifications/publicKey/${id}`, {
      headers: { authorization: `Bearer ${server.apiKey}`, accept: 'application/json' },
      hosts: [host],
      limit_ms: LIMIT_MS,
      answer_max: 64 * 1024,
    })
    if (answer.status === 404 || answer.status === 400) return null
    if (answer.status === 401 || answer.status === 403) {
      throw unavailable(
        `${host} refuses the API key (HTTP ${answer.status}). Mend apiKey; the deliveries come again.`,
      )
    }
    if (answer.status !== 200)
      throw unavailable(`${host} answered HTTP ${answer.status} when asked for a key.`)
    return keyIn(answer.body, id, host)
  }
}

function keyIn(body: Uint8Array, id: string, host: string): KeyObject {
  const odd = `${host} answered with a key that this version cannot use.`
  try {
    const answer = parseJsonBody(body)
    const same = textIn(answer, 'data', 'id')?.toLowerCase() === id
    if (!same || textIn(answer, 'data', 'algorithm') !== 'ECDSA_SHA_256') throw unavailable(odd)
    return readPublicKey(textIn(answer, 'data', 'publicKey') ?? '')
  } catch (cause) {
    throw cause instanceof Fault && cause.retriable ? cause : unavailable(odd, cause)
  }
}

/**
 * A P-256 key as Circle writes it: base64 of its SPKI DER form.
 * @throws Fault `config_invalid` for anything else
 */
export function readPublicKey(text: string): KeyObject {
  try {
    const key = createPublicKey({ key: Buffer.from(text, 'base64'), format: 'der', type: 'spki' })
    if (key.asymmetricKeyType === 'ec' && key.asymmetricKeyDetails?.namedCurve === 'prime256v1') return key
  } catch {
    // The same answer for what is no key at all and for another kind of key.
  }
  throw new Fault(
    'config_invalid',
    'circle: a public key must be a P-256 key, base64 of its SPKI DER form (it begins with MFkwEwYHKoZIzj0C).',
  )
}

function unavailable(message: string, cause?: unknown): Fault {
  return new Fault('provider_unavailable', message, { retriable: true, cause })
}
