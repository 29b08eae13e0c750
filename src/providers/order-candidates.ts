import { cleanText } from './field.ts'

/** What a message says about our order. */
export interface NamedOrder {
  /** Our reference, or undefined. */
  readonly order: string | undefined
  /** True when there is a reference, and every one found is another system's. */
  readonly foreign: boolean
}

/**
 * The first of several values that is a reference of ours. A whole number counts as its digits, since metadata may
 * hold it as one.
 * @param pattern what our references look like; undefined: everything is ours
 */
export function namedOrder(pattern: RegExp | undefined, candidates: readonly unknown[]): NamedOrder {
  const references = candidates.flatMap((value) => {
    const text = cleanText(typeof value === 'number' && Number.isSafeInteger(value) ? `${value}` : value)
    return text ?? []
  })
  const order = references.find((reference) => isOurs(pattern, reference))
  return { order, foreign: order === undefined && references.length > 0 }
}

function isOurs(pattern: RegExp | undefined, reference: string): boolean {
  // A new object each time: a global or sticky pattern remembers where it stopped.
  return (
    pattern === undefined || new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, '')).test(reference)
  )
}
