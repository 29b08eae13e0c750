import type { Endpoint } from '../providers/endpoint.ts'
import { Rounds } from '../settle/rounds.ts'
import type { Database, Transaction } from '../store/database.ts'
import { closeOpenExceptions, openExceptions, restateExceptions } from '../store/exception-alerts.ts'
import { inTransaction } from '../store/in-transaction.ts'
import { loadOpenExceptionsOf, type StandingException } from '../store/queries/close-exceptions.ts'
import type { NewException } from '../store/queries/raise-exceptions.ts'
import { takeWatchRound } from '../store/queries/take-watch-round.ts'
import type { Watch } from './watch.ts'
import { watchDisputes } from './watch-disputes.ts'
import { watchEndpoints } from './watch-endpoints.ts'
import { type WatchLimits, type WatchOptions, watchLimits } from './watch-options.ts'
import { watchWork } from './watch-work.ts'

export interface WatcherOptions extends WatchOptions {
  /** Pause between two tries to take a turn, milliseconds. Default 60,000. */
  readonly poll_ms?: number | undefined
  /** Hears what went wrong and was handled. Must not throw. */
  readonly onError?: ((error: unknown) => void) | undefined
}

const WATCHES: readonly Watch[] = [watchEndpoints, watchWork, watchDisputes]

/**
 * Looks now and then for what nothing that arrives can tell: silence, stuck work, deadlines. Each finding is one
 * exception that closes by itself when it is over. Any number of processes may do this on one database: a row per watch
 * says whose turn it is, and looking and writing are one transaction.
 */
export class Watcher {
  readonly #database: Database
  readonly #endpoints: ReadonlyMap<string, Endpoint>
  readonly #buckets: number
  readonly #now_ms: () => number
  readonly #limits: WatchLimits
  readonly #onError: (error: unknown) => void
  readonly #rounds: Rounds<number>

  /**
   * Throws Fault `config_invalid` for a limit that makes no sense.
   * @param now_ms the clock, Unix milliseconds
   */
  constructor(
    database: Database,
    endpoints: ReadonlyMap<string, Endpoint>,
    buckets: number,
    now_ms: () => number,
    options: WatcherOptions = {},
  ) {
    this.#database = database
    this.#endpoints = endpoints
    this.#buckets = buckets
    this.#now_ms = now_ms
    this.#limits = watchLimits(options)
    this.#onError = options.onError ?? (() => undefined)
    this.#rounds = new Rounds(() => this.#round(), options.poll_ms ?? 60_000, this.#onError)
  }

  /** Takes turns again and again until `stop`. */
  start(): void {
    this.#rounds.start()
  }

  /** Starts no further round and waits for the one that runs. */
  stop(): Promise<void> {
    return this.#rounds.stop()
  }

  /** Takes every turn that is due, once; gives how many there were. */
  runOnce(): Promise<number> {
    return this.#rounds.runOnce()
  }

  async #round(): Promise<number> {
    let turns = 0
    for (let bucket = 0; bucket < this.#buckets; bucket += 1) {
      for (const watch of WATCHES) {
        try {
          if (await this.#turn(bucket, watch)) turns += 1
        } catch (error) {
          // What one watch cannot look at must not blind the others.
          this.#onError(error)
        }
        if (this.#rounds.stopped) return turns
      }
    }
    return turns
  }

  #turn(bucket: number, watch: Watch): Promise<boolean> {
    return inTransaction(this.#database, async (tx) => {
      const now_ms = this.#now_ms()
      const next = new Date(now_ms + this.#limits.every_ms)
      if (!(await takeWatchRound(tx, bucket, watch.name, new Date(now_ms), next))) return false
      const endpoints = [...this.#endpoints.values()].filter((endpoint) => endpoint.bucket === bucket)
      const findings = await watch.look({ tx, bucket, now_ms, endpoints, limits: this.#limits })
      await write(tx, bucket, watch, new Date(now_ms), findings)
      return true
    })
  }
}

async function write(
  tx: Transaction,
  bucket: number,
  watch: Watch,
  now: Date,
  findings: Awaited<ReturnType<Watch['look']>>,
): Promise<void> {
  const due = new Map<string, NewException>(
    findings.map((finding) => [name(finding), { ...finding, origin: 'watch', alert_at: now }]),
  )
  const over: StandingException[] = []
  const restated: { open: StandingException; now: NewException }[] = []
  for (const open of await loadOpenExceptionsOf(tx, bucket, 'watch', watch.kinds)) {
    const standing = due.get(name(open))
    if (standing) restated.push({ open, now: standing })
    else over.push(open)
    due.delete(name(open))
  }
  await closeOpenExceptions(tx, bucket, now, over)
  await restateExceptions(tx, bucket, now, restated)
  await openExceptions(tx, bucket, now, [...due.values()])
}

function name(of: Pick<NewException, 'tenant' | 'subject_kind' | 'subject_key' | 'kind' | 'cause'>): string {
  return [of.tenant, of.subject_kind, of.subject_key, of.kind, of.cause].join('\n')
}
