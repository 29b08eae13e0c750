import { Fault } from '../facts/fault.ts'
import type { Ask } from '../providers/ask.ts'
import type { Endpoint } from '../providers/endpoint.ts'
import type { ListedKind } from '../providers/lookup.ts'
import { Rounds } from '../settle/rounds.ts'
import type { Settler } from '../settle/settler.ts'
import type { Database } from '../store/database.ts'
import { type BreakRow, listBreaks } from '../store/queries/list-breaks.ts'
import { countListedItems, forgetListedItems } from '../store/queries/note-listed-items.ts'
import { type Coverage, coveredTo, listCoverageOf } from '../store/queries/record-coverage.ts'
import {
  finishReconciliation,
  type NewReconciliation,
  type ReconciliationRow,
  startReconciliation,
  takeOverReconciliation,
} from '../store/queries/run-reconciliation.ts'
import { AccountGates } from './account-gate.ts'
import { raiseBreaks } from './break-exceptions.ts'
import { lookAgain } from './look-again.ts'
import { reconcileFile, type SettlementFile } from './reconcile-file.ts'
import { reconcileList } from './reconcile-list.ts'
import { leaseLost, type RunTools, RunWork } from './run-work.ts'
import type { Schedule } from './schedule.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const KINDS: readonly ListedKind[] = ['payments', 'refunds', 'disputes']
/** A scheduled run that failed is tried so often again before the schedule's next time. */
const ATTEMPTS = 8
/** So many breaks stand in a report; all are in the database. */
const REPORTED_MAX = 1_000

export interface ReconcilerOptions {
  /** When to run by itself; null for never. */
  readonly schedule?: Schedule | null
  /** By how much a window reaches back into the one before, milliseconds. Default a day. */
  readonly overlap_ms?: number
  /** How far back the first run looks, milliseconds. Default 7 days. */
  readonly first_ms?: number
  /** By how much amounts may differ, minor units. Default 0. */
  readonly tolerance_minor?: bigint
  /** How often to look whether something is due, milliseconds. Default 30,000. */
  readonly poll_ms?: number
  /** So long after a crash another process goes on, milliseconds. Default 120,000. */
  readonly lease_ms?: number
  /** How long one request may take, milliseconds. Default 30,000. */
  readonly limit_ms?: number
  readonly gates?: AccountGates
  /** Hears what went wrong and was handled. Must not throw. */
  readonly onError?: (error: unknown) => void
}

/** What to reconcile. Without a window: from the end of what was covered, less the overlap, until now. */
export interface ReconcileRequest {
  readonly endpoint: string
  readonly from?: Date | undefined
  readonly to?: Date | undefined
  /** A settlement file instead of the provider's list. */
  readonly file?: SettlementFile | undefined
  readonly onProgress?: ((kind: ListedKind, listed: number) => void) | undefined
}

/** How a run ended. */
export interface ReconciliationReport {
  readonly id: bigint
  readonly endpoint: string
  readonly state: 'done' | 'failed'
  /** Why it failed; empty otherwise. */
  readonly reason: string
  readonly from_at: Date | null
  readonly to_at: Date | null
  /** Items by kind and class. */
  readonly counts: ReconciliationRow['counts']
  /** The windows that were listed to their end. */
  readonly coverage: readonly Coverage[]
  /** Where the sides differ, and what was settled because only the provider knew it; the newest thousand. */
  readonly breaks: readonly BreakRow[]
}

/**
 * Compares what providers list with what we know, both ways. A run is one row with a lease: one process at a time per
 * account, and another one goes on when that process goes away. What was listed to its end is coverage; the next window
 * begins where that ends, so a run that fails moves nothing.
 */
export class Reconciler {
  readonly #database: Database
  readonly #endpoints: ReadonlyMap<string, Endpoint>
  readonly #tools: RunTools
  readonly #options: Required<Omit<ReconcilerOptions, 'gates'>>
  readonly #rounds: Rounds<number>

  /** @param now_ms the clock, Unix milliseconds */
  constructor(
    settler: Settler,
    endpoints: ReadonlyMap<string, Endpoint>,
    ask: Ask,
    now_ms: () => number,
    options: ReconcilerOptions = {},
  ) {
    this.#database = settler.context.database
    this.#endpoints = endpoints
    this.#options = {
      schedule: options.schedule ?? null,
      overlap_ms: options.overlap_ms ?? DAY_MS,
      first_ms: options.first_ms ?? 7 * DAY_MS,
      tolerance_minor: options.tolerance_minor ?? 0n,
      poll_ms: options.poll_ms ?? 30_000,
      lease_ms: options.lease_ms ?? 120_000,
      limit_ms: options.limit_ms ?? 30_000,
      onError: options.onError ?? (() => undefined),
    }
    this.#tools = {
      settler,
      ask,
      now_ms,
      gates: options.gates ?? new AccountGates(),
      limit_ms: this.#options.limit_ms,
      lease_ms: this.#options.lease_ms,
    }
    this.#rounds = new Rounds(() => this.#round(), this.#options.poll_ms, this.#options.onError)
  }

  /** Runs what is due, again and again until `stop`. */
  start(): void {
    this.#rounds.start()
  }

  /** Starts no further run and waits for the one that runs. */
  stop(): Promise<void> {
    return this.#rounds.stop()
  }

  /** Runs what the schedule says is due and what another process left, once. Gives how many runs that were. */
  runDue(): Promise<number> {
    return this.#rounds.runOnce()
  }

  /** One endpoint per account that can be listed. */
  get listed(): readonly Endpoint[] {
    const once = new Map<string, Endpoint>()
    for (const endpoint of this.#endpoints.values()) {
      const key = JSON.stringify([endpoint.tenant, endpoint.provider.namespace, endpoint.provider.account])
      if (endpoint.provider.lookup?.list && !once.has(key)) once.set(key, endpoint)
    }
    return [...once.values()]
  }

  /**
   * Reconciles one endpoint's account now.
   * Throws Fault `not_found` (no such endpoint), `lookup_unsupported` (its provider lists nothing and no file is given),
   * `config_invalid` (an impossible window, a file that cannot be read), `reconcile_running`.
   */
  async run(request: ReconcileRequest): Promise<ReconciliationReport> {
    const endpoint = this.#endpoint(request)
    // What a process left that went away comes first: it holds the account.
    const left = await this.#takeOver(endpoint)
    if (left) await this.#execute(left, endpoint, request)
    const run = await this.#start(endpoint, {
      ...(await this.#window(endpoint, request)),
      scheduled_for: null,
      source: request.file ? 'file' : 'list',
      source_digest: request.file?.digest ?? '',
    })
    if (!run) {
      throw new Fault(
        'reconcile_running',
        `A reconciliation of endpoint ${endpoint.name} is under way. Wait for its end; \`paidonce reconcile --runs\` shows it.`,
        { retriable: true },
      )
    }
    return this.#execute(run, endpoint, request)
  }

  async #round(): Promise<number> {
    let runs = 0
    for (const endpoint of this.listed) {
      if (this.#rounds.stopped) break
      try {
        const run = (await this.#takeOver(endpoint)) ?? (await this.#startDue(endpoint))
        if (!run) continue
        runs += 1
        await this.#execute(run, endpoint, {})
      } catch (error) {
        this.#options.onError(error)
      }
    }
    return runs
  }

  /** The run of the schedule's last time, unless another process has it or had it. */
  async #startDue(endpoint: Endpoint): Promise<ReconciliationRow | null> {
    const at_ms = this.#options.schedule?.last(this.#tools.now_ms()) ?? null
    if (at_ms === null) return null
    return this.#start(endpoint, {
      ...(await this.#window(endpoint, {})),
      scheduled_for: new Date(at_ms),
      source: 'list',
      source_digest: '',
    })
  }

  #takeOver(endpoint: Endpoint): Promise<ReconciliationRow | null> {
    return takeOverReconciliation(
      this.#database,
      endpoint.bucket,
      new Date(this.#tools.now_ms()),
      this.#leaseEnd(),
      accountOf(endpoint),
    )
  }

  #start(
    endpoint: Endpoint,
    run: Omit<NewReconciliation, 'tenant' | 'namespace' | 'account' | 'endpoint'>,
  ): Promise<ReconciliationRow | null> {
    const now = new Date(this.#tools.now_ms())
    const whole = { ...accountOf(endpoint), endpoint: endpoint.name, ...run }
    return startReconciliation(this.#database, endpoint.bucket, now, this.#leaseEnd(), whole)
  }

  #leaseEnd(): Date {
    return new Date(this.#tools.now_ms() + this.#options.lease_ms)
  }

  #endpoint({ endpoint: name, file }: ReconcileRequest): Endpoint {
    const endpoint = this.#endpoints.get(name)
    if (!endpoint) {
      throw new Fault(
        'not_found',
        `No endpoint ${name} is configured. Configured: ${[...this.#endpoints.keys()].join(', ') || 'none'}.`,
      )
    }
    if (file || endpoint.provider.lookup?.list) return endpoint
    throw new Fault(
      'lookup_unsupported',
      `${endpoint.provider.provider} cannot be listed here. Give its API credentials if its page under docs/providers/ names a list, or reconcile its settlement file with --file and --map.`,
    )
  }

  async #window(
    endpoint: Endpoint,
    { from, to, file }: Partial<ReconcileRequest>,
  ): Promise<{ readonly from_at: Date | null; readonly to_at: Date | null }> {
    const now_ms = this.#tools.now_ms()
    if (file) {
      if ((from === undefined) !== (to === undefined))
        throw new Fault('config_invalid', 'A file covers a window with both ends: give --from and --to.')
      return ordered(from ?? null, to ?? null)
    }
    return ordered(from ?? (await this.#continueFrom(endpoint, now_ms)), to ?? new Date(now_ms))
  }

  /** Where the least covered kind ends, less the overlap. */
  async #continueFrom(endpoint: Endpoint, now_ms: number): Promise<Date> {
    const { overlap_ms, first_ms } = this.#options
    const ends = await Promise.all(
      KINDS.map((kind) => coveredTo(this.#database, endpoint.bucket, accountOf(endpoint), kind)),
    )
    const known = ends.flatMap((end) => (end === null ? [] : [end.getTime()]))
    const from_ms = known.length < KINDS.length ? now_ms - first_ms : Math.min(...known) - overlap_ms
    return new Date(Math.min(from_ms, now_ms - 1))
  }

  async #execute(
    run: ReconciliationRow,
    endpoint: Endpoint,
    request: Partial<ReconcileRequest>,
  ): Promise<ReconciliationReport> {
    const { read_lag_ms } = endpoint.provider.capabilities
    const lag_ms = Math.max(read_lag_ms ?? UNKNOWN_LAG_MS, LEAST_LAG_MS)
    const work = new RunWork(run, endpoint, this.#tools, this.#options.tolerance_minor, lag_ms)
    const failures: string[] = []
    try {
      if (request.file && run.source === 'file') await reconcileFile(work, request.file, request.onProgress)
      else for (const kind of KINDS) await this.#reconcileKind(work, kind, failures, request.onProgress)
      await lookAgain(work)
    } catch (error) {
      if (error instanceof Fault && error.code === 'lease_lost') throw error
      failures.push(messageOf(error))
    }
    return this.#finish(work, failures.join('; '))
  }

  /** A list that breaks off is noted and the other kinds are listed all the same. */
  async #reconcileKind(
    work: RunWork,
    kind: ListedKind,
    failures: string[],
    onProgress: ReconcileRequest['onProgress'],
  ): Promise<void> {
    try {
      await reconcileList(work, kind, onProgress)
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== 'provider_unavailable') throw error
      failures.push(`${kind}: ${error.message}`)
    }
  }

  async #finish(work: RunWork, failure: string): Promise<ReconciliationReport> {
    const { run, bucket, now } = work
    const counts: Record<string, Record<string, number>> = {}
    for (const row of await countListedItems(this.#database, bucket, run.id)) {
      counts[row.kind] = { ...counts[row.kind], [row.class]: Number(row.items) }
    }
    const again = failure !== '' && run.scheduled_for !== null && run.attempt < ATTEMPTS
    const pause_ms = Math.min(5 * 60_000 * 2 ** (run.attempt - 1), 2 * HOUR_MS)
    const ended = await finishReconciliation(this.#database, bucket, now, run, {
      state: failure === '' ? 'done' : 'failed',
      reason: failure.slice(0, 1_000),
      counts,
      retry_at: again ? new Date(now.getTime() + pause_ms) : null,
    })
    if (!ended) throw leaseLost(run)
    if (!again) await forgetListedItems(this.#database, bucket, run.id, null)
    await raiseBreaks(this.#database, bucket, now, run, failure === '' ? null : failure)
    const { id, endpoint, reason, from_at, to_at } = ended
    return {
      id,
      endpoint,
      state: failure === '' ? 'done' : 'failed',
      reason,
      from_at,
      to_at,
      counts,
      coverage: await listCoverageOf(this.#database, bucket, id),
      breaks: await listBreaks(this.#database, bucket, { run: id, limit: REPORTED_MAX }),
    }
  }
}

/** Where the provider says nothing about its lag. */
const UNKNOWN_LAG_MS = 600_000
const LEAST_LAG_MS = 60_000

function accountOf({ tenant, provider }: Endpoint) {
  return { tenant, namespace: provider.namespace, account: provider.account }
}

function ordered(from_at: Date | null, to_at: Date | null) {
  if (from_at !== null && to_at !== null && !(from_at < to_at))
    throw new Fault('config_invalid', 'The window ends before it begins. Exchange --from and --to.')
  return { from_at, to_at }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
