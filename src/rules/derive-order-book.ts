import type { Fact } from '../facts/fact.ts'
import type { OrderClosed, OrderItem } from '../facts/order.ts'
import { compareInstants, compareText } from './instant.ts'
import type { OrderBook } from './order-state.ts'
import { readPolicy } from './policy.ts'
import { standingDecisions } from './standing-decisions.ts'
import { ofKind, type StatementOf, unite } from './unite.ts'

/** What the facts about the order itself say; facts of other subjects are ignored. */
export function deriveOrderBook(facts: readonly Fact[]): OrderBook {
  const about_orders = facts.filter((fact) => fact.subject.kind === 'order').map(withSortedItems)
  // Closing twice is no contradiction, so those facts are not united: the first closing counts.
  const closings = about_orders.flatMap((fact) => (fact.kind === 'order_closed' ? [fact.content] : []))
  const { statements, conflicts } = unite(about_orders.filter((fact) => fact.kind !== 'order_closed'))
  const [terms] = ofKind(statements, 'order_terms')
  return {
    terms:
      terms === undefined || conflicts.some((conflict) => conflict.cause === terms.key) ? null : read(terms),
    closed: firstClosing(closings),
    decisions: standingDecisions(ofKind(statements, 'decision').map((statement) => statement.content)),
    ...pricesOf(ofKind(statements, 'price_items')),
    conflicted: conflicts.length > 0,
  }
}

function read({ content }: StatementOf<'order_terms'>): OrderBook['terms'] {
  return {
    amount_minor: content.amount_minor,
    currency: content.currency,
    items: content.items,
    expires_at: content.expires_at ?? null,
    account: content.account ?? null,
    ...(content.recurring === undefined ? {} : { recurring: content.recurring }),
    ...(content.holder === undefined ? {} : { holder: content.holder }),
    policy: readPolicy({ ...content.pinned, ...content.policy }),
  }
}

function pricesOf(pinned: readonly StatementOf<'price_items'>[]): Pick<OrderBook, 'prices'> {
  if (pinned.length === 0) return {}
  return { prices: Object.fromEntries(pinned.map(({ content }) => [content.price, content.items])) }
}

/** The same items in another order, or one item on two lines, are the same terms. */
function withSortedItems(fact: Fact): Fact {
  if (fact.kind !== 'order_terms') return fact
  const lines = new Map<string, OrderItem>()
  for (const line of fact.content.items) {
    const quantity = (lines.get(line.item)?.quantity ?? 0) + line.quantity
    lines.set(line.item, { ...line, quantity })
  }
  const items = [...lines.values()].sort((a, b) => compareText(a.item, b.item))
  return { ...fact, content: { ...fact.content, items } }
}

function firstClosing(closings: readonly OrderClosed[]): OrderBook['closed'] {
  const [first] = [...closings].sort(
    (a, b) => compareInstants(a.at, b.at) || compareText(a.how, b.how) || compareText(a.by, b.by),
  )
  if (first === undefined) return null
  const by_person = closings.some(({ by }) => by === 'person')
  return { how: first.how, by: first.by, at: first.at, ...(by_person ? { by_person } : {}) }
}
