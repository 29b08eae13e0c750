import { randomBytes, randomUUID } from 'node:crypto'
import { checkInvariants, type InvariantReport } from './audit/invariants.ts'
import type { Deliverer } from './effects/outcome.ts'
import { EffectsWorker, type EffectsWorkerOptions } from './effects/worker.ts'
import type { EntitlementState } from './facts/entitlement.ts'
import { Fault } from './facts/fault.ts'
import { OperationWorker } from './operations/operation-worker.ts'
import { Operations } from './operations/operations.ts'
import type { LookNow } from './operations/perform.ts'
import { checkOptions, endpointOptions, type PaidOnceOptions, reconcilerOptions } from './options.ts'
import { delivererOf, topicsOf, withRefunds } from './outgoing.ts'
import { type Ask, newAsk } from './providers/ask.ts'
import type { Endpoint } from './providers/endpoint.ts'
import type { LookupAnswer } from './providers/lookup.ts'
import type { Answer } from './receive/answer.ts'
import { Batcher } from './receive/batcher.ts'
import { markMended, readCatalogue } from './receive/catalogue.ts'
import { checkClock } from './receive/clock-watch.ts'
import { Decisions } from './receive/decisions.ts'
import { fetchDelivery } from './receive/fetch.ts'
import { KeptSweeper } from './receive/kept.ts'
import { Orders } from './receive/orders.ts'
import { type ReceiveObserver, type ReceiveRequest, Receiver } from './receive/receiver.ts'
import { RefusalWatch } from './receive/refusal-watch.ts'
import { RefusingWatch } from './receive/refusing-watch.ts'
import { SecretWatch } from './receive/secret-watch.ts'
import { Tally } from './receive/tally.ts'
import { ConfirmWorker, keeperOfUnconfirmed } from './receive/unconfirmed.ts'
import { AccountGates } from './reconcile/account-gate.ts'
import { Breaks } from './reconcile/breaks.ts'
import { type Confirmation, confirmOrder } from './reconcile/confirm-order.ts'
import { makeConfirmToken, readConfirmToken } from './reconcile/confirm-token.ts'
import { LookupWorker } from './reconcile/lookup-worker.ts'
import { type PaymentReturn, receiveReturn } from './reconcile/payment-return.ts'
import { type PaymentStart, type StartedPayment, startPayment } from './reconcile/payment-start.ts'
import { Reconciler } from './reconcile/reconciler.ts'
import { Sweeper } from './reconcile/sweeper.ts'
import { HOOK_LIMIT_MS } from './settle/hook.ts'
import { Settler } from './settle/settler.ts'
import { bucketOf } from './store/bucket.ts'
import type { Database } from './store/database.ts'
import { type Installation, readInstallation } from './store/installation.ts'
import { migrate, pendingMigrations } from './store/migrate.ts'
import { openPglite } from './store/pglite.ts'
import { openPostgres } from './store/postgres.ts'
import { listRightsOf } from './store/queries/list-rights.ts'
import { notifyEffects } from './store/queries/notify-effects.ts'
import { readClock } from './store/queries/read-clock.ts'
import { type GaugeRow, readGauges } from './store/queries/read-gauges.ts'
import { newIds } from './store/queries/take-ids.ts'
import { Exceptions } from './watch/exceptions.ts'
import { Watcher } from './watch/watcher.ts'

/**
 * Session settings of settling connections. Every settling statement is an insert or a look-up by key, so each has one
 * good plan, and it is kept: planning for the values at hand took 19 us per event in batches of 64. With the other plans forbidden, one
 * made while a table was empty is the right one as well (a kept sequential scan cost 0.1 ms per key, and grew).
 * The time limits end a statement whose client is gone.
 */
const SETTLING = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  enable_bitmapscan: 'off',
  jit: 'off',
  statement_timeout: '15s',
  idle_in_transaction_session_timeout: '30s',
}

/** PaidOnce embedded in a process: receives deliveries, settles them, answers. Made by `createPaidOnce`. */
export class PaidOnce {
  readonly options: PaidOnceOptions
  readonly database: Database
  readonly installation: Installation
  readonly endpoints: ReadonlyMap<string, Endpoint>
  readonly settler: Settler
  readonly orders: Orders
  /** What people decide. */
  readonly decisions: Decisions
  /** What a person must decide, and what people do about it. */
  readonly exceptions: Exceptions
  readonly receiver: Receiver
  /** What this process has answered. */
  readonly tally: Tally
  readonly watch: RefusalWatch
  readonly secrets: SecretWatch
  readonly refusing: RefusingWatch
  /** Finds silence, stuck work and near deadlines. Runs by itself only after `startWork`. */
  readonly watcher: Watcher
  /** Asks providers about what is only half known. Runs by itself only after `startWork`. */
  readonly lookups: LookupWorker
  /** Asks providers whether they sent what nothing in it proves. Runs by itself only after `startWork`. */
  readonly confirms: ConfirmWorker
  /** Charges and refunds that we ask providers for. */
  readonly operations: Operations
  /** Performs operations. Runs by itself only after `startWork`. */
  readonly performs: OperationWorker
  /** Compares what providers list with what we know. Runs by itself only after `startWork`, and with `reconcile` set. */
  readonly reconciler: Reconciler
  /** Where the two sides differ, and what people say about it. */
  readonly breaks: Breaks
  /** Asks about payments that stand still. Runs by itself only after `startWork`. */
  readonly sweeper: Sweeper
  readonly #ask: Ask = newAsk(fetch, Date.now)
  readonly #batcher: Batcher
  #announcing: NodeJS.Timeout | undefined

  constructor(
    options: PaidOnceOptions,
    database: Database,
    installation: Installation,
    heard: Partial<ReceiveObserver>,
  ) {
    const observer: ReceiveObserver = { ...SILENT, ...heard }
    this.options = options
    this.database = database
    this.installation = installation
    const { limits = {} } = options
    const context = {
      database,
      epoch: installation.epoch,
      ids: newIds(),
      topics: topicsOf(options.effects),
      policy: options.policy,
      catalogue: readCatalogue(options.catalogue),
      onCommitted: () => this.#announce(),
      onHook: (failure: string | null) => {
        if (failure !== null) this.#complain(hookFailed(failure))
      },
      onEntitlement: options.onEntitlement ?? null,
      onRight: options.onRight ?? null,
      findOrders: options.findOrders ?? null,
      hook_limit_ms: limits.hook_limit_ms ?? HOOK_LIMIT_MS,
    }
    this.settler = new Settler(context, Date.now, limits)
    this.#batcher = new Batcher(this.settler, Date.now, limits)
    this.endpoints = new Map(
      Object.entries(options.endpoints).map(([name, given]) => {
        const { provider, tenant = this.tenant } = endpointOptions(given)
        return [name, { name, provider, tenant, bucket: this.bucketOf(tenant), mode: installation.mode }]
      }),
    )
    const bucketOf = (tenant: string) => this.bucketOf(tenant)
    this.orders = new Orders(this.#batcher, this.tenant, bucketOf)
    this.decisions = new Decisions(database, this.#batcher, this.tenant, bucketOf, Date.now, randomUUID)
    this.exceptions = new Exceptions(database, installation.buckets, Date.now)
    this.tally = new Tally(this.endpoints)
    this.watch = new RefusalWatch(database, this.endpoints, Date.now, {
      onError: (error) => this.#complain(error),
    })
    this.secrets = new SecretWatch(database, this.endpoints, Date.now, {
      onError: (error) => this.#complain(error),
    })
    this.refusing = new RefusingWatch(database, this.endpoints, Date.now, {
      onError: (error) => this.#complain(error),
    })
    const watched: ReceiveObserver = {
      verified: (endpoint, secret_label) => {
        this.secrets.used(endpoint, secret_label)
        observer.verified(endpoint, secret_label)
      },
      refused: (endpoint, refusal) => {
        this.tally.answered(endpoint, refusal.code)
        this.watch.refused(endpoint, refusal)
        this.refusing.refused(endpoint, refusal.code)
        observer.refused(endpoint, refusal)
      },
      answered: (endpoint, status, took_ms) => {
        this.tally.answered(endpoint, status)
        observer.answered(endpoint, status, took_ms)
      },
      fault: (endpoint, fault) => {
        this.#complain(fault)
        observer.fault(endpoint, fault)
      },
    }
    this.receiver = new Receiver(
      this.endpoints,
      this.#batcher,
      Date.now,
      watched,
      keeperOfUnconfirmed(database),
      limits,
    )
    const rooms = [this.settler, this.endpoints, installation.buckets, this.#ask, Date.now] as const
    const onError = (error: unknown) => this.#complain(error)
    const gates = new AccountGates()
    this.lookups = new LookupWorker(...rooms, { gates, onError })
    this.reconciler = new Reconciler(this.settler, this.endpoints, this.#ask, Date.now, {
      ...reconcilerOptions(options.reconcile),
      gates,
      onError,
    })
    this.breaks = new Breaks(database, installation.buckets, Date.now)
    this.sweeper = new Sweeper(this.settler, this.endpoints, installation.buckets, Date.now, { onError })
    this.confirms = new ConfirmWorker(...rooms, watched, { onError })
    const look: LookNow = (endpoint, request, limit_ms) =>
      this.lookups.askNow(endpoint, request, 'sweep', limit_ms)
    this.performs = new OperationWorker(...rooms, look, { onError })
    this.operations = new Operations(
      database,
      this.endpoints,
      this.performs,
      this.tenant,
      bucketOf,
      installation.buckets,
      Date.now,
    )
    this.watcher = new Watcher(database, this.endpoints, installation.buckets, Date.now, {
      ...options.watches,
      onError,
    })
  }

  /** Tenant of endpoints and orders that name none. */
  get tenant(): string {
    return this.options.tenant ?? 'default'
  }

  bucketOf(tenant: string): number {
    return bucketOf(tenant, this.installation.buckets)
  }

  /** Deliveries that wait for their commit now. */
  get backlog(): number {
    return this.#batcher.held
  }

  /** Receives one delivery, for any framework. Never throws. */
  receive(request: ReceiveRequest): Promise<Answer> {
    return this.receiver.receive(request)
  }

  /**
   * Receives one delivery as a web-standard request; the endpoint is the last part of its path. For Hono, Next, Bun,
   * Deno and Node alike.
   */
  readonly fetch = (request: Request): Promise<Response> => fetchDelivery(this.receiver, request)

  /**
   * Begins a payment at a provider that sends the buyer away and back (eSewa, IME Pay, Khalti). Amount and order are
   * stored before this resolves; send the buyer to `redirect` afterwards.
   * Throws Fault `not_found`, `lookup_unsupported`, `order_invalid`, `config_invalid`, `provider_unavailable`.
   */
  startPayment(request: PaymentStart): Promise<StartedPayment> {
    const context = {
      settler: this.settler,
      ask: this.#ask,
      now_ms: Date.now,
      chance: () => randomBytes(6).toString('hex'),
      public_url: this.options.public_url,
    }
    return this.#withToken(
      request.order,
      startPayment(context, this.endpoints.get(request.endpoint), request),
    )
  }

  async #withToken(order: string, starting: Promise<StartedPayment>): Promise<StartedPayment> {
    const started = await starting
    return this.options.confirm_secret === undefined
      ? started
      : { ...started, confirm_token: this.confirmToken(order) }
  }

  /**
   * A token with which the buyer of this order, and nobody else, may see how it stands: `GET /confirm/<reference>?token=...`.
   * Good for seven days. Throws Fault `config_invalid` without `confirm_secret`.
   */
  confirmToken(reference: string, tenant = this.tenant): string {
    const { confirm_secret } = this.options
    if (confirm_secret === undefined)
      throw new Fault('config_invalid', 'Tokens need a secret. Set `confirm_secret` in the options.')
    return makeConfirmToken(confirm_secret, tenant, reference, Date.now())
  }

  /** The tenant whose order a token lets see; null for a token that is not ours, for another order, or has run out. */
  tenantOfConfirmToken(reference: string, token: string): string | null {
    const { confirm_secret } = this.options
    return confirm_secret === undefined
      ? null
      : readConfirmToken(confirm_secret, token, reference, Date.now())
  }

  /**
   * How an order stands, for the page on which its buyer waits: what is known at once; while it is pending, after asking the
   * providers for at most `limit_ms` (default 2,000; 0 answers at once and lets the answers come in the background).
   */
  confirm(
    reference: string,
    { tenant = this.tenant, limit_ms = 2_000 }: { tenant?: string; limit_ms?: number } = {},
  ): Promise<Confirmation> {
    const bucket = this.bucketOf(tenant)
    return confirmOrder(this.database, this.lookups, this.endpoints, bucket, tenant, reference, limit_ms)
  }

  /**
   * Takes the request with which a buyer's browser comes back from the provider: a hint, upon which the provider is asked.
   * Waits at most `limit_ms` (default 5,000) for its answer and says `pending` where that does not suffice.
   */
  paymentReturn(request: ReceiveRequest, limit_ms = 5_000): Promise<PaymentReturn> {
    const endpoint = this.endpoints.get(request.endpoint)
    return receiveReturn(this.database, this.lookups, endpoint, request, limit_ms)
  }

  /**
   * Asks the provider about one object now and settles what it says. Null when no answer came within `limit_ms` (default
   * 15,000). Throws Fault `not_found` for an endpoint that is not configured.
   */
  lookup(
    endpoint: string,
    object: string,
    id: string,
    limit_ms = 15_000,
  ): Promise<LookupAnswer['outcome'] | null> {
    const known = this.endpoints.get(endpoint)
    if (!known) {
      return Promise.reject(
        new Fault(
          'not_found',
          `No endpoint ${endpoint} is configured. Add it to \`endpoints\`, or correct the name.`,
        ),
      )
    }
    return this.lookups.askNow(known, { object, id }, 'person', limit_ms)
  }

  /** Figures for monitoring: what is open, due or late. Holds no id of anybody. */
  async gauges(): Promise<GaugeRow[]> {
    const rows: GaugeRow[] = []
    for (let bucket = 0; bucket < this.installation.buckets; bucket += 1)
      rows.push(...(await readGauges(this.database, bucket, new Date())))
    return rows
  }

  /** Looks for what is paid and not fulfilled, fulfilled and not paid, and the like. Walks whole tables, in parts. */
  invariants(): Promise<InvariantReport> {
    return checkInvariants(this.database, this.installation.buckets, new Date())
  }

  /** What a holder has of each item now, all their orders together; of credits, the quantity is the balance. */
  async rights(holder: string, tenant: string = this.tenant): Promise<HeldRight[]> {
    const rows = await listRightsOf(this.database, this.bucketOf(tenant), tenant, holder)
    return rows.map(({ item, quantity, state, revision }) => ({
      item,
      quantity: Number(quantity),
      state,
      revision: Number(revision),
    }))
  }

  /** True when the database answers. */
  async ready(): Promise<boolean> {
    return readClock(this.database).then(
      () => true,
      () => false,
    )
  }

  /** Starts what asks providers and looks for what stands still; part of `startWork`, for whoever puts that together. */
  startAsking(): void {
    for (const work of this.#asking) work.start()
  }

  /** Starts no further round of it and waits for those that run. */
  async stopAsking(): Promise<void> {
    await Promise.all(this.#asking.map((work) => work.stop()))
  }

  get #asking() {
    return [this.lookups, this.confirms, this.reconciler, this.sweeper, this.performs, this.watcher]
  }

  /**
   * Starts what works in the background: delivering effects (on a pool of its own, so that a slow receiver never takes a
   * connection from the front door) and settling what was kept. Any number of processes may do this on one database.
   */
  async startWork(options: Partial<Omit<EffectsWorkerOptions, 'database'>> = {}): Promise<RunningWork> {
    const own = typeof this.options.database === 'string'
    const database = own
      ? await openDatabase({ ...this.options, limits: { pool_max: 5 } }, {})
      : this.database
    const buckets = Array.from({ length: this.installation.buckets }, (_, bucket) => bucket)
    const onError = (error: unknown) => this.#complain(error)
    const worker = new EffectsWorker({
      deliverer: this.delivererOn(database),
      onError,
      ...options,
      database,
      buckets,
    })
    const kept = new KeptSweeper(this.settler, this.endpoints, buckets.length, Date.now, { onError })
    await worker.start()
    await this.markMended()
    kept.start()
    this.startAsking()
    const checkOnce = () =>
      checkClock(this.database, this.bucketOf(this.tenant), this.tenant, Date.now).catch(onError)
    await checkOnce()
    const clock = setInterval(checkOnce, CLOCK_CHECK_MS).unref()
    return {
      worker,
      kept,
      stop: async (drain_ms = 5_000) => {
        clearInterval(clock)
        await Promise.all([worker.stop({ drain_ms }), kept.stop(), this.stopAsking()])
        if (own) await database.close()
      },
    }
  }

  /**
   * Marks the orders that wait for a price which `catalogue` knows now: the sweeper of what was kept settles them. Done by
   * `startWork`. Gives how many there are.
   */
  markMended(): Promise<number> {
    const { catalogue = new Map() } = this.settler.context
    return markMended(this.database, this.installation.buckets, catalogue, new Date())
  }

  /**
   * How effects leave, as configured.
   * @param database where digests of alerts look who else waits: the worker's own
   */
  delivererOn(database: Database): Deliverer {
    const { log: tell } = this.options
    const write = (line: string) =>
      tell ? tell('info', `effect ${line.trimEnd()}`) : process.stdout.write(line)
    const { buckets } = this.installation
    const otherwise = delivererOf(this.options, write, { database, buckets, now_ms: Date.now })
    return withRefunds(this.options.effects, () => this.operations, otherwise)
  }

  /** Wakes the workers a moment after a commit that left effects; one notification for all commits of that moment. */
  #announce(): void {
    if (this.#announcing || this.database.driver === 'pglite') return
    this.#announcing = setTimeout(() => {
      this.#announcing = undefined
      notifyEffects(this.database).catch((error) => this.#complain(error))
    }, 50)
    this.#announcing.unref()
  }

  #complain(error: unknown): void {
    const { log: tell } = this.options
    if (error instanceof Fault)
      tell?.('error', error.message, { code: error.code, retriable: error.retriable })
    else tell?.('error', error instanceof Error ? error.message : 'unknown error')
  }

  /** Takes nothing more, waits for what is being settled, closes the database. */
  async close(): Promise<void> {
    await this.#batcher.close()
    clearTimeout(this.#announcing)
    await this.watch.written()
    await this.secrets.write().catch((error) => this.#complain(error))
    await this.refusing.write().catch((error) => this.#complain(error))
    await this.database.close()
  }
}

function hookFailed(why: string): Fault {
  return new Fault(
    'hook_failed',
    `A hook failed: ${why}. What it was called for is kept and settled again later; mend the hook.`,
    { retriable: true },
  )
}

/** How often this machine's clock is compared with the database's, milliseconds. */
const CLOCK_CHECK_MS = 600_000

export interface RunningWork {
  readonly worker: EffectsWorker
  readonly kept: KeptSweeper
  /** Takes nothing more and lets what is in hand finish, at most `drain_ms` (default 5,000). */
  stop(drain_ms?: number): Promise<void>
}

/** What a holder has of one item. */
export interface HeldRight {
  readonly item: string
  /** Of all orders that grant it; 0 where none does. */
  readonly quantity: number
  readonly state: EntitlementState
  /** Grows with every visible change. */
  readonly revision: number
}

const SILENT: ReceiveObserver = { verified() {}, refused() {}, answered() {}, fault() {} }

/**
 * Opens the database, brings its schema up to date and gives a PaidOnce that is ready to receive.
 * Throws Fault `config_invalid`, `mode_mismatch`, `schema_newer`, `schema_changed`, `database_unavailable`, `directory_in_use`.
 */
export async function createPaidOnce(
  options: PaidOnceOptions,
  observer: Partial<ReceiveObserver> = {},
): Promise<PaidOnce> {
  checkOptions(options)
  const database = await openDatabase(options)
  try {
    return new PaidOnce(options, database, await prepare(options, database), observer)
  } catch (error) {
    await database.close()
    throw error
  }
}

/** Opens the configured database without touching its schema. */
export function openDatabase(
  options: PaidOnceOptions,
  settings: Readonly<Record<string, string>> = SETTLING,
): Promise<Database> {
  const { database, log } = options
  const schema = options.schema === undefined ? {} : { schema: options.schema }
  if (database === undefined) {
    const directory = options.directory ?? '.paidonce'
    return openPglite({ ...schema, directory, onProgress: (message: string) => log?.('info', message) })
  }
  const max = options.limits?.pool_max ?? 8
  if (typeof database === 'string')
    return openPostgres({ ...schema, url: database, max, name: 'paidonce', settings })
  return openPostgres({ ...schema, pool: database, settings })
}

async function prepare(options: PaidOnceOptions, database: Database): Promise<Installation> {
  if (options.migrate !== false) {
    const buckets = options.buckets === undefined ? {} : { buckets: options.buckets }
    const progress = options.log ? { onProgress: (message: string) => options.log?.('info', message) } : {}
    return (await migrate(database, { mode: options.mode, now: new Date(), ...buckets, ...progress }))
      .installation
  }
  const pending = await pendingMigrations(database)
  const installation = await readInstallation(database, options.mode)
  if (pending.length > 0 || !installation) {
    throw new Fault(
      'config_invalid',
      `The database lacks ${pending.join(', ') || 'its set-up'}. Run \`paidonce migrate\`, or leave \`migrate\` on.`,
    )
  }
  return installation
}
