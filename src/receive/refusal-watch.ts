import type { ExceptionKind } from '../facts/exception.ts'
import type { Refusal } from '../facts/refusal.ts'
import type { Endpoint } from '../providers/endpoint.ts'
import type { Database } from '../store/database.ts'
import { openExceptions } from '../store/exception-alerts.ts'
import { inTransaction } from '../store/in-transaction.ts'
import type { NewException } from '../store/queries/raise-exceptions.ts'

export interface RefusalWatchOptions {
  /** Refused signatures of one endpoint within a window that make a burst. Default 20. */
  readonly signature_burst?: number
  /** Refusals for age within a window that point to a wrong clock. Default 10. */
  readonly stale_burst?: number
  /** Length of the window, milliseconds. Default 60,000. */
  readonly window_ms?: number
  /** Hears what went wrong and was handled. Must not throw. */
  readonly onError?: (error: unknown) => void
}

interface Seen {
  since_ms: number
  count: number
  told: boolean
}

/**
 * Counts refusals, which leave no row, and raises one exception per endpoint and cause when there are many: a wrong
 * secret, a wrong clock, bodies above the limit. The exception is written apart from the delivery that tipped it.
 */
export class RefusalWatch {
  readonly #database: Database
  readonly #endpoints: ReadonlyMap<string, Endpoint>
  readonly #now_ms: () => number
  readonly #options: Required<RefusalWatchOptions>
  readonly #seen = new Map<string, Seen>()
  #writing: Promise<void> = Promise.resolve()

  /** @param now_ms the clock, Unix milliseconds */
  constructor(
    database: Database,
    endpoints: ReadonlyMap<string, Endpoint>,
    now_ms: () => number,
    options: RefusalWatchOptions = {},
  ) {
    this.#database = database
    this.#endpoints = endpoints
    this.#now_ms = now_ms
    this.#options = {
      signature_burst: options.signature_burst ?? 20,
      stale_burst: options.stale_burst ?? 10,
      window_ms: options.window_ms ?? 60_000,
      onError: options.onError ?? (() => undefined),
    }
  }

  /** Hears of one refusal. Returns at once. */
  refused(name: string, refusal: Refusal): void {
    const endpoint = this.#endpoints.get(name)
    if (!endpoint) return
    const alarm = this.#alarm(endpoint, refusal)
    if (!alarm) return
    const seen = this.#count(`${name}\n${alarm.kind}`)
    if (seen.told || seen.count < alarm.burst) return
    seen.told = true
    this.#writing = this.#writing.then(() => this.#raise(endpoint, alarm)).catch(this.#options.onError)
  }

  /** Resolves when everything that was raised so far is written. */
  written(): Promise<void> {
    return this.#writing
  }

  #count(key: string): Seen {
    const now_ms = this.#now_ms()
    const seen = this.#seen.get(key)
    if (seen && now_ms - seen.since_ms < this.#options.window_ms) {
      seen.count += 1
      return seen
    }
    const fresh = { since_ms: now_ms, count: 1, told: false }
    this.#seen.set(key, fresh)
    return fresh
  }

  #alarm(endpoint: Endpoint, refusal: Refusal): Alarm | null {
    const { signature_burst, stale_burst } = this.#options
    switch (refusal.code) {
      case 'body_too_large':
        return {
          kind: 'body_too_large',
          burst: 1,
          message: `Endpoint ${endpoint.name} refused a body of ${refusal.detail}. If it was authentic it is lost for good: raise \`limits.body_max\` and have it sent again.`,
        }
      case 'signature_stale':
      case 'signature_ahead':
        return {
          kind: 'clock_skew',
          burst: stale_burst,
          message: `Endpoint ${endpoint.name} refused ${stale_burst} deliveries within a minute because their signed time is far from this machine's. Check the machine's clock with \`paidonce doctor\`.`,
        }
      case 'signature_missing':
      case 'signature_malformed':
      case 'signature_wrong':
        return {
          kind: 'signature_failed',
          burst: signature_burst,
          message: `Endpoint ${endpoint.name} refused ${signature_burst} signatures within a minute. Either its secret is not the one the sender uses (compare with the provider's dashboard), or somebody is guessing.`,
        }
      default:
        return null
    }
  }

  async #raise(endpoint: Endpoint, alarm: Alarm): Promise<void> {
    const now = new Date(this.#now_ms())
    const exception: NewException = {
      tenant: endpoint.tenant,
      subject_kind: 'endpoint',
      subject_id: 0n,
      subject_key: endpoint.name,
      kind: alarm.kind,
      cause: '-',
      origin: 'receive',
      severity: 'urgent',
      message: alarm.message,
      alert_at: now,
    }
    await inTransaction(this.#database, (tx) => openExceptions(tx, endpoint.bucket, now, [exception]))
  }
}

interface Alarm {
  readonly kind: ExceptionKind
  readonly burst: number
  readonly message: string
}
