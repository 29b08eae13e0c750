import { Cron } from 'croner'
import { Fault } from '../facts/fault.ts'

const MINUTE_MS = 60_000
/** How far back the last time is looked for; a yearly schedule is found too. */
const BACK_MS = [2 * MINUTE_MS, 2 * 3_600_000, 2 * 86_400_000, 40 * 86_400_000, 400 * 86_400_000]

/** Times at which something is due, as a cron expression in UTC says. */
export class Schedule {
  readonly #cron: Cron

  /** Throws Fault `config_invalid`. */
  constructor(expression: string) {
    try {
      this.#cron = new Cron(expression, { timezone: 'UTC', paused: true })
      if (this.#cron.nextRun() === null) throw new Error('it names no time to come')
    } catch (cause) {
      throw new Fault(
        'config_invalid',
        `${JSON.stringify(expression)} is no schedule (${cause instanceof Error ? cause.message : ''}). Write \`reconcile.at\` as a cron expression in UTC, such as '30 3 * * *'.`,
        { cause },
      )
    }
  }

  /** The last time that it named, at or before `now_ms`; null when there is none within a year. Unix milliseconds. */
  last(now_ms: number): number | null {
    for (const back_ms of BACK_MS) {
      let last: number | null = null
      for (let at = this.#cron.nextRun(new Date(now_ms - back_ms)); at !== null && at.getTime() <= now_ms; ) {
        last = at.getTime()
        at = this.#cron.nextRun(at)
      }
      if (last !== null) return last
    }
    return null
  }

  /** The next time after `now_ms`, Unix milliseconds; null when there is none. */
  next(now_ms: number): number | null {
    return this.#cron.nextRun(new Date(now_ms))?.getTime() ?? null
  }
}
