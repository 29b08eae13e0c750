import type { Endpoint } from '../providers/endpoint.ts'
import { settleItem } from '../settle/item.ts'
import { Rounds } from '../settle/rounds.ts'
import type { Settler } from '../settle/settler.ts'
import type { Database } from '../store/database.ts'
import { requestLookups, wantedLookup } from '../store/queries/request-lookups.ts'
import {
  listParkedOrders,
  listPaymentsUnderWay,
  moveSweep,
  type SweptPart,
  takeSweepRound,
} from '../store/queries/sweep-round.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

export interface SweeperOptions {
  /** How often each sweep goes over its table, by one process of all, milliseconds. Default an hour. */
  readonly every_ms?: number
  /** How often to look whether a turn has come, milliseconds. Default 60,000. */
  readonly poll_ms?: number
  /** A payment that has not moved for so long is asked about, milliseconds. Default an hour. */
  readonly still_ms?: number
  /** And again after so long without an answer that ends it, milliseconds. Default 6 hours. */
  readonly again_ms?: number
  /** What is older than this is left to reconciliation and to people, milliseconds. Default 30 days. */
  readonly age_max_ms?: number
  readonly onError?: (error: unknown) => void
}

/** What one round came to. */
export interface SweepRound {
  /** Payments that are asked about. */
  readonly asked: number
  /** Orders for whose terms the merchant's tables were asked again. */
  readonly woken: number
}

/**
 * Looks for what nothing else wakes: payments that stand still and orders whose terms may be in the merchant's tables by
 * now. Nothing is closed by time alone; a payment is asked about, an order is settled again.
 */
export class Sweeper {
  readonly #database: Database
  readonly #settler: Settler
  readonly #endpoints: ReadonlyMap<string, Endpoint>
  readonly #buckets: number
  readonly #now_ms: () => number
  readonly #options: Required<SweeperOptions>
  readonly #rounds: Rounds<SweepRound>

  /** @param now_ms the clock, Unix milliseconds */
  constructor(
    settler: Settler,
    endpoints: ReadonlyMap<string, Endpoint>,
    buckets: number,
    now_ms: () => number,
    options: SweeperOptions = {},
  ) {
    this.#database = settler.context.database
    this.#settler = settler
    this.#endpoints = endpoints
    this.#buckets = buckets
    this.#now_ms = now_ms
    this.#options = {
      every_ms: options.every_ms ?? HOUR_MS,
      poll_ms: options.poll_ms ?? MINUTE_MS,
      still_ms: options.still_ms ?? HOUR_MS,
      again_ms: options.again_ms ?? 6 * HOUR_MS,
      age_max_ms: options.age_max_ms ?? 30 * DAY_MS,
      onError: options.onError ?? (() => undefined),
    }
    this.#rounds = new Rounds(() => this.#round(), this.#options.poll_ms, this.#options.onError)
  }

  start(): void {
    this.#rounds.start()
  }

  /** Starts no further round and waits for the one that runs. */
  stop(): Promise<void> {
    return this.#rounds.stop()
  }

  /** Takes the turns that are due, once. */
  runOnce(): Promise<SweepRound> {
    return this.#rounds.runOnce()
  }

  async #round(): Promise<SweepRound> {
    const total = { asked: 0, woken: 0 }
    for (let bucket = 0; bucket < this.#buckets; bucket += 1) {
      total.asked += await this.#turn(bucket, 'payments under way', (after) => this.#askAbout(bucket, after))
      if (this.#settler.context.findOrders)
        total.woken += await this.#turn(bucket, 'parked orders', (after) => this.#wake(bucket, after))
    }
    return total
  }

  /** Goes over a table from where nothing lies behind any more to its end, if this process has the turn. */
  async #turn(
    bucket: number,
    sweep: string,
    part: (after: bigint) => Promise<SweptPart<{ readonly id: bigint }> & { readonly done: number }>,
  ): Promise<number> {
    const now_ms = this.#now_ms()
    const next_due = new Date(now_ms + this.#options.every_ms)
    let after: bigint | null = await takeSweepRound(this.#database, bucket, sweep, new Date(now_ms), next_due)
    let first: bigint | null = null
    let done = 0
    let reached = after ?? 0n
    while (after !== null && !this.#rounds.stopped) {
      const swept: SweptPart<{ readonly id: bigint }> & { readonly done: number } = await part(after)
      first ??= swept.rows[0]?.id ?? null
      done += swept.done
      reached = swept.next ?? reached
      after = swept.next
    }
    // What is found again next time begins there; a part that held nothing need not be walked again.
    await moveSweep(this.#database, bucket, sweep, first === null ? reached : first - 1n)
    return done
  }

  async #askAbout(bucket: number, after: bigint) {
    const now_ms = this.#now_ms()
    const { still_ms, again_ms, age_max_ms } = this.#options
    const swept = await listPaymentsUnderWay(this.#database, bucket, after, {
      still_since: new Date(now_ms - still_ms),
      asked_before: new Date(now_ms - again_ms),
      born_after: new Date(now_ms - age_max_ms),
    })
    const now = new Date(now_ms)
    const wanted = swept.rows.flatMap((row) => {
      const endpoint = row.to_ask ? this.#endpointOf(row) : undefined
      return endpoint === undefined
        ? []
        : [wantedLookup(endpoint, { object: 'payment', id: row.provider_payment_id }, 'sweep', now)]
    })
    if (wanted.length > 0) await requestLookups(this.#database, bucket, now, wanted)
    return { ...swept, done: wanted.length }
  }

  #endpointOf(row: { readonly tenant: string; readonly namespace: string; readonly account: string }) {
    return [...this.#endpoints.values()].find(
      ({ tenant, provider }) =>
        tenant === row.tenant &&
        provider.namespace === row.namespace &&
        provider.account === row.account &&
        provider.lookup !== undefined,
    )
  }

  async #wake(bucket: number, after: bigint) {
    const born_after = new Date(this.#now_ms() - this.#options.age_max_ms)
    const swept = await listParkedOrders(this.#database, bucket, after, born_after)
    for (const { tenant, reference } of swept.rows) {
      const touches = [{ kind: 'order', reference } as const]
      await this.#settler
        .settleOne(bucket, settleItem({ tenant, touches, rederive: true }))
        .catch((error) => this.#options.onError(error))
    }
    return { ...swept, done: swept.rows.length }
  }
}
