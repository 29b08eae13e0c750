import { Fault } from '../facts/fault.ts'
import type { Database } from '../store/database.ts'
import { closeOpenExceptions } from '../store/exception-alerts.ts'
import {
  findNewestRevision,
  findOlderFailures,
  supersedeOlderEffects,
} from '../store/queries/supersede-older-effects.ts'
import { attemptInRound, type BackoffPolicy, backoff_ms, putOff_ms } from './backoff.ts'
import { bury } from './bury.ts'
import type { EffectCounts } from './counters.ts'
import { errorText } from './error-text.ts'
import type { HeldEffect } from './held-effect.ts'
import type { Ending, LeaseBook } from './lease-book.ts'
import { type Deliverer, isOutcome, type Outcome } from './outcome.ts'
import type { OutgoingEffect } from './outgoing-effect.ts'

export interface AttemptOptions {
  readonly database: Database
  readonly deliverer: Deliverer
  readonly now_ms: () => number
  readonly random: () => number
  readonly attempts_max: number
  readonly attempt_limit_ms: number
  readonly backoff: BackoffPolicy
  readonly leases: LeaseBook
  readonly counts: EffectCounts
  readonly onError: (error: unknown, effect: OutgoingEffect | null) => void
}

/** One attempt at one held effect, from the last look at the outbox to the end of its lease. Never throws. */
export class Attempt {
  readonly #options: AttemptOptions

  constructor(options: AttemptOptions) {
    this.#options = options
  }

  async run(held: HeldEffect): Promise<void> {
    try {
      if (this.#isOver(held)) return await this.giveBack(held)
      if (this.#diedInLastAttempt(held)) return await this.#bury(held, DIED)
      if (held.row.revision > 0n && (await this.#isOvertaken(held))) return await this.#supersede(held)
    } catch (error) {
      this.#databaseError(error, held)
      return await this.giveBack(held)
    }
    const outcome = await this.#deliver(held)
    if (!held.lost) await this.#end(held, outcome)
  }

  /** Ends the lease of an effect that nobody tried. */
  async giveBack(held: HeldEffect): Promise<void> {
    this.#options.counts.given_back += 1
    await this.#write(held, { state: 'due', available_at: this.#now(), last_error: '', untried: true })
  }

  /** The lease is not ours any more. If the effect is `out`, it may be delivered twice. */
  lose(held: HeldEffect, out: boolean): void {
    if (held.lost) return
    held.lost = true
    held.abort.abort(new Error('The lease of this effect was lost.'))
    this.#options.counts.lost_leases += 1
    const twice = out ? ' It may have been delivered twice, under one key.' : ''
    this.#options.onError(
      new Fault(
        'lease_lost',
        `The lease of effect ${held.row.id} ran out before it was acknowledged.${twice} If this repeats, raise lease_ms or look for what blocks the event loop.`,
        { retriable: true },
      ),
      held.effect,
    )
  }

  async #deliver(held: HeldEffect): Promise<Outcome | { readonly type: 'done' } | Failed> {
    const { deliverer, attempt_limit_ms } = this.#options
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        const error = new Error(`The attempt took longer than ${attempt_limit_ms} ms.`)
        reject(error)
        held.abort.abort(error)
      }, attempt_limit_ms)
    })
    try {
      const context = { signal: held.abort.signal }
      const returned = await Promise.race([
        Promise.resolve().then(() => deliverer(held.effect, context)),
        late,
      ])
      return isOutcome(returned) ? returned : { type: 'done' }
    } catch (error) {
      return { type: 'failed', error }
    } finally {
      clearTimeout(timer)
    }
  }

  async #end(held: HeldEffect, outcome: Outcome | { readonly type: 'done' } | Failed): Promise<void> {
    switch (outcome.type) {
      case 'done':
        return this.#done(held)
      case 'discard':
        return this.#discard(held, outcome.reason)
      case 'give_up':
        return this.#fail(held, new Error(outcome.reason), null, true)
      case 'retry_after':
        return this.#fail(held, new Error(outcome.reason), putOff_ms(outcome.delay_ms), false)
      case 'hold':
        return this.#hold(held, putOff_ms(outcome.delay_ms) ?? 0)
      case 'failed':
        return this.#fail(held, outcome.error, null, false)
    }
  }

  async #done(held: HeldEffect): Promise<void> {
    if (
      !(await this.#write(held, { state: 'done', available_at: this.#now(), last_error: '', untried: false }))
    )
      return
    this.#options.counts.delivered += 1
    if (held.row.revision > 1n) await this.#closeOlderFailures(held)
  }

  async #discard(held: HeldEffect, reason: string): Promise<void> {
    const ending = { available_at: this.#now(), last_error: errorText(reason), untried: false }
    if (await this.#write(held, { ...ending, state: 'discarded' })) this.#options.counts.discarded += 1
  }

  async #hold(held: HeldEffect, delay_ms: number): Promise<void> {
    const available_at = new Date(this.#options.now_ms() + delay_ms)
    await this.#write(held, { state: 'due', available_at, last_error: '', untried: true })
  }

  async #supersede(held: HeldEffect): Promise<void> {
    const ending = { available_at: this.#now(), last_error: '', untried: true }
    if (await this.#write(held, { ...ending, state: 'superseded' })) this.#options.counts.superseded += 1
  }

  async #fail(held: HeldEffect, error: unknown, delay_ms: number | null, hopeless: boolean): Promise<void> {
    const { attempts_max, backoff, counts, onError, random, now_ms } = this.#options
    counts.failed += 1
    onError(error, held.effect)
    const attempt = attemptInRound(held.row.attempts, attempts_max)
    if (hopeless || attempt === attempts_max)
      return this.#bury(held, { last_error: errorText(error), untried: false })
    const pause_ms = delay_ms ?? backoff_ms(attempt, random(), backoff)
    const available_at = new Date(now_ms() + pause_ms)
    await this.#write(held, { state: 'due', available_at, last_error: errorText(error), untried: false })
  }

  async #bury(held: HeldEffect, why: Pick<Ending, 'last_error' | 'untried'>): Promise<void> {
    const { database, counts } = this.#options
    held.ended = true
    try {
      const buried = await bury(database, held, this.#now(), why)
      if (buried === 'lost') this.lose(held, !why.untried)
      else counts[buried] += 1
    } catch (error) {
      // Its lease runs out, and whoever takes it then sees that its last attempt is behind it.
      this.#databaseError(error, held)
    }
  }

  async #write(held: HeldEffect, ending: Ending): Promise<boolean> {
    const ended = await this.#options.leases.end(held, ending)
    if (ended === 'lost') this.lose(held, !ending.untried)
    return ended === 'written'
  }

  /** Looked at just before delivering, since a newer revision may have been written while this one waited. */
  async #isOvertaken({ bucket, row }: HeldEffect): Promise<boolean> {
    const { database } = this.#options
    if ((await findNewestRevision(database, bucket, row)) > row.revision) return true
    if (row.revision > 1n) await supersedeOlderEffects(database, bucket, this.#now(), row)
    return false
  }

  async #closeOlderFailures({ bucket, row, effect }: HeldEffect): Promise<void> {
    const { database } = this.#options
    try {
      const open = await findOlderFailures(database, bucket, row)
      if (open.length > 0) await closeOpenExceptions(database, bucket, this.#now(), open)
    } catch (error) {
      this.#options.counts.database_errors += 1
      this.#options.onError(error, effect)
    }
  }

  /** A process that an effect kills never reports a failure, so the count of leases has to end it. */
  #diedInLastAttempt({ row }: HeldEffect): boolean {
    const { attempts_max } = this.#options
    return row.abandoned && attemptInRound(row.attempts - 1, attempts_max) === attempts_max
  }

  #isOver(held: HeldEffect): boolean {
    return this.#options.now_ms() >= held.lease_end_ms
  }

  #now(): Date {
    return new Date(this.#options.now_ms())
  }

  #databaseError(error: unknown, held: HeldEffect): void {
    this.#options.counts.database_errors += 1
    this.#options.onError(error, held.effect)
  }
}

const DIED = { last_error: 'The worker ended during the last attempt.', untried: true }

interface Failed {
  readonly type: 'failed'
  readonly error: unknown
}
