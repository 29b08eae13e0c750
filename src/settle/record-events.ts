import type { Transaction } from '../store/database.ts'
import { findEvents } from '../store/queries/find-events.ts'
import { insertEventCopies } from '../store/queries/insert-event-copies.ts'
import { insertEventVersion } from '../store/queries/insert-event-version.ts'
import { type EventRow, eventLock, insertEvents } from '../store/queries/insert-events.ts'
import type { WitnessSource } from '../store/queries/insert-facts.ts'
import type { IdBlocks } from '../store/queries/take-ids.ts'
import type { SettleItem } from './item.ts'

/** What the event lock says about one item. */
export interface Recorded {
  readonly item: SettleItem
  /** The witness of the item's facts; null for a duplicate, whose facts are known. */
  readonly source: WitnessSource | null
  /** True when the event is known but came with another content: its facts join, and a person hears of it. */
  readonly content_changed: boolean
}

interface Copy {
  event_id: bigint
  received_at: Date
  copies: number
}

/**
 * The first step: takes the event locks in key order. New events are inserted, repeats are counted, another content of
 * a known event is stored as its next version.
 */
export async function recordEvents(
  tx: Transaction,
  ids: IdBlocks,
  bucket: number,
  items: readonly SettleItem[],
): Promise<Recorded[]> {
  const offered = new Map<string, Offered>()
  const locks = items.map(({ event }) => (event ? eventLock(event) : ''))
  for (const [place, { event }] of items.entries()) {
    if (event && !offered.has(locks[place]!)) offered.set(locks[place]!, { place, event, id: 0n })
  }
  const inserted = await insertOffered(tx, ids, bucket, offered)
  const isFresh = (place: number) => {
    const offer = offered.get(locks[place]!)
    return offer?.place === place && inserted.has(offer.id)
  }
  const repeats = new Map<string, EventRow>()
  for (const [place, { event }] of items.entries())
    if (event && !isFresh(place)) repeats.set(locks[place]!, event)
  const known = repeats.size > 0 ? await findEvents(tx, bucket, [...repeats.values()]) : new Map()
  const copies = new Map<bigint, Copy>()
  const recorded: Recorded[] = []
  for (const [place, item] of items.entries()) {
    if (!item.event) recorded.push({ item, source: item.source, content_changed: false })
    else if (isFresh(place)) {
      const { id } = offered.get(locks[place]!)!
      recorded.push({ item, source: { kind: 'event', id, version: 1 }, content_changed: false })
    } else recorded.push(await recordRepeat(tx, bucket, item, item.event, known.get(locks[place]!)!, copies))
  }
  if (copies.size > 0) {
    const inOrder = [...copies.values()].sort((a, b) => (a.event_id < b.event_id ? -1 : 1))
    await insertEventCopies(tx, bucket, inOrder)
  }
  return recorded
}

/** The first item of the batch that brings this event. */
interface Offered {
  readonly place: number
  readonly event: EventRow
  id: bigint
}

/** Offers each event once, in key order, under an id of its own; gives the ids of those that were new. */
async function insertOffered(
  tx: Transaction,
  ids: IdBlocks,
  bucket: number,
  offered: Map<string, Offered>,
): Promise<ReadonlySet<bigint>> {
  if (offered.size === 0) return new Set()
  const inOrder = [...offered].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, offer]) => offer)
  const taken = await ids.take(tx, inOrder.length)
  for (const [index, offer] of inOrder.entries()) offer.id = taken[index]!
  return insertEvents(
    tx,
    bucket,
    inOrder.map(({ id, event }) => ({ id, event })),
  )
}

async function recordRepeat(
  tx: Transaction,
  bucket: number,
  item: SettleItem,
  event: EventRow,
  known: { id: bigint; digest: Buffer },
  copies: Map<bigint, Copy>,
): Promise<Recorded> {
  if (!known.digest.equals(event.digest)) {
    const { version, fresh } = await insertEventVersion(tx, bucket, { ...event, event_id: known.id })
    if (fresh) return { item, source: { kind: 'event', id: known.id, version }, content_changed: true }
  }
  const copy = copies.get(known.id)
  if (copy) copy.copies += 1
  else copies.set(known.id, { event_id: known.id, received_at: event.received_at, copies: 1 })
  return { item, source: null, content_changed: false }
}
