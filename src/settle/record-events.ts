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

/** The events of a batch, each once, under the id that it will have if it is new. */
export interface OfferedEvents {
  /** Event lock of each item by its place; empty for an item without an event. */
  readonly locks: readonly string[]
  /** By lock: the first item that brings the event. */
  readonly first: ReadonlyMap<
    string,
    { readonly place: number; readonly id: bigint; readonly event: EventRow }
  >
}

export async function offerEvents(
  tx: Transaction,
  ids: IdBlocks,
  items: readonly SettleItem[],
): Promise<OfferedEvents> {
  const locks = items.map(({ event }) => (event ? eventLock(event) : ''))
  const places = new Map<string, number>()
  for (const [place, lock] of locks.entries()) if (lock !== '' && !places.has(lock)) places.set(lock, place)
  const taken = places.size > 0 ? await ids.take(tx, places.size) : []
  const first = [...places].map(
    ([lock, place], index) => [lock, { place, id: taken[index]!, event: items[place]!.event! }] as const,
  )
  return { locks, first: new Map(first) }
}

/** Takes the event locks in key order; gives the ids of the events that were new. */
export function insertOffered(
  tx: Transaction,
  bucket: number,
  offered: OfferedEvents,
): Promise<ReadonlySet<bigint>> {
  if (offered.first.size === 0) return Promise.resolve(new Set())
  const inOrder = [...offered.first].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, offer]) => offer)
  return insertEvents(tx, bucket, inOrder)
}

/** The batch as it is when every event is new; most often it is. */
export function assumeNew(items: readonly SettleItem[], offered: OfferedEvents): Recorded[] {
  return items.map((item, place) => {
    if (!item.event) return { item, source: item.source, content_changed: false }
    const offer = offered.first.get(offered.locks[place]!)!
    const source = offer.place === place ? ({ kind: 'event', id: offer.id, version: 1 } as const) : null
    return { item, source, content_changed: false }
  })
}

/**
 * The batch with everything that it may come to tell: another content of one of its events can speak of payments that
 * the first one does not name, and these must be claimed too.
 */
export function tellAll(assumed: readonly Recorded[], { locks, first }: OfferedEvents): readonly Recorded[] {
  return assumed.map((entry, place) => {
    const { event } = entry.item
    if (!event || entry.source) return entry
    const offer = first.get(locks[place]!)!
    if (offer.event.digest.equals(event.digest)) return entry
    return { ...entry, source: { kind: 'event', id: offer.id, version: 2 } as const }
  })
}

/**
 * What the event locks say: new events stay as assumed, repeats are counted, another content of a known event is stored
 * as its next version.
 */
export async function recordEvents(
  tx: Transaction,
  bucket: number,
  assumed: readonly Recorded[],
  { locks, first }: OfferedEvents,
  inserted: ReadonlySet<bigint>,
): Promise<Recorded[]> {
  const isRepeat = ({ item, source }: Recorded) => item.event !== null && !(source && inserted.has(source.id))
  const repeats = new Set(assumed.flatMap((entry, place) => (isRepeat(entry) ? [locks[place]!] : [])))
  const known =
    repeats.size > 0
      ? await findEvents(
          tx,
          bucket,
          [...repeats].map((lock) => first.get(lock)!.event),
        )
      : new Map()
  const copies = new Map<bigint, Copy>()
  const recorded: Recorded[] = []
  for (const [place, entry] of assumed.entries()) {
    const { item } = entry
    if (!item.event || !isRepeat(entry)) recorded.push(entry)
    else recorded.push(await recordRepeat(tx, bucket, item, item.event, known.get(locks[place]!)!, copies))
  }
  if (copies.size > 0) {
    const inOrder = [...copies.values()].sort((a, b) => (a.event_id < b.event_id ? -1 : 1))
    await insertEventCopies(tx, bucket, inOrder)
  }
  return recorded
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
