import { Fault } from '../../facts/fault.ts'

/** How a sender signs, as data. */
export interface HmacScheme {
  /** Header that carries the signature, in any letter case. */
  readonly header: string
  readonly algorithm: 'sha1' | 'sha256' | 'sha384' | 'sha512'
  readonly encoding: 'hex' | 'base64'
  /** What stands before the signature in its header, for example `sha256=`. Default nothing. */
  readonly prefix?: string | undefined
  /** What is signed: a text with `{body}` once and, where signed, `{time}` and `{id}`. Default `{body}`. */
  readonly signed?: string | undefined
  /** The header of the signed time. `{time}` must be in `signed`: an unsigned time is worth nothing. */
  readonly time?:
    | { readonly header: string; readonly unit: 's' | 'ms'; readonly tolerance_s: number }
    | undefined
  /** The header of the event id. `{id}` must be in `signed`; an id from the body is said by `translate`. */
  readonly id?: { readonly header: string } | undefined
}

export const DIGEST_BYTES = { sha1: 20, sha256: 32, sha384: 48, sha512: 64 } as const

/** The parts of the signed text, in order. */
export type SignedPart = 'body' | 'time' | 'id' | { readonly text: string }

/**
 * Reads the template of what is signed.
 * @throws Fault `config_invalid` when it lacks the body, or does not agree with `time` and `id`
 */
export function signedParts(provider: string, scheme: HmacScheme): readonly SignedPart[] {
  const template = scheme.signed ?? '{body}'
  const parts = template.split(/(\{[a-z]*\})/).filter((piece) => piece !== '')
  const read = parts.map((piece): SignedPart => {
    if (piece === '{body}') return 'body'
    if (piece === '{time}') return 'time'
    if (piece === '{id}') return 'id'
    if (piece.startsWith('{')) throw wrong(provider, `signed has the unknown part ${piece}`)
    return { text: piece }
  })
  checkPart(provider, read, 'body', true)
  checkPart(provider, read, 'time', scheme.time !== undefined)
  checkPart(provider, read, 'id', scheme.id !== undefined)
  return read
}

function checkPart(provider: string, parts: readonly SignedPart[], name: SignedPart, due: boolean): void {
  const count = parts.filter((part) => part === name).length
  if (count === (due ? 1 : 0)) return
  throw due
    ? wrong(provider, `signed must contain {${name}} once; what is not signed cannot be trusted`)
    : wrong(provider, `signed contains {${name}}, but its header is not named`)
}

function wrong(provider: string, problem: string): Fault {
  return new Fault(
    'config_invalid',
    `${provider}: ${problem}. Correct the scheme by the sender's documentation.`,
  )
}
