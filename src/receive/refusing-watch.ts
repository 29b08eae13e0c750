import type { RefusalCode } from '../facts/refusal.ts'
import type { Endpoint } from '../providers/endpoint.ts'
import type { Database } from '../store/database.ts'
import { recordRefusals } from '../store/queries/record-refusals.ts'

export interface RefusingWatchOptions {
  /** How often what was counted is written, milliseconds. Default 60,000. */
  readonly write_ms?: number
  /** Hears what went wrong and was handled. Must not throw. */
  readonly onError?: (error: unknown) => void
}

/** Refusals of deliveries that were signed: those without a signature are anybody's, and say nothing about ours. */
const SIGNED: ReadonlySet<RefusalCode> = new Set([
  'signature_malformed',
  'signature_wrong',
  'signature_stale',
  'signature_ahead',
])

interface Counted {
  readonly endpoint: Endpoint
  readonly first_ms: number
  last_ms: number
  refusals: bigint
}

/**
 * Counts in memory what endpoints refuse, and writes it now and then, so that all processes together see an endpoint
 * that believes nobody any more.
 */
export class RefusingWatch {
  readonly #database: Database
  readonly #endpoints: ReadonlyMap<string, Endpoint>
  readonly #now_ms: () => number
  readonly #options: Required<RefusingWatchOptions>
  readonly #counted = new Map<string, Counted>()
  #timer: NodeJS.Timeout | undefined

  /** @param now_ms the clock, Unix milliseconds */
  constructor(
    database: Database,
    endpoints: ReadonlyMap<string, Endpoint>,
    now_ms: () => number,
    options: RefusingWatchOptions = {},
  ) {
    this.#database = database
    this.#endpoints = endpoints
    this.#now_ms = now_ms
    this.#options = {
      write_ms: options.write_ms ?? 60_000,
      onError: options.onError ?? (() => undefined),
    }
  }

  /** Hears of one refusal. Returns at once. */
  refused(name: string, code: RefusalCode): void {
    const endpoint = this.#endpoints.get(name)
    if (!endpoint || !SIGNED.has(code)) return
    const now_ms = this.#now_ms()
    const counted = this.#counted.get(name)
    if (counted) {
      counted.last_ms = now_ms
      counted.refusals += 1n
    } else this.#counted.set(name, { endpoint, first_ms: now_ms, last_ms: now_ms, refusals: 1n })
    this.#timer ??= setTimeout(
      () => this.write().catch(this.#options.onError),
      this.#options.write_ms,
    ).unref()
  }

  /** Writes what was counted. */
  async write(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const counted = [...this.#counted.values()]
    this.#counted.clear()
    for (const bucket of new Set(counted.map(({ endpoint }) => endpoint.bucket))) {
      await recordRefusals(
        this.#database,
        bucket,
        counted
          .filter(({ endpoint }) => endpoint.bucket === bucket)
          .map(({ endpoint, first_ms, last_ms, refusals }) => ({
            tenant: endpoint.tenant,
            endpoint: endpoint.name,
            first_refused_at: new Date(first_ms),
            last_refused_at: new Date(last_ms),
            refusals,
          })),
      )
    }
  }
}
