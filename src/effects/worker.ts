import { randomUUID } from 'node:crypto'
import { Fault } from '../facts/fault.ts'
import type { Database } from '../store/database.ts'
import { readInstallation } from '../store/installation.ts'
import { type LeasedEffect, leaseEffects } from '../store/queries/lease-effects.ts'
import { EFFECTS_CHANNEL } from '../store/queries/notify-effects.ts'
import { readClock } from '../store/queries/read-clock.ts'
import { Attempt } from './attempt.ts'
import { BACKOFF_DEFAULTS, type BackoffPolicy } from './backoff.ts'
import { type EffectCounts, noCounts } from './counters.ts'
import type { HeldEffect } from './held-effect.ts'
import { LeaseBook } from './lease-book.ts'
import type { Deliverer } from './outcome.ts'
import { asOutgoing, type OutgoingEffect } from './outgoing-effect.ts'

export interface EffectsWorkerOptions {
  /** The worker's own database, with its own pool, so that slow receivers never take connections from the front door. */
  readonly database: Database
  /** Delivers; see `functions`, `signedHttp`, `log` and `route`. */
  readonly deliverer: Deliverer
  /** The buckets to work on. Default `[0]`, the only one on a single server. */
  readonly buckets?: readonly number[]
  /** The clock, Unix milliseconds. Default: this machine's, corrected by the database's, so that machines agree on leases. */
  readonly now_ms?: () => number
  /** A number from 0 up to but not including 1, for the spread of pauses. Default `Math.random`. */
  readonly random?: () => number
  /** How many effects are delivered at once. Default 10. */
  readonly concurrency?: number
  /** How many effects are leased in one statement. Default 20. */
  readonly batch?: number
  /** How long a lease lasts without being renewed, milliseconds: so long after a crash is an effect taken again. Default 30,000. */
  readonly lease_ms?: number
  /** How often to look without being told, milliseconds. Default 1,000. */
  readonly poll_ms?: number
  /** Attempts before an effect is dead and a person is told. Default 24, about eleven hours. */
  readonly attempts_max?: number
  /** How long one attempt may take, milliseconds; then it is told to stop and counts as failed. Default 60,000. */
  readonly attempt_limit_ms?: number
  /** Pauses between attempts. Default: 5 seconds, doubling up to an hour. */
  readonly backoff?: BackoffPolicy
  /** Hears what went wrong and was handled: a failed attempt, a lost lease, a statement that failed. Must not throw. */
  readonly onError?: (error: unknown, effect: OutgoingEffect | null) => void
}

type Settings = Required<Omit<EffectsWorkerOptions, 'now_ms'>>

function withDefaults(options: EffectsWorkerOptions): Settings {
  const settings: Settings = {
    database: options.database,
    deliverer: options.deliverer,
    buckets: options.buckets ?? [0],
    random: options.random ?? Math.random,
    concurrency: options.concurrency ?? 10,
    batch: options.batch ?? 20,
    lease_ms: options.lease_ms ?? 30_000,
    poll_ms: options.poll_ms ?? 1_000,
    attempts_max: options.attempts_max ?? 24,
    attempt_limit_ms: options.attempt_limit_ms ?? 60_000,
    backoff: options.backoff ?? BACKOFF_DEFAULTS,
    onError: options.onError ?? (() => undefined),
  }
  for (const name of [
    'concurrency',
    'batch',
    'lease_ms',
    'poll_ms',
    'attempts_max',
    'attempt_limit_ms',
  ] as const) {
    if (!Number.isSafeInteger(settings[name]) || settings[name] < 1) {
      throw new Fault('config_invalid', `The effects worker's ${name} must be a whole number above 0.`)
    }
  }
  return settings
}

/**
 * Takes due effects from the outbox and delivers them: each at least once, in order within a subject's lane, whatever
 * crashes. Any number of workers may run on one database. `docs/effects.md` tells the whole life of an effect.
 */
export class EffectsWorker {
  readonly #settings: Settings
  readonly #now_ms: () => number
  readonly #leases: LeaseBook
  readonly #counts: EffectCounts = noCounts()
  readonly #waiting: HeldEffect[] = []
  readonly #running = new Set<HeldEffect>()
  readonly #attempt: Attempt
  /** The database's clock less this machine's, milliseconds. */
  #skew_ms = 0
  #epoch: bigint | undefined
  #first_bucket = 0
  #stopping = false
  #looping: Promise<void> | undefined
  #renewing: NodeJS.Timeout | undefined
  #unlisten: (() => Promise<void>) | undefined
  #woken = false
  #resume: (() => void) | undefined

  /** Throws Fault `config_invalid` for a number that makes no sense. */
  constructor(options: EffectsWorkerOptions) {
    this.#settings = withDefaults(options)
    this.#now_ms = options.now_ms ?? (() => Date.now() + this.#skew_ms)
    const { database, poll_ms } = this.#settings
    const report = (error: unknown, effect: OutgoingEffect | null) => this.#report(error, effect)
    this.#leases = new LeaseBook({
      database,
      now_ms: this.#now_ms,
      pause_ms: poll_ms,
      onError: (error) => this.#databaseError(error),
    })
    this.#attempt = new Attempt({
      ...this.#settings,
      now_ms: this.#now_ms,
      leases: this.#leases,
      counts: this.#counts,
      onError: report,
    })
  }

  /** Begins to work. Resolves when it listens. Throws when the database cannot be reached. */
  async start(): Promise<void> {
    if (this.#looping !== undefined || this.#stopping) {
      throw new Fault('shutting_down', 'This effects worker was started already. Make another one.')
    }
    const { database, lease_ms } = this.#settings
    await this.#prepare()
    this.#unlisten = await database.listen(EFFECTS_CHANNEL, () => this.#wake())
    this.#keepLeases(lease_ms)
    this.#looping = this.#loop(false)
  }

  /** Delivers what is due until nothing more can be taken, and stops. For commands and tests; not beside `start`. */
  async runOnce(): Promise<void> {
    await this.#prepare()
    this.#keepLeases(this.#settings.lease_ms)
    this.#looping = this.#loop(true)
    try {
      await this.#looping
    } finally {
      this.#looping = undefined
      clearInterval(this.#renewing)
    }
  }

  /**
   * Takes nothing more, gives back what it has not begun, and waits for what it is delivering, at most `drain_ms`
   * (default 10,000). Then those attempts are told to stop; their effects are free again when their leases end. Gives
   * how many were left so. The database may be closed afterwards.
   */
  async stop(options: { readonly drain_ms?: number } = {}): Promise<{ readonly left: number }> {
    this.#stopping = true
    this.#wake()
    await this.#unlisten?.().catch((error) => this.#databaseError(error))
    this.#unlisten = undefined
    await this.#looping?.catch(() => undefined)
    const given_back = this.#giveBackWaiting()
    await this.#drained(options.drain_ms ?? 10_000)
    clearInterval(this.#renewing)
    this.#leases.close()
    for (const held of this.#running) held.abort.abort(new Error('The worker stops.'))
    await given_back
    return { left: this.#running.size }
  }

  /**
   * Renews the leases of what is being delivered, and gives back what has waited so long that another worker may be
   * quicker. Runs by itself at a third of the lease.
   */
  async renewLeases(): Promise<void> {
    const given_back = this.#giveBackWaiting()
    try {
      const running = [...this.#running]
      const lost = await this.#leases.renew(running, this.#now_ms() + this.#settings.lease_ms)
      for (const held of lost) this.#attempt.lose(held, this.#running.has(held))
    } catch (error) {
      this.#databaseError(error)
    }
    await given_back
  }

  /** What was counted so far; a copy. */
  snapshot(): Readonly<EffectCounts> {
    return { ...this.#counts, running: this.#running.size, waiting: this.#waiting.length }
  }

  async #prepare(): Promise<void> {
    const { database } = this.#settings
    await this.#readSkew()
    if (this.#epoch !== undefined) return
    const installation = await readInstallation(database)
    if (!installation) {
      throw new Fault('config_invalid', 'This database is not set up. Run the migrations first.')
    }
    this.#epoch = installation.epoch
  }

  async #readSkew(): Promise<void> {
    const now = await readClock(this.#settings.database)
    this.#skew_ms = now.getTime() - Date.now()
  }

  #keepLeases(lease_ms: number): void {
    clearInterval(this.#renewing)
    this.#renewing = setInterval(() => {
      void this.renewLeases()
      this.#readSkew().catch((error) => this.#databaseError(error))
    }, lease_ms / 3)
    this.#renewing.unref()
  }

  async #loop(once: boolean): Promise<void> {
    while (!this.#stopping) {
      this.#woken = false
      this.#startWaiting()
      if (this.#waiting.length === 0 && this.#running.size < this.#settings.concurrency) {
        try {
          if ((await this.#take()) > 0) continue
        } catch (error) {
          this.#databaseError(error)
          if (once) throw error
        }
        if (once && this.#running.size === 0 && !this.#woken) return
      }
      await this.#pause()
    }
  }

  /** Leases from each bucket in turn until the batch is full. */
  async #take(): Promise<number> {
    const { database, buckets, batch, lease_ms } = this.#settings
    const token = randomUUID()
    let taken = 0
    for (let turn = 0; turn < buckets.length && taken < batch; turn++) {
      const bucket = buckets[(this.#first_bucket + turn) % buckets.length]!
      const now_ms = this.#now_ms()
      const request = {
        now: new Date(now_ms),
        until: new Date(now_ms + lease_ms),
        token,
        limit: batch - taken,
      }
      const rows = await leaseEffects(database, bucket, request)
      for (const row of rows) this.#waiting.push(this.#hold(bucket, row, token, now_ms + lease_ms))
      taken += rows.length
    }
    this.#first_bucket += 1
    this.#counts.leased += taken
    return taken
  }

  #hold(bucket: number, row: LeasedEffect, token: string, lease_end_ms: number): HeldEffect {
    const effect = asOutgoing(row, this.#epoch!)
    return {
      bucket,
      row,
      effect,
      token,
      abort: new AbortController(),
      lease_end_ms,
      ended: false,
      lost: false,
    }
  }

  #startWaiting(): void {
    while (!this.#stopping && this.#running.size < this.#settings.concurrency) {
      const held = this.#waiting.shift()
      if (!held) return
      this.#running.add(held)
      void this.#attempt.run(held).finally(() => {
        this.#running.delete(held)
        this.#wake()
      })
    }
  }

  async #giveBackWaiting(): Promise<void> {
    const untried = this.#waiting.splice(0)
    await Promise.all(untried.map((held) => this.#attempt.giveBack(held)))
    if (untried.length > 0) this.#wake()
  }

  async #drained(drain_ms: number): Promise<void> {
    let over = false
    const timer = setTimeout(() => {
      over = true
      this.#wake()
    }, drain_ms)
    while (this.#running.size > 0 && !over) {
      await new Promise<void>((resolve) => {
        this.#resume = resolve
      })
    }
    clearTimeout(timer)
  }

  /** Until something is due, a slot is free, or it is time to look. */
  async #pause(): Promise<void> {
    if (this.#woken || this.#stopping) return
    let timer: NodeJS.Timeout | undefined
    await new Promise<void>((resolve) => {
      this.#resume = resolve
      timer = setTimeout(resolve, this.#settings.poll_ms)
    })
    clearTimeout(timer)
  }

  #wake(): void {
    this.#woken = true
    this.#resume?.()
  }

  #databaseError(error: unknown): void {
    this.#counts.database_errors += 1
    this.#report(error, null)
  }

  #report(error: unknown, effect: OutgoingEffect | null): void {
    try {
      this.#settings.onError(error, effect)
    } catch {
      // Telling of an error must not become one.
    }
  }
}
