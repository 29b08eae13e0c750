import { createHmac, timingSafeEqual } from 'node:crypto'

/** For so long a buyer may look how their order stands. */
const VALID_MS = 7 * 86_400_000

/** Lets whoever has it see how one order stands, and nothing else, until it runs out. */
export function makeConfirmToken(
  secret: string,
  tenant: string,
  reference: string,
  now_ms: number,
  valid_ms = VALID_MS,
): string {
  const body = `${(now_ms + valid_ms).toString(36)}.${Buffer.from(tenant).toString('base64url')}`
  return `${body}.${mac(secret, body, reference).toString('base64url')}`
}

/** The tenant whose order the token lets see; null for a token that is not ours, is for another order or has run out. */
export function readConfirmToken(
  secret: string,
  token: string,
  reference: string,
  now_ms: number,
): string | null {
  const [, expires = '', tenant = '', given = ''] =
    /^([0-9a-z]{1,11})\.([A-Za-z0-9_-]{1,400})\.([A-Za-z0-9_-]{43})$/.exec(token) ?? []
  const bytes = Buffer.from(given, 'base64url')
  const right = mac(secret, `${expires}.${tenant}`, reference)
  if (bytes.length !== right.length || !timingSafeEqual(bytes, right)) return null
  return Number.parseInt(expires, 36) < now_ms ? null : Buffer.from(tenant, 'base64url').toString()
}

function mac(secret: string, body: string, reference: string): Buffer {
  return createHmac('sha256', secret).update(`paidonce confirm\n${body}\n${reference}`).digest()
}
