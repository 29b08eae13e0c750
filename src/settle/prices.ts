import { priceItems } from '../facts/price-items.ts'
import { followsPrice, itemsOfPrice } from '../rules/priced-items.ts'
import { asFact, loadFacts } from '../store/queries/load-facts.ts'
import { type OrderDraft, readBook, type Siblings, subscriptionsOf } from './orders.ts'
import { bySubject } from './payments.ts'
import { type Intake, Statements, takeIn } from './statement.ts'
import type { Work } from './work.ts'

/**
 * Pins what the catalogue says of prices that these orders' subscriptions have and their books do not know. An order's own
 * facts are read for that, under its lock: a settle that was kept may have pinned one without writing the book.
 */
export async function adoptPrices(
  work: Work,
  drafts: readonly OrderDraft[],
  siblings: Siblings,
  intake: Intake,
): Promise<void> {
  const asking = drafts.filter((draft) => pricesToAdopt(work, draft, siblings).length > 0)
  const unread = asking.filter((draft) => draft.facts.length === 0).map((draft) => draft.row.id)
  const stored = bySubject(unread.length > 0 ? await loadFacts(work.tx, work.bucket, unread) : [])
  for (const draft of asking) {
    const subject = { kind: 'order', reference: draft.key.reference } as const
    const read = stored.get(draft.row.id) ?? []
    draft.facts = [...draft.facts, ...read.map((fact) => asFact(subject, fact))]
    readBook(draft)
    const found = new Statements()
    for (const price of pricesToAdopt(work, draft, siblings)) {
      const source = { kind: 'merchant', id: 0n, version: 1 } as const
      found.add(priceItems(subject, { price, items: work.catalogue.get(price)! }), source)
    }
    if (found.size === 0) continue
    draft.facts = [...draft.facts, ...takeIn(intake, draft.row.id, found, [])]
    readBook(draft)
  }
}

function pricesToAdopt({ catalogue }: Work, draft: OrderDraft, siblings: Siblings): string[] {
  if (!followsPrice(draft.book)) return []
  const named = new Set(subscriptionsOf(draft, siblings).flatMap(({ price }) => price ?? []))
  return [...named].filter((price) => catalogue.has(price) && itemsOfPrice(draft.book, price) === undefined)
}
