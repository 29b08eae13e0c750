import type { Database } from '../store/database.ts'
import { type EffectEnding, finishEffects } from '../store/queries/finish-effects.ts'
import { renewEffects } from '../store/queries/renew-effects.ts'
import type { HeldEffect } from './held-effect.ts'

export type Ending = Omit<EffectEnding, 'id' | 'token'>

/** What became of an ending: written; too late, since the lease was lost; or the database did not take it. */
export type Ended = 'written' | 'lost' | 'unwritten'

interface Waiting {
  readonly held: HeldEffect
  readonly ending: Ending
  readonly told: (ended: Ended) => void
}

export interface LeaseBookOptions {
  readonly database: Database
  readonly now_ms: () => number
  /** Pause before an acknowledgement that the database did not take is tried again, milliseconds. */
  readonly pause_ms: number
  readonly onError: (error: unknown) => void
}

/**
 * Renews and ends leases. Endings that gather while a statement runs go together in the next one. One statement runs at
 * a time, so a renewal and an ending of the same rows cannot deadlock.
 */
export class LeaseBook {
  readonly #options: LeaseBookOptions
  #pending: Waiting[] = []
  #flushing = false
  #closed = false
  #last: Promise<unknown> = Promise.resolve()

  constructor(options: LeaseBookOptions) {
    this.#options = options
  }

  /**
   * Ends the lease of an effect. Goes on trying while the database is away: what was done must not be done again only
   * because its acknowledgement failed. `unwritten` comes only after `close`.
   */
  end(held: HeldEffect, ending: Ending): Promise<Ended> {
    return new Promise((told) => {
      this.#pending.push({ held, ending, told })
      void this.#flush()
    })
  }

  /** Moves the end of leases. Gives those that were found lost. */
  async renew(all: readonly HeldEffect[], lease_end_ms: number): Promise<HeldEffect[]> {
    const lost: HeldEffect[] = []
    for (const [bucket, part] of byBucket(all, (held) => held.bucket)) {
      lost.push(...(await this.#alone(() => this.#renewPart(bucket, part, lease_end_ms))))
    }
    return lost
  }

  async #renewPart(bucket: number, part: readonly HeldEffect[], lease_end_ms: number): Promise<HeldEffect[]> {
    // Only now is it known which of them have ended while this renewal waited for its turn.
    const open = part.filter((held) => !held.ended && !held.lost)
    if (open.length === 0) return []
    const leases = open.map((held) => ({ id: held.row.id, token: held.token }))
    const kept = await renewEffects(this.#options.database, bucket, new Date(lease_end_ms), leases)
    for (const held of open) if (kept.has(held.row.id)) held.lease_end_ms = lease_end_ms
    return open.filter((held) => !kept.has(held.row.id) && !held.ended)
  }

  /** Endings that cannot be written are given up from now on; their leases run out by themselves. */
  close(): void {
    this.#closed = true
  }

  async #flush(): Promise<void> {
    if (this.#flushing) return
    this.#flushing = true
    while (this.#pending.length > 0) {
      const batch = this.#pending
      this.#pending = []
      for (const [bucket, part] of byBucket(batch, ({ held }) => held.bucket)) await this.#write(bucket, part)
    }
    this.#flushing = false
  }

  async #write(bucket: number, part: readonly Waiting[]): Promise<void> {
    const { database, now_ms, onError, pause_ms } = this.#options
    const endings = part.map(({ held, ending }) => ({ ...ending, id: held.row.id, token: held.token }))
    for (;;) {
      try {
        const ended = await this.#alone(async () => {
          const written = await finishEffects(database, bucket, new Date(now_ms()), endings)
          for (const { held } of part) held.ended = true
          return written
        })
        for (const { held, told } of part) told(ended.has(held.row.id) ? 'written' : 'lost')
        return
      } catch (error) {
        onError(error)
        if (this.#closed) {
          for (const { told } of part) told('unwritten')
          return
        }
        await new Promise((resolve) => setTimeout(resolve, pause_ms))
      }
    }
  }

  #alone<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work)
    this.#last = done.catch(() => undefined)
    return done
  }
}

function byBucket<T>(all: readonly T[], bucketOf: (one: T) => number): Map<number, T[]> {
  const parts = new Map<number, T[]>()
  for (const one of all) {
    const part = parts.get(bucketOf(one))
    if (part) part.push(one)
    else parts.set(bucketOf(one), [one])
  }
  return parts
}
