import { Fault } from '../facts/fault.ts'
import type { Endpoint } from '../providers/endpoint.ts'
import type { SettleItem } from '../settle/item.ts'
import { OrderHookTimeout } from '../settle/order-hooks.ts'
import { type Change, changesOf } from '../settle/rehearsal.ts'
import { SETTLE_DEFAULTS, type SettleContext, settle } from '../settle/settle.ts'
import { errorCode } from '../store/driver-fault.ts'
import { closeOpenExceptions } from '../store/exception-alerts.ts'
import { findEventSubjects } from '../store/queries/find-event-subjects.ts'
import { findMendedExceptions, lockMendable } from '../store/queries/find-mended-exceptions.ts'
import type { EventState } from '../store/queries/insert-events.ts'
import {
  countSelectedEvents,
  type EventSelection,
  listStoredEvents,
  loadEventVersions,
  type StoredEvent,
} from '../store/queries/list-stored-events.ts'
import { findEventMarks } from '../store/queries/mark-unsettled.ts'
import { readClock } from '../store/queries/read-clock.ts'
import { readSnapshot } from '../store/snapshot.ts'
import { readAgain } from './read-again.ts'

export interface ReplayOptions {
  /** Which events; all when nothing narrows it. */
  readonly selection?: EventSelection
  /** Show what would change and write nothing. Each event is rehearsed by itself, as if the others stayed as they are. */
  readonly dry_run?: boolean
  /** Events per transaction. Default 50. */
  readonly batch?: number
  /** Most changes, refusals and refilings that are listed; all are counted. Default 1,000. */
  readonly listed_max?: number
  /** Hears how many events of how many are through. */
  readonly onProgress?: (done: number, total: number) => void
}

export interface ReplayReport {
  readonly dry_run: boolean
  /** Events that were read again and settled, or would be. */
  readonly replayed: number
  /** Of these, the ones whose order could not be settled now; they are marked and come later. */
  readonly kept: number
  /** Events whose bytes retention has emptied. */
  readonly emptied: number
  /** Events that could not be read, each with the reason. Nothing about them was changed. */
  readonly refused: number
  readonly refusals: readonly { readonly event: string; readonly reason: string }[]
  /** Events that are filed otherwise than before. */
  readonly refiled: readonly {
    readonly event: string
    readonly before: EventState
    readonly after: EventState
  }[]
  /** What a dry run would change. */
  readonly changes: readonly Change[]
}

interface Read {
  readonly event: StoredEvent
  readonly items: readonly SettleItem[]
}

/**
 * Lets the present adapters read stored events again, each in place of what it told before: its testimony is taken back
 * and given anew in the transaction that derives its old and new payments and orders. Safe at any time and idempotent.
 * Throws Fault `replay_refused` when `key` names no event, `database_unavailable`.
 */
export async function replay(
  context: SettleContext,
  buckets: number,
  endpoints: ReadonlyMap<string, Endpoint>,
  options: ReplayOptions = {},
): Promise<ReplayReport> {
  const run = new Replay(context, endpoints, options)
  const sizes = []
  for (let bucket = 0; bucket < buckets; bucket += 1) {
    const { selection = {} } = options
    sizes.push(await readSnapshot(context.database, (db) => countSelectedEvents(db, bucket, selection)))
  }
  const total = sizes.reduce((sum, size) => sum + size.count, 0)
  if (total === 0 && options.selection?.key !== undefined) {
    throw new Fault(
      'replay_refused',
      `No stored event has the key ${options.selection.key}. List what there is with \`paidonce events list\`.`,
    )
  }
  for (const [bucket, { last }] of sizes.entries()) await run.bucket(bucket, last, total)
  return run.report()
}

class Replay {
  readonly #context: SettleContext
  readonly #endpoints: ReadonlyMap<string, Endpoint>
  readonly #options: ReplayOptions
  readonly #listed_max: number
  readonly #refusals: { event: string; reason: string }[] = []
  readonly #refiled: { event: string; before: EventState; after: EventState }[] = []
  readonly #changes: Change[] = []
  #replayed = 0
  #kept = 0
  #emptied = 0
  #refused = 0
  #done = 0

  constructor(context: SettleContext, endpoints: ReadonlyMap<string, Endpoint>, options: ReplayOptions) {
    // A rehearsal calls no hook: whatever it wrote would be rolled back, and it might do more than write.
    this.#context = options.dry_run ? { ...context, onEntitlement: null } : context
    this.#endpoints = endpoints
    this.#options = options
    this.#listed_max = options.listed_max ?? 1_000
  }

  async bucket(bucket: number, last: bigint, total: number): Promise<void> {
    const { selection = {}, batch = 50, dry_run } = this.#options
    const { database } = this.#context
    for (let after = 0n; ; ) {
      const page = { after, last, limit: batch }
      const events = await listStoredEvents(database, bucket, selection, page)
      if (events.length === 0) break
      const read = await this.#read(bucket, events)
      if (dry_run) for (const one of read) await this.#rehearse(bucket, one)
      else await this.#settle(bucket, read)
      this.#done += events.length
      this.#options.onProgress?.(this.#done, Math.max(total, this.#done))
      after = events.at(-1)!.id
    }
    if (!dry_run) await closeMended(this.#context, bucket)
  }

  report(): ReplayReport {
    return {
      dry_run: this.#options.dry_run ?? false,
      replayed: this.#replayed,
      kept: this.#kept,
      emptied: this.#emptied,
      refused: this.#refused,
      refusals: this.#refusals,
      refiled: this.#refiled,
      changes: this.#changes,
    }
  }

  async #read(bucket: number, events: readonly StoredEvent[]): Promise<Read[]> {
    const { database } = this.#context
    const ids = events.map((event) => event.id)
    const [versions, subjects, marks] = await Promise.all([
      loadEventVersions(database, bucket, ids),
      findEventSubjects(database, bucket, ids),
      findEventMarks(database, bucket, ids),
    ])
    return events.flatMap((event) => {
      const own = versions.filter((version) => version.event_id === event.id)
      const reading = readAgain(this.#endpoints.get(event.endpoint), event, own)
      if ('not_read' in reading) {
        this.#skip(event, reading.not_read, reading.reason)
        return []
      }
      if (reading.filed.state !== event.state && this.#refiled.length < this.#listed_max) {
        this.#refiled.push({ event: event.event_key, before: event.state, after: reading.filed.state })
      }
      const touches = subjects.get(event.id)!
      const items = reading.items.map((item, place) => ({
        ...item,
        touches,
        replaces: true,
        refiles: place === 0 ? reading.filed : undefined,
        marks: place === 0 ? marks.filter((mark) => mark.event_id === event.id) : [],
      }))
      return [{ event, items }]
    })
  }

  #skip(event: StoredEvent, why: 'emptied' | 'refused', reason: string): void {
    if (why === 'emptied') this.#emptied += 1
    else this.#refuse(event, reason)
  }

  #refuse(event: StoredEvent, reason: string): void {
    this.#refused += 1
    if (this.#refusals.length < this.#listed_max) this.#refusals.push({ event: event.event_key, reason })
  }

  async #rehearse(bucket: number, { event, items }: Read): Promise<void> {
    const found: Change[] = []
    const rehearse = (drafts: Parameters<typeof changesOf>[0]) => found.push(...changesOf(drafts))
    try {
      await settleRepeating(this.#context, bucket, items, { rehearse })
      this.#replayed += 1
      this.#changes.push(...found.slice(0, this.#listed_max - this.#changes.length))
    } catch (error) {
      this.#refuse(event, reasonOf(error))
    }
  }

  /** All contents of an event go together, since its testimony is taken back once; so a batch is never split below it. */
  async #settle(bucket: number, read: readonly Read[]): Promise<void> {
    if (read.length === 0) return
    const items = read.flatMap((one) => one.items)
    try {
      const outcomes = await settleRepeating(this.#context, bucket, items, {})
      this.#replayed += read.length
      this.#kept += outcomes.filter((outcome) => outcome === 'kept').length
    } catch (error) {
      if (error instanceof Fault && error.code === 'database_unavailable') throw error
      if (read.length === 1) this.#refuse(read[0]!.event, reasonOf(error))
      else for (const one of read) await this.#settle(bucket, [one])
    }
  }
}

const REPEATS = 6

async function settleRepeating(
  context: SettleContext,
  bucket: number,
  items: readonly SettleItem[],
  options: Partial<typeof SETTLE_DEFAULTS>,
) {
  const keep = new Map<string, string>()
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await settle(context, bucket, items, {
        ...SETTLE_DEFAULTS,
        lock_timeout_ms: 5_000,
        keep,
        ...options,
      })
    } catch (error) {
      if (error instanceof OrderHookTimeout) for (const order of error.orders) keep.set(order, error.message)
      else if (attempt >= REPEATS || !['40P01', '40001'].includes(errorCode(error) ?? '')) throw error
    }
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message.slice(0, 500) : 'unknown error'
}

/**
 * Closes what was raised about an endpoint's messages and is true of none of them any more. The exceptions are locked
 * before the messages are looked at, so that one that arrives meanwhile opens its exception again.
 */
async function closeMended(context: SettleContext, bucket: number): Promise<void> {
  const transaction = await context.database.begin()
  try {
    if (context.database.driver === 'postgres') await transaction.script('set local statement_timeout = 0')
    await lockMendable(transaction, bucket)
    const mended = await findMendedExceptions(transaction, bucket)
    await closeOpenExceptions(transaction, bucket, await readClock(transaction), mended)
    await transaction.commit()
  } finally {
    await transaction.rollback()
  }
}
