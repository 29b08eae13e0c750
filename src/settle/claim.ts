import type { Transaction } from '../store/database.ts'
import type { OrderKey } from '../store/queries/order-row.ts'
import { readClock } from '../store/queries/read-clock.ts'
import type { Ids } from '../store/queries/take-ids.ts'
import { allOf } from './all-of.ts'
import { type Gathered, gather } from './gather.ts'
import type { SettleItem } from './item.ts'
import { type ClaimedOrders, claimOrders } from './orders.ts'
import { type ClaimedPayments, claimPayments } from './payments.ts'
import {
  assumeNew,
  insertOffered,
  offerEvents,
  type Recorded,
  recordEvents,
  tellAll,
} from './record-events.ts'

/** Everything that a batch names, claimed: events inserted or found, payments inserted or locked, orders locked. */
export interface Claim {
  /** The database's clock when the transaction began. */
  readonly as_of: Date
  readonly recorded: readonly Recorded[]
  readonly drafts: Gathered
  readonly payments: ClaimedPayments
  readonly orders: ClaimedOrders
}

/**
 * The first round trip. All statements are sent at once, in the order of the locks: events, payments inserted, payments
 * locked, orders locked; each is a statement of its own. That an event is new is assumed when they are sent; when some
 * turn out to be known, the batch is sorted by subject again without them.
 */
export async function claim(
  tx: Transaction,
  ids: Ids,
  bucket: number,
  items: readonly SettleItem[],
  depth: 'full' | 'payments' | 'event',
): Promise<Claim> {
  const offered = await offerEvents(tx, ids.events, items)
  const assumed = assumeNew(items, offered)
  const told = tellAll(assumed, offered)
  const first = gather(depth === 'event' ? [] : told)
  const payment_ids = await ids.subjects.take(tx, first.payments.size)
  const [as_of, inserted, payments, orders] = await allOf([
    readClock(tx),
    insertOffered(tx, bucket, offered),
    first.payments.size > 0 ? claimPayments(tx, bucket, payment_ids, first.payments) : NO_PAYMENTS,
    depth === 'full' && !concernsSubscriptions(first)
      ? claimOrders(tx, bucket, ordersNamed(first))
      : NO_ORDERS,
  ])
  const recorded = await recordEvents(tx, bucket, assumed, offered, inserted)
  const asAssumed = recorded.every((entry, place) => entry.source === told[place]!.source)
  const drafts = asAssumed || depth === 'event' ? first : gather(recorded)
  return { as_of, recorded, drafts, payments, orders }
}

const NO_PAYMENTS: ClaimedPayments = { offered: new Map(), inserted: new Set(), standing: [] }
const NO_ORDERS: ClaimedOrders = new Map()

/** Subscriptions are locked before orders, and which ones is known only once the payments are derived. */
function concernsSubscriptions({ subscriptions, payments }: Gathered): boolean {
  if (subscriptions.size > 0) return true
  for (const { statements } of payments.values()) {
    for (const { content } of statements.facts())
      if ('subscription' in content && content.subscription !== undefined) return true
  }
  return false
}

/** The orders that items speak of, or that facts of their payments name. */
function ordersNamed({ payments, orders }: Gathered): OrderKey[] {
  const named: OrderKey[] = [...orders.values()].map((draft) => draft.key)
  for (const { key, statements } of payments.values()) {
    for (const { content } of statements.facts()) {
      if ('order' in content && content.order !== undefined)
        named.push({ tenant: key.tenant, reference: content.order })
    }
  }
  return named
}
