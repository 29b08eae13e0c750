import type { Endpoint } from '../providers/endpoint.ts'
import type { SettleItem } from '../settle/item.ts'
import { settleItem } from '../settle/item.ts'
import { Rounds } from '../settle/rounds.ts'
import type { SettleResult, Settler } from '../settle/settler.ts'
import type { Database } from '../store/database.ts'
import { closeOpenExceptions, openExceptions } from '../store/exception-alerts.ts'
import { loadOpenExceptions } from '../store/queries/close-exceptions.ts'
import { listOrdersToWake } from '../store/queries/list-orders-to-wake.ts'
import { loadEventVersions, loadStoredEvents, type StoredEvent } from '../store/queries/list-stored-events.ts'
import {
  type LeasedMark,
  leaseUnsettled,
  postponeUnsettled,
  putOffUnsettled,
} from '../store/queries/mark-unsettled.ts'
import { readAgain } from './read-again.ts'

export interface KeptSweeperOptions {
  /** How often to look for marks that are due, milliseconds. Default 1,000. */
  readonly poll_ms?: number
  /** Marks that are taken at once. Default 50. */
  readonly batch?: number
  /** So long after a crash is a mark taken again, milliseconds. Default 30,000. */
  readonly lease_ms?: number
  /** Pause after the first attempt that failed, milliseconds; it doubles with each. Default 2,000. */
  readonly pause_ms?: number
  /** Longest pause, milliseconds. Default 300,000. */
  readonly pause_max_ms?: number
  /** Failed attempts after which a person is told; it goes on trying. Default 8. */
  readonly alert_after?: number
  /** Hears what went wrong and was handled. Must not throw. */
  readonly onError?: (error: unknown) => void
}

/** How one round ended. */
export interface Swept {
  /** Marks that are gone. */
  readonly settled: number
  /** Marks that stand. */
  readonly kept: number
  /** Orders that were looked at because their time had come. */
  readonly woken: number
}

/**
 * Settles what was kept: events whose hook failed or whose lock was held, orders that wait to be looked at again. Takes
 * marks that are due, tries again, and puts off what still fails. Wakes orders whose expiry has passed.
 */
export class KeptSweeper {
  readonly #database: Database
  readonly #settler: Settler
  readonly #endpoints: ReadonlyMap<string, Endpoint>
  readonly #buckets: number
  readonly #now_ms: () => number
  readonly #options: Required<KeptSweeperOptions>
  readonly #rounds: Rounds<Swept>

  /** @param now_ms the clock, Unix milliseconds */
  constructor(
    settler: Settler,
    endpoints: ReadonlyMap<string, Endpoint>,
    buckets: number,
    now_ms: () => number,
    options: KeptSweeperOptions = {},
  ) {
    this.#database = settler.context.database
    this.#settler = settler
    this.#endpoints = endpoints
    this.#buckets = buckets
    this.#now_ms = now_ms
    this.#options = {
      poll_ms: options.poll_ms ?? 1_000,
      batch: options.batch ?? 50,
      lease_ms: options.lease_ms ?? 30_000,
      pause_ms: options.pause_ms ?? 2_000,
      pause_max_ms: options.pause_max_ms ?? 300_000,
      alert_after: options.alert_after ?? 8,
      onError: options.onError ?? (() => undefined),
    }
    this.#rounds = new Rounds(() => this.#sweep(), this.#options.poll_ms, this.#options.onError)
  }

  /** Looks for marks again and again until `stop`. */
  start(): void {
    this.#rounds.start()
  }

  /** Starts no further round and waits for the one that runs. */
  stop(): Promise<void> {
    return this.#rounds.stop()
  }

  /** Tries everything that is due now, once. */
  runOnce(): Promise<Swept> {
    return this.#rounds.runOnce()
  }

  async #sweep(): Promise<Swept> {
    const total = { settled: 0, kept: 0, woken: 0 }
    for (let bucket = 0; bucket < this.#buckets; bucket += 1) {
      for (;;) {
        const now = this.#now_ms()
        const marks = await leaseUnsettled(this.#database, bucket, {
          now: new Date(now),
          lease_until: new Date(now + this.#options.lease_ms),
          limit: this.#options.batch,
        })
        for (const settled of await this.#tryAll(bucket, marks)) total[settled ? 'settled' : 'kept'] += 1
        if (marks.length < this.#options.batch || this.#rounds.stopped) break
      }
      total.woken += await this.#wake(bucket)
    }
    return total
  }

  /** Each at most once per round: whether its time has come is decided by the database's clock. */
  async #wake(bucket: number): Promise<number> {
    const now = new Date(this.#now_ms())
    const orders = await listOrdersToWake(this.#database, bucket, now, this.#options.batch)
    const failed: string[] = []
    for (const { tenant, reference } of orders) {
      const touches = [{ kind: 'order', reference } as const]
      const failure = await this.#settle(bucket, [settleItem({ tenant, touches, rederive: true })]).catch(
        messageOf,
      )
      if (failure !== null) failed.push(failure)
    }
    if (failed.length > 0) this.#options.onError(new Error(failed[0]))
    return orders.length - failed.length
  }

  async #tryAll(bucket: number, marks: readonly LeasedMark[]): Promise<boolean[]> {
    const ids = marks.map((mark) => mark.event_id).filter((id) => id !== 0n)
    const events = ids.length > 0 ? await loadStoredEvents(this.#database, bucket, ids) : []
    const byId = new Map(events.map((event) => [event.id, event]))
    const ended: boolean[] = []
    // One after another: what one mark waits for, the next may wait for too.
    for (const mark of marks) ended.push(await this.#try(bucket, mark, byId.get(mark.event_id)))
    return ended
  }

  async #try(bucket: number, mark: LeasedMark, event: StoredEvent | undefined): Promise<boolean> {
    const reading = await this.#itemsOf(bucket, mark, event)
    const failure =
      typeof reading === 'string' ? reading : await this.#settle(bucket, reading).catch(messageOf)
    if (failure === null) {
      if (mark.attempts > this.#options.alert_after) await this.#close(bucket, mark, event)
      return true
    }
    await this.#putOff(bucket, mark, event, failure)
    return false
  }

  /** What is settled for a mark; a text says why nothing can be. */
  async #itemsOf(
    bucket: number,
    mark: LeasedMark,
    event: StoredEvent | undefined,
  ): Promise<readonly SettleItem[] | string> {
    const marks = [{ id: mark.id, times: mark.times }]
    if (mark.event_id === 0n) {
      const order = { kind: 'order', reference: mark.order_ref } as const
      return [settleItem({ tenant: mark.tenant, touches: [order], rederive: true, marks })]
    }
    if (!event) return 'the event is gone'
    const versions = await loadEventVersions(this.#database, bucket, [event.id])
    const reading = readAgain(this.#endpoints.get(event.endpoint), event, versions)
    if ('not_read' in reading) return reading.reason
    return reading.items.map((item, place) => (place === 0 ? { ...item, marks } : item))
  }

  /** Null when all is settled; else why not, or an empty text where the mark itself says it. */
  async #settle(bucket: number, items: readonly SettleItem[]): Promise<string | null> {
    const results = await Promise.all(
      items.map(
        (item) =>
          new Promise<SettleResult>((resolve, reject) => {
            this.#settler.settleBatch(bucket, [item], (_place, result) => resolve(result)).catch(reject)
          }),
      ),
    )
    for (const result of results) {
      if ('fault' in result) return messageOf(result.fault.cause ?? result.fault)
      if (result.outcome === 'kept') return ''
    }
    return null
  }

  async #putOff(
    bucket: number,
    mark: LeasedMark,
    event: StoredEvent | undefined,
    failure: string,
  ): Promise<void> {
    const { pause_ms, pause_max_ms, alert_after } = this.#options
    const pause = Math.min(pause_ms * 2 ** Math.min(mark.attempts - 1, 30), pause_max_ms)
    const due = new Date(this.#now_ms() + pause)
    let reason = failure
    if (failure === '') reason = (await putOffUnsettled(this.#database, bucket, mark.id, due)) ?? ''
    else await postponeUnsettled(this.#database, bucket, mark.id, due, failure)
    if (mark.attempts >= alert_after) await this.#raise(bucket, mark, event, reason)
  }

  async #raise(
    bucket: number,
    mark: LeasedMark,
    event: StoredEvent | undefined,
    reason: string,
  ): Promise<void> {
    const what = event ? `Event ${event.event_key}` : `Order ${mark.order_ref}`
    await this.#write((tx, now) =>
      openExceptions(tx, bucket, now, [
        {
          ...subjectOf(mark, event),
          subject_id: 0n,
          kind: 'settling_failed',
          cause: '-',
          origin: 'settle',
          severity: 'urgent',
          message: `${what} could not be settled in ${mark.attempts} attempts (${reason}). Nothing is lost and it is tried again and again: mend the cause, which is mostly your own onEntitlement or a lock held by your own code.`,
          alert_at: now,
        },
      ]),
    )
  }

  async #close(bucket: number, mark: LeasedMark, event: StoredEvent | undefined): Promise<void> {
    await this.#write(async (tx, now) => {
      const open = await loadOpenExceptions(tx, bucket, 'settle', [subjectOf(mark, event)])
      await closeOpenExceptions(tx, bucket, now, open)
    })
  }

  async #write(
    work: (tx: Awaited<ReturnType<Database['begin']>>, now: Date) => Promise<void>,
  ): Promise<void> {
    const transaction = await this.#database.begin()
    try {
      await work(transaction, new Date(this.#now_ms()))
      await transaction.commit()
    } finally {
      await transaction.rollback()
    }
  }
}

function subjectOf(mark: LeasedMark, event: StoredEvent | undefined) {
  return event
    ? {
        tenant: mark.tenant,
        subject_kind: 'event' as const,
        subject_key: `${event.provider}/${event.account}/${event.event_key}`,
      }
    : {
        tenant: mark.tenant,
        subject_kind: 'order' as const,
        subject_key: mark.order_ref || `event ${mark.event_id}`,
      }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message.slice(0, 500) : 'unknown error'
}
