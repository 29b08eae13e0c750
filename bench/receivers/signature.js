// Stripe's signature scheme over the raw bytes, as its documentation tells one to check it by hand.
import { createHmac, timingSafeEqual } from 'node:crypto'

const TOLERANCE_S = 300

/**
 * @param {Buffer} raw the body exactly as received
 * @param {unknown} header value of Stripe-Signature
 * @param {string} secret
 */
export function authentic(raw, header, secret) {
  if (typeof header !== 'string') return false
  const parts = new Map(header.split(',').map((part) => part.split('=', 2)))
  const time = Number(parts.get('t'))
  const given = Buffer.from(parts.get('v1') ?? '', 'hex')
  if (!(Math.abs(Date.now() / 1000 - time) <= TOLERANCE_S)) return false
  const due = createHmac('sha256', secret).update(`${time}.`).update(raw).digest()
  return given.length === due.length && timingSafeEqual(given, due)
}
