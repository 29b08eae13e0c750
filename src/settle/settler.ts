import { Fault } from '../facts/fault.ts'
import { errorCode, lostRace } from '../store/driver-fault.ts'
import { clusters } from './cluster.ts'
import { HookBreaker } from './hook-breaker.ts'
import type { SettleItem, SettleOutcome } from './item.ts'
import { HooksTimeout, OrderHookTimeout } from './order-hooks.ts'
import { SETTLE_DEFAULTS, type SettleContext, type SettleOptions, settle } from './settle.ts'

/** How one item ended: settled somehow, or not at all because of a fault of ours (nothing of it is written then). */
export type SettleResult = { readonly outcome: SettleOutcome } | { readonly fault: Fault }

export interface SettlerOptions {
  /** How long a batch waits for a lock that another transaction holds, milliseconds. Default 250. */
  readonly batch_lock_timeout_ms?: number
  /** How long an item waits for such a lock once it is in a lane of its own, milliseconds. Default 2,000. */
  readonly lane_lock_timeout_ms?: number
  /** How many items may wait in lanes of their own at once; further ones are kept at once. Default 2. */
  readonly lanes?: number
  /** Hook failures in a row after which hooks are left alone for a while. Default 5. */
  readonly breaker_failures?: number
  /** For how long they are left alone, milliseconds. Default 10,000. */
  readonly breaker_pause_ms?: number
  readonly onBoundary?: SettleOptions['onBoundary']
}

const LOCK_NOT_AVAILABLE = '55P03'
const ATTEMPTS = 6
/** Once a batch has waited for a lock, its parts only look for who else has to wait, milliseconds. */
const SEARCH_LOCK_TIMEOUT_MS = 50

/**
 * Settles batches whatever happens to some of their items: repeats what deadlocked, finds the item that breaks a batch
 * by splitting, takes an item whose lock is held elsewhere into a lane of its own, and keeps (committed and marked)
 * what cannot be settled now.
 */
export class Settler {
  readonly context: SettleContext
  readonly #options: Required<Omit<SettlerOptions, 'onBoundary'>>
  readonly #breaker: HookBreaker
  readonly #onBoundary: SettleOptions['onBoundary']
  #waiting = 0

  /** @param now_ms the clock, Unix milliseconds */
  constructor(context: SettleContext, now_ms: () => number, options: SettlerOptions = {}) {
    this.#options = {
      batch_lock_timeout_ms: options.batch_lock_timeout_ms ?? 250,
      lane_lock_timeout_ms: options.lane_lock_timeout_ms ?? 2_000,
      lanes: options.lanes ?? 2,
      breaker_failures: options.breaker_failures ?? 5,
      breaker_pause_ms: options.breaker_pause_ms ?? 10_000,
    }
    this.#onBoundary = options.onBoundary
    this.#breaker = new HookBreaker(now_ms, this.#options.breaker_failures, this.#options.breaker_pause_ms)
    this.context = this.#breaker.guard(context)
  }

  /** Settles one item and gives its outcome; throws its fault. For callers that are not a batch. */
  async settleOne(bucket: number, item: SettleItem): Promise<SettleOutcome> {
    return new Promise((resolve, reject) => {
      const end = (_place: number, result: SettleResult) =>
        'fault' in result ? reject(result.fault) : resolve(result.outcome)
      this.settleBatch(bucket, [item], end).catch(reject)
    })
  }

  /**
   * Settles a batch of one bucket. `end` is called exactly once per item, as soon as its fate is known. Resolves when
   * the batch itself is through; an item in a lane of its own may end later.
   */
  async settleBatch(
    bucket: number,
    items: readonly SettleItem[],
    end: (place: number, result: SettleResult) => void,
  ): Promise<void> {
    await this.#settlePart(
      bucket,
      items.map((item, place) => ({ item, place })),
      this.#options.batch_lock_timeout_ms,
      end,
    )
  }

  async #settlePart(bucket: number, part: Part, lock_timeout_ms: number, end: End): Promise<void> {
    try {
      const outcomes = await this.#repeat(bucket, part, { lock_timeout_ms })
      for (const [index, { place }] of part.entries()) end(place, { outcome: outcomes[index]! })
    } catch (error) {
      const fault = systemFault(error)
      if (fault) for (const { place } of part) end(place, { fault })
      else if (errorCode(error) === LOCK_NOT_AVAILABLE) await this.#searchLocked(bucket, part, end)
      else if (part.length > 1) await this.#split(bucket, part, lock_timeout_ms, end)
      else await this.#keep(bucket, part, error, end)
    }
  }

  async #split(bucket: number, part: Part, lock_timeout_ms: number, end: End): Promise<void> {
    const middle = part.length >> 1
    await this.#settlePart(bucket, part.slice(0, middle), lock_timeout_ms, end)
    await this.#settlePart(bucket, part.slice(middle), lock_timeout_ms, end)
  }

  /** Items that wait for the same lock stay together, or a burst about one order would wait for it once per item. */
  async #searchLocked(bucket: number, part: Part, end: End): Promise<void> {
    const groups = clusters(part)
    if (groups.length === 1) {
      this.#takeLane(bucket, part, end)
      return
    }
    const lock_timeout_ms = Math.min(SEARCH_LOCK_TIMEOUT_MS, this.#options.batch_lock_timeout_ms)
    const middle = groups.length >> 1
    await this.#settlePart(bucket, groups.slice(0, middle).flat(), lock_timeout_ms, end)
    await this.#settlePart(bucket, groups.slice(middle).flat(), lock_timeout_ms, end)
  }

  /** The items wait for their lock apart from the others; the batcher goes on meanwhile. */
  #takeLane(bucket: number, part: Part, end: End): void {
    if (this.#waiting >= this.#options.lanes) {
      void this.#keepEach(bucket, part, lockedElsewhere(), end)
      return
    }
    this.#waiting += 1
    this.#waitInLane(bucket, part, end).finally(() => {
      this.#waiting -= 1
    })
  }

  async #waitInLane(bucket: number, part: Part, end: End): Promise<void> {
    const lock_timeout_ms = this.#options.lane_lock_timeout_ms
    try {
      const outcomes = await this.#repeat(bucket, part, { lock_timeout_ms })
      for (const [index, { place }] of part.entries()) end(place, { outcome: outcomes[index]! })
    } catch (error) {
      const locked = errorCode(error) === LOCK_NOT_AVAILABLE
      if (part.length > 1 && !locked && !systemFault(error)) {
        await this.#split(bucket, part, lock_timeout_ms, end)
      } else await this.#keepEach(bucket, part, error, end)
    }
  }

  async #keepEach(bucket: number, part: Part, error: unknown, end: End): Promise<void> {
    for (const entry of part) await this.#keep(bucket, [entry], error, end)
  }

  /**
   * What cannot be settled now is stored with a mark: with its facts and its payment, or, when even those cannot be
   * written, the event alone. An item without an event is someone's call, and gets the error.
   */
  async #keep(bucket: number, part: Part, error: unknown, end: End): Promise<void> {
    const [{ item, place }] = part as [Part[number]]
    if (!item.event) {
      end(place, { fault: asFault(error) })
      return
    }
    for (const depth of ['payments', 'event'] as const) {
      try {
        const reason = error instanceof Error ? error.message.slice(0, 500) : 'unknown error'
        const [outcome] = await this.#repeat(bucket, part, {
          lock_timeout_ms: this.#options.batch_lock_timeout_ms,
          depth,
          reason,
        })
        end(place, { outcome: outcome! })
        return
      } catch (again) {
        const fault = systemFault(again)
        if (fault) {
          end(place, { fault })
          return
        }
        error = again
      }
    }
    end(place, { fault: asFault(error) })
  }

  /**
   * Runs one transaction until it commits or fails for good. Deadlocks and serialisation failures are repeated whole;
   * so is a lost connection, also at COMMIT, where the locks make it harmless. An order whose hook ran out of time is
   * left out of the next attempt.
   */
  async #repeat(bucket: number, part: Part, options: Partial<SettleOptions>): Promise<SettleOutcome[]> {
    const keep = new Map<string, string>()
    let hooks_together = true
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await settle(
          this.context,
          bucket,
          part.map(({ item }) => item),
          {
            ...SETTLE_DEFAULTS,
            ...options,
            keep,
            hooks_together,
            onBoundary: this.#onBoundary,
          },
        )
      } catch (error) {
        if (error instanceof HooksTimeout) hooks_together = false
        else if (error instanceof OrderHookTimeout) {
          for (const order of error.orders) keep.set(order, error.message)
        } else if (attempt >= ATTEMPTS || !isRepeatable(error)) throw error
      }
    }
  }
}

type Part = readonly { readonly item: SettleItem; readonly place: number }[]
type End = (place: number, result: SettleResult) => void

function isRepeatable(error: unknown): boolean {
  if (lostRace(error)) return true
  return error instanceof Fault && (error.code === 'isolation_wrong' || error.code === 'commit_failed')
}

/** The fault that concerns the whole database and not an item; null for everything that splitting can isolate. */
function systemFault(error: unknown): Fault | null {
  if (
    error instanceof Fault &&
    (error.code === 'database_unavailable' ||
      error.code === 'database_busy' ||
      error.code === 'shutting_down')
  ) {
    return error
  }
  if (errorCode(error)?.startsWith('XX')) return asFault(error)
  return null
}

function lockedElsewhere(cause?: unknown): Fault {
  const message =
    'Another transaction holds a lock on this order or payment. Try again; end transactions soon.'
  return new Fault('database_busy', message, { retriable: true, cause })
}

function asFault(error: unknown): Fault {
  if (error instanceof Fault) return error
  if (errorCode(error) === LOCK_NOT_AVAILABLE) return lockedElsewhere(error)
  return new Fault(
    'settle_failed',
    'Settling failed. Look at the cause; the sender was asked to deliver again.',
    {
      retriable: true,
      cause: error,
    },
  )
}
