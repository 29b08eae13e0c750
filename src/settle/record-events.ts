import type { Transaction } from '../store/database.ts'
import { findEvents } from '../store/queries/find-events.ts'
import { insertEventCopies } from '../store/queries/insert-event-copies.ts'
import { insertEventVersion } from '../store/queries/insert-event-version.ts'
import { type EventRow, eventLock, insertEvents } from '../store/queries/insert-events.ts'
import type { WitnessSource } from '../store/queries/insert-facts.ts'
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
  bucket: number,
  items: readonly SettleItem[],
): Promise<Recorded[]> {
  const first = new Map<string, SettleItem>()
  for (const item of items) {
    if (!item.event) continue
    const lock = eventLock(item.event)
    if (!first.has(lock)) first.set(lock, item)
  }
  const offered = [...first].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, item]) => item.event!)
  const inserted = offered.length > 0 ? await insertEvents(tx, bucket, offered) : new Map<string, bigint>()

  const repeats = items.filter(
    ({ event }) => event && !(inserted.has(eventLock(event)) && first.get(eventLock(event))!.event === event),
  )
  const known = repeats.length > 0 ? await findEvents(tx, bucket, unique(repeats)) : new Map()
  const copies = new Map<bigint, Copy>()
  const recorded: Recorded[] = []
  for (const item of items) {
    if (!item.event) {
      recorded.push({ item, source: item.source, content_changed: false })
      continue
    }
    const lock = eventLock(item.event)
    const id = inserted.get(lock)
    if (id !== undefined && first.get(lock) === item) {
      recorded.push({ item, source: { kind: 'event', id, version: 1 }, content_changed: false })
      continue
    }
    recorded.push(await recordRepeat(tx, bucket, item, item.event, known.get(lock)!, copies))
  }
  if (copies.size > 0)
    await insertEventCopies(
      tx,
      bucket,
      [...copies.values()].sort((a, b) => (a.event_id < b.event_id ? -1 : 1)),
    )
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

function unique(items: readonly SettleItem[]): EventRow[] {
  return [...new Map(items.map((item) => [eventLock(item.event!), item.event!])).values()]
}
