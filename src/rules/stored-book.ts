import type { OrderBook } from './order-state.ts'
import { storedPolicy } from './policy.ts'

/** Reads an order's book as a JSON column gives it: amounts as decimal text, options that came later left out. */
export function readStoredBook(stored: object): OrderBook {
  const book = stored as OrderBook
  const terms = book.terms && { ...withAmount(book.terms), policy: storedPolicy(book.terms.policy) }
  return { ...book, decisions: book.decisions.map(withAmount), terms }
}

function withAmount<Part extends { readonly amount_minor?: bigint | undefined }>(part: Part): Part {
  return part.amount_minor === undefined ? part : { ...part, amount_minor: BigInt(part.amount_minor) }
}
