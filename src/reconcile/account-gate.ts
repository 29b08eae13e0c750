import type { Provider } from '../providers/contract.ts'
import type { LookupAnswer } from '../providers/lookup.ts'

export interface GateOptions {
  /** Requests a second in the long run. Default 10. */
  readonly per_second?: number
  /** Requests at once after a pause. Default 20. */
  readonly burst?: number
  /** Answers in a row that did not come, after which the account is left alone for a while. Default 5. */
  readonly failures?: number
  /** For how long at first, milliseconds; it doubles with each trial that fails, to half an hour. Default 15,000. */
  readonly pause_ms?: number
}

const PAUSE_MAX_MS = 1_800_000

/**
 * Says when the next request to one account of a provider may be sent: so many a second; none before the time that a
 * `Retry-After` named; and, after failures in a row, one trial per pause until an answer comes. Of this process alone: n
 * processes send n times as much.
 */
export class AccountGate {
  readonly #per_ms: number
  readonly #burst: number
  readonly #failures_max: number
  readonly #pause_ms: number
  #tokens: number
  #filled_ms = 0
  #closed_until_ms = 0
  #failures = 0
  /** Trials that failed since it was left alone. Requests that were under way before are none. */
  #trials = 0
  #trying = false

  constructor({ per_second = 10, burst = 20, failures = 5, pause_ms = 15_000 }: GateOptions = {}) {
    this.#per_ms = per_second / 1_000
    this.#burst = burst
    this.#failures_max = failures
    this.#pause_ms = pause_ms
    this.#tokens = burst
  }

  /** Takes leave to send one request now: null, or the time from which it may be asked for again, Unix milliseconds. */
  admit(now_ms: number): number | null {
    if (now_ms < this.#closed_until_ms) return this.#closed_until_ms
    this.#tokens = Math.min(this.#burst, this.#tokens + Math.max(0, now_ms - this.#filled_ms) * this.#per_ms)
    this.#filled_ms = now_ms
    if (this.#tokens < 1) return now_ms + Math.ceil((1 - this.#tokens) / this.#per_ms)
    this.#tokens -= 1
    // While nobody knows whether it is back, one request is the trial and the others wait for what comes of it.
    if (this.open) {
      this.#trying = true
      this.#closed_until_ms = now_ms + this.#pauseNow()
    }
    return null
  }

  /** Hears what came of a request. */
  heard(answer: LookupAnswer, now_ms: number): void {
    if (answer.outcome !== 'unavailable') {
      this.#failures = 0
      this.#trials = 0
      this.#trying = false
      this.#closed_until_ms = 0
      return
    }
    this.#failures += 1
    if (this.#trying) this.#trials += 1
    this.#trying = false
    const pause_ms = Math.max(answer.retry_after_ms ?? 0, this.open ? this.#pauseNow() : 0)
    this.#closed_until_ms = Math.max(this.#closed_until_ms, now_ms + pause_ms)
  }

  /** True while it is left alone after failures in a row. */
  get open(): boolean {
    return this.#failures >= this.#failures_max
  }

  #pauseNow(): number {
    return Math.min(this.#pause_ms * 2 ** Math.min(this.#trials, 20), PAUSE_MAX_MS)
  }
}

/** One gate per account of a provider. */
export class AccountGates {
  readonly #gates = new Map<string, AccountGate>()
  readonly #options: GateOptions

  constructor(options: GateOptions = {}) {
    this.#options = options
  }

  of({ namespace, account }: Pick<Provider, 'namespace' | 'account'>): AccountGate {
    const key = JSON.stringify([namespace, account])
    const known = this.#gates.get(key)
    if (known) return known
    const gate = new AccountGate(this.#options)
    this.#gates.set(key, gate)
    return gate
  }
}
