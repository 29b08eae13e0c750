import { Unreadable } from './unreadable.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true })

/**
 * Parses a body that was verified over its bytes. A byte order mark is tolerated here, since the digest is done.
 * @throws Unreadable when the bytes are no UTF-8 or the text is no JSON
 */
export function parseJsonBody(body: Uint8Array): unknown {
  return parseJson(decodeUtf8(body))
}

/** @throws Unreadable when the bytes are no UTF-8 */
export function decodeUtf8(body: Uint8Array): string {
  try {
    return utf8.decode(body)
  } catch {
    throw new Unreadable('the body is not valid UTF-8')
  }
}

/** @throws Unreadable when the text is no JSON */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Unreadable('the body is not JSON')
  }
}
