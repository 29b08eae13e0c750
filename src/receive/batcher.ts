import { Fault } from '../facts/fault.ts'
import type { SettleItem } from '../settle/item.ts'
import type { SettleResult, Settler } from '../settle/settler.ts'

export interface BatcherOptions {
  /** Most items of one transaction. Default 256. */
  readonly batch_max?: number
  /** Most items that wait or are being settled; one more is answered 503. Default 10,000. */
  readonly queue_max?: number
  /** Most body bytes that wait or are being settled. Default 64 MiB. */
  readonly queue_bytes_max?: number
  /** Most batches in flight at once. Default 3, or 1 on the embedded database. */
  readonly concurrency?: number
  /** After this long without a commit the caller is told that it is not known yet, milliseconds. Default 8,000. */
  readonly answer_limit_ms?: number
}

interface Waiting {
  readonly item: SettleItem
  /** What it will lock, as far as the item tells. */
  readonly locks: readonly string[]
  readonly bytes: number
  readonly handed_in_ms: number
  readonly resolve: (result: SettleResult) => void
}

/** The rows that an item names, each as one string. */
function locksOf({ tenant, event, facts }: SettleItem): string[] {
  const locks = event ? [`event ${event.event_key}`] : []
  for (const { subject, content } of facts) {
    locks.push(`${tenant} ${subject.kind} ${subject.kind === 'order' ? subject.reference : subject.id}`)
    if ('order' in content && content.order !== undefined) locks.push(`${tenant} order ${content.order}`)
  }
  return locks
}

/**
 * Group commit: deliveries that arrive together are settled together. While batches are in flight the next one fills,
 * so work per delivery falls as load rises, and a lone delivery waits for nobody. An item that needs a row which a batch
 * in flight has locked waits here for its end, and not in the database, where its whole batch would wait with it. That is
 * a matter of speed alone: other processes know nothing of it, and the row locks decide.
 */
export class Batcher {
  readonly #settler: Settler
  readonly #options: Required<BatcherOptions>
  readonly #now_ms: () => number
  readonly #queues = new Map<number, Waiting[]>()
  /** In the order in which they were handed in, which is that of their time limits. */
  readonly #unanswered = new Set<Waiting>()
  readonly #watch: NodeJS.Timeout
  /** Rows that unended items need, with the number of these items. */
  readonly #locked = new Map<string, number>()
  #held = 0
  #held_bytes = 0
  #running = 0
  #scheduled = false
  #closed = false
  #idle: (() => void)[] = []

  /** @param now_ms the clock, Unix milliseconds */
  constructor(settler: Settler, now_ms: () => number, options: BatcherOptions = {}) {
    this.#settler = settler
    this.#now_ms = now_ms
    const embedded = settler.context.database.driver === 'pglite'
    this.#options = {
      batch_max: options.batch_max ?? 256,
      queue_max: options.queue_max ?? 10_000,
      queue_bytes_max: options.queue_bytes_max ?? 64 * 1024 * 1024,
      concurrency: options.concurrency ?? (embedded ? 1 : 3),
      answer_limit_ms: options.answer_limit_ms ?? 8_000,
    }
    // One timer for all; a timer per delivery was measurable.
    this.#watch = setInterval(() => this.#answerLate(), 250).unref()
  }

  /** Items that wait or are being settled. */
  get held(): number {
    return this.#held
  }

  /** Hands an item in. Never rejects: a full queue is a fault in the result. */
  submit(bucket: number, item: SettleItem): Promise<SettleResult> {
    const bytes = item.event?.body.byteLength ?? 0
    const fault = this.#unwilling(bytes)
    if (fault) return Promise.resolve({ fault })
    this.#held += 1
    this.#held_bytes += bytes
    return new Promise((resolve) => {
      const queue = this.#queues.get(bucket)
      const waiting = { item, locks: locksOf(item), bytes, handed_in_ms: this.#now_ms(), resolve }
      this.#unanswered.add(waiting)
      if (queue) queue.push(waiting)
      else this.#queues.set(bucket, [waiting])
      this.#schedule()
    })
  }

  /** Takes nothing more and resolves when everything held has ended. */
  close(): Promise<void> {
    this.#closed = true
    clearInterval(this.#watch)
    return this.#held === 0 ? Promise.resolve() : new Promise((resolve) => this.#idle.push(resolve))
  }

  /** The work goes on; should it commit, the next delivery is a duplicate. */
  #answerLate(): void {
    const oldest_ms = this.#now_ms() - this.#options.answer_limit_ms
    for (const waiting of this.#unanswered) {
      if (waiting.handed_in_ms > oldest_ms) return
      this.#unanswered.delete(waiting)
      const message =
        'The commit did not come in time. Deliver again; what was settled meanwhile is a duplicate then.'
      waiting.resolve({ fault: new Fault('settle_late', message, { retriable: true }) })
    }
  }

  #unwilling(bytes: number): Fault | null {
    if (this.#closed)
      return new Fault('shutting_down', 'The receiver is shutting down. Deliver again.', { retriable: true })
    const { queue_max, queue_bytes_max } = this.#options
    if (this.#held < queue_max && this.#held_bytes + bytes <= queue_bytes_max) return null
    return new Fault('queue_full', 'More deliveries wait than the queue may hold. Deliver again later.', {
      retriable: true,
    })
  }

  /** Not at once, so that everything that the same turn of the event loop brings in shares the batch. */
  #schedule(): void {
    if (this.#scheduled || this.#running >= this.#options.concurrency) return
    this.#scheduled = true
    setImmediate(() => {
      this.#scheduled = false
      this.#pump()
    })
  }

  #pump(): void {
    for (const [bucket, queue] of [...this.#queues]) {
      if (this.#running >= this.#options.concurrency) return
      const { batch, rest } = this.#pick(queue)
      if (batch.length === 0) continue
      // The bucket goes to the end of the line, so that no tenant waits behind another's burst.
      this.#queues.delete(bucket)
      if (rest.length > 0) this.#queues.set(bucket, rest)
      void this.#run(bucket, batch)
    }
  }

  /** The next items of a queue that need no row of a batch in flight. They may need one another's: one batch, one lock. */
  #pick(queue: readonly Waiting[]): { batch: Waiting[]; rest: Waiting[] } {
    const batch: Waiting[] = []
    const rest: Waiting[] = []
    for (const [place, waiting] of queue.entries()) {
      if (batch.length === this.#options.batch_max) return { batch, rest: rest.concat(queue.slice(place)) }
      const target = waiting.locks.some((lock) => this.#locked.has(lock)) ? rest : batch
      target.push(waiting)
    }
    return { batch, rest }
  }

  async #run(bucket: number, batch: readonly Waiting[]): Promise<void> {
    this.#running += 1
    for (const { locks } of batch) {
      for (const lock of locks) this.#locked.set(lock, (this.#locked.get(lock) ?? 0) + 1)
    }
    await this.#settler.settleBatch(
      bucket,
      batch.map((waiting) => waiting.item),
      (place, result) => this.#end(batch[place]!, result),
    )
    this.#running -= 1
    this.#schedule()
  }

  #end(waiting: Waiting, result: SettleResult): void {
    this.#held -= 1
    this.#held_bytes -= waiting.bytes
    this.#unanswered.delete(waiting)
    for (const lock of waiting.locks) this.#release(lock)
    waiting.resolve(result)
    this.#schedule()
    if (this.#held === 0) for (const resolve of this.#idle.splice(0)) resolve()
  }

  #release(lock: string): void {
    const count = this.#locked.get(lock)!
    if (count > 1) this.#locked.set(lock, count - 1)
    else this.#locked.delete(lock)
  }
}
