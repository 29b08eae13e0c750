import { decodeUtf8, parseJson } from './json-body.ts'

// Left to right, a string is taken whole, so that digits inside one are never a number.
const STRING_OR_NUMBER = /("(?:[^"\\]|\\.)*")|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/g

/**
 * Parses JSON with every number as the text that was sent: `1000.0` and eighteen digits would become other numbers,
 * and a signature over them, or an id made of them, would not match any more.
 * @throws Unreadable when it is no UTF-8 or no JSON
 */
export function parseJsonLexemes(body: Uint8Array): unknown {
  const text = decodeUtf8(body)
  parseJson(text)
  return parseJson(text.replace(STRING_OR_NUMBER, (lexeme, string?: string) => string ?? `"${lexeme}"`))
}
