import { randomUUID } from 'node:crypto'
import type { Ask } from '../providers/ask.ts'
import type { Endpoint } from '../providers/endpoint.ts'
import { Rounds } from '../settle/rounds.ts'
import type { Settler } from '../settle/settler.ts'
import type { Database } from '../store/database.ts'
import { leaseOperation, leaseOperations, renewOperation } from '../store/queries/lease-operations.ts'
import type { OperationRow } from '../store/queries/operation-row.ts'
import { type LookNow, type PerformBoundary, Performer } from './perform.ts'

export interface OperationWorkerOptions {
  /** How often to look for operations that are due, milliseconds. Default 1,000. */
  readonly poll_ms?: number
  /** Operations that are performed at once. Default 8. */
  readonly batch?: number
  /** So long after a crash is an operation taken up again, as unknown, milliseconds. Renewed while a request runs. Default 120,000. */
  readonly lease_ms?: number
  /** How long one call of a provider's API may take, milliseconds. Default 20,000. */
  readonly limit_ms?: number
  /** So long may an operation stay unknown before a person is told, milliseconds. Default 900,000. */
  readonly alert_after_ms?: number
  /** Hears what went wrong and was handled. Must not throw. */
  readonly onError?: (error: unknown) => void
  /** Called before each step with its name; tests crash or interleave there. */
  readonly onBoundary?: ((boundary: PerformBoundary, row: OperationRow) => Promise<void> | void) | undefined
}

/**
 * Performs operations: asks providers for charges and refunds, outside any transaction, and finds out about those of which
 * nobody knows whether they happened. Any number of processes may do this on one database.
 */
export class OperationWorker {
  readonly #database: Database
  readonly #buckets: number
  readonly #now_ms: () => number
  readonly #batch: number
  readonly #lease_ms: number
  readonly #onError: (error: unknown) => void
  readonly #performer: Performer
  readonly #rounds: Rounds<number>

  /**
   * @param now_ms the clock, Unix milliseconds
   * @param look asks a provider about one object now and settles the answer
   */
  constructor(
    settler: Settler,
    endpoints: ReadonlyMap<string, Endpoint>,
    buckets: number,
    ask: Ask,
    now_ms: () => number,
    look: LookNow,
    options: OperationWorkerOptions = {},
  ) {
    this.#database = settler.context.database
    this.#buckets = buckets
    this.#now_ms = now_ms
    this.#batch = options.batch ?? 8
    this.#lease_ms = options.lease_ms ?? 120_000
    this.#onError = options.onError ?? (() => undefined)
    this.#performer = new Performer({
      settler,
      endpoints,
      ask,
      now_ms,
      look,
      lease_ms: this.#lease_ms,
      limit_ms: options.limit_ms ?? 20_000,
      alert_after_ms: options.alert_after_ms ?? 900_000,
      onError: this.#onError,
      onBoundary: options.onBoundary,
    })
    this.#rounds = new Rounds(() => this.#round(), options.poll_ms ?? 1_000, this.#onError)
  }

  /** Looks for operations again and again until `stop`. */
  start(): void {
    this.#rounds.start()
  }

  /** Starts no further round and waits for the one that runs. */
  stop(): Promise<void> {
    return this.#rounds.stop()
  }

  /** Performs everything that is due now, once. Gives how many operations were taken. */
  runOnce(): Promise<number> {
    return this.#rounds.runOnce()
  }

  /** Performs one operation now, if it is due and nobody else has it in hand. */
  async performNow(bucket: number, id: bigint): Promise<void> {
    const leased = await leaseOperation(this.#database, bucket, id, this.#lease())
    if (leased) await this.#perform(bucket, leased)
  }

  async #round(): Promise<number> {
    let taken = 0
    for (let bucket = 0; bucket < this.#buckets; bucket += 1) {
      for (;;) {
        const leased = await leaseOperations(this.#database, bucket, { ...this.#lease(), limit: this.#batch })
        await Promise.all(leased.map((row) => this.#perform(bucket, row)))
        taken += leased.length
        if (leased.length < this.#batch || this.#rounds.stopped) break
      }
    }
    return taken
  }

  #lease() {
    const now_ms = this.#now_ms()
    return { now: new Date(now_ms), lease_until: new Date(now_ms + this.#lease_ms), token: randomUUID() }
  }

  /** The lease is renewed meanwhile; whatever goes wrong, the operation is taken up again when it ends. */
  async #perform(bucket: number, row: OperationRow): Promise<void> {
    const renew = () =>
      renewOperation(
        this.#database,
        bucket,
        row.id,
        row.lease_token!,
        new Date(this.#now_ms() + this.#lease_ms),
      )
    const renewing = setInterval(() => void renew().catch(this.#onError), this.#lease_ms / 3)
    renewing.unref()
    try {
      await this.#performer.perform(bucket, row)
    } catch (error) {
      this.#onError(error)
    } finally {
      clearInterval(renewing)
    }
  }
}
