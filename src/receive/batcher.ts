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
  /** Most batches in flight at once. Default 2, or 1 on the embedded database. */
  readonly concurrency?: number
}

interface Waiting {
  readonly item: SettleItem
  readonly bytes: number
  readonly resolve: (result: SettleResult) => void
}

/**
 * Group commit: deliveries that arrive together are settled together. While batches are in flight the next one fills,
 * so work per delivery falls as load rises, and a lone delivery waits for nobody.
 */
export class Batcher {
  readonly #settler: Settler
  readonly #options: Required<BatcherOptions>
  readonly #queues = new Map<number, Waiting[]>()
  #held = 0
  #held_bytes = 0
  #running = 0
  #scheduled = false
  #closed = false
  #idle: (() => void)[] = []

  constructor(settler: Settler, options: BatcherOptions = {}) {
    this.#settler = settler
    const embedded = settler.context.database.driver === 'pglite'
    this.#options = {
      batch_max: options.batch_max ?? 256,
      queue_max: options.queue_max ?? 10_000,
      queue_bytes_max: options.queue_bytes_max ?? 64 * 1024 * 1024,
      concurrency: options.concurrency ?? (embedded ? 1 : 2),
    }
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
      const waiting = { item, bytes, resolve }
      if (queue) queue.push(waiting)
      else this.#queues.set(bucket, [waiting])
      this.#schedule()
    })
  }

  /** Takes nothing more and resolves when everything held has ended. */
  close(): Promise<void> {
    this.#closed = true
    return this.#held === 0 ? Promise.resolve() : new Promise((resolve) => this.#idle.push(resolve))
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
    while (this.#running < this.#options.concurrency) {
      const next = this.#queues.entries().next()
      if (next.done) return
      const [bucket, queue] = next.value
      const batch = queue.splice(0, this.#options.batch_max)
      // The bucket goes to the end of the line, so that no tenant waits behind another's burst.
      this.#queues.delete(bucket)
      if (queue.length > 0) this.#queues.set(bucket, queue)
      void this.#run(bucket, batch)
    }
  }

  async #run(bucket: number, batch: readonly Waiting[]): Promise<void> {
    this.#running += 1
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
    waiting.resolve(result)
    if (this.#held === 0) for (const resolve of this.#idle.splice(0)) resolve()
  }
}
