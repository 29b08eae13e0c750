import { cleanText } from '../field.ts'
import { Unreadable } from '../unreadable.ts'

/** Names and values of a form, percent-decoded to bytes; null for what is no form. */
export type RawForm = ReadonlyMap<string, readonly Buffer[]>

const NAME = /^[A-Za-z0-9_.[\]-]{1,100}$/
const MOST_FIELDS = 1000

/** Splits a form without knowing its charset. Never throws. */
export function splitForm(body: Uint8Array): RawForm | null {
  const text = Buffer.from(body).toString('latin1')
  const pairs = text.split('&', MOST_FIELDS + 1)
  if (pairs.length > MOST_FIELDS) return null
  const fields = new Map<string, Buffer[]>()
  for (const pair of pairs) {
    const at = pair.indexOf('=')
    const name = at === -1 ? null : percentDecoded(pair.slice(0, at))?.toString('latin1')
    const value = percentDecoded(pair.slice(at + 1))
    if (!name || value === null || !NAME.test(name)) return null
    fields.set(name, [...(fields.get(name) ?? []), value])
  }
  return fields
}

function percentDecoded(text: string): Buffer | null {
  if (/%(?![0-9A-Fa-f]{2})/.test(text)) return null
  const bytes = text
    .replaceAll('+', ' ')
    .replace(/%([0-9A-Fa-f]{2})/g, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(bytes, 'latin1')
}

/** The fields of a message, decoded when they are asked for: an odd byte in a buyer's name must not lose a payment. */
export class Form {
  readonly #raw: RawForm
  readonly #decode: (bytes: Uint8Array) => string

  /** @throws Unreadable when it is no form, or names a charset that we do not know */
  constructor(body: Uint8Array) {
    const raw = splitForm(body)
    if (raw === null) throw new Unreadable('the body is not a form')
    this.#raw = raw
    this.#decode = decoderFor(raw.get('charset')?.[0]?.toString('latin1') || 'windows-1252')
  }

  /** Undefined when the message has no such field. @throws Unreadable when it stands twice or is not of the charset */
  get(name: string): string | undefined {
    const [value, ...more] = this.#raw.get(name) ?? []
    if (value === undefined) return undefined
    if (more.length > 0) throw new Unreadable(`${name} stands twice`)
    try {
      return this.#decode(value)
    } catch {
      throw new Unreadable(`${name} is not of the charset that the message names`)
    }
  }

  /** A text that can be an id, a code or a reference; undefined when it is missing, empty or no such text. */
  text(name: string): string | undefined {
    return cleanText(this.get(name))
  }
}

/** What windows-1252 has in place of the control characters 0x80 to 0x9f; a blank where it has none. */
const WINDOWS_1252 = '€ ‚ƒ„…†‡ˆ‰Š‹Œ Ž  ‘’“”•–—˜™š›œ žŸ'

function decoderFor(charset: string): (bytes: Uint8Array) => string {
  try {
    const decoder = new TextDecoder(charset.trim(), { fatal: true })
    return decoder.encoding === 'windows-1252' ? fromWindows1252 : (bytes) => decoder.decode(bytes)
  } catch {
    throw new Unreadable('the charset is not one that we know')
  }
}

/** By hand, since some versions of Node take it for latin1. @throws RangeError for a byte that it does not have */
function fromWindows1252(bytes: Uint8Array): string {
  return Buffer.from(bytes)
    .toString('latin1')
    .replace(/[\u0080-\u009f]/g, (control) => {
      const letter = WINDOWS_1252[control.charCodeAt(0) - 0x80] ?? ' '
      if (letter === ' ') throw new RangeError('no such byte')
      return letter
    })
}
