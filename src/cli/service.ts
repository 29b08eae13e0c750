import type { Deliverer } from '../effects/outcome.ts'
import { EffectsWorker } from '../effects/worker.ts'
import { Fault } from '../facts/fault.ts'
import { delivererOf, withRefunds } from '../outgoing.ts'
import { openDatabase, type PaidOnce } from '../paidonce.ts'
import { KeptSweeper } from '../receive/kept.ts'
import { type RunningServer, type ServeOptions, serve } from '../server/index.ts'
import type { Database } from '../store/database.ts'

export interface ServiceOptions {
  /** Receive deliveries; left out: work only. */
  readonly http?: ServeOptions | undefined
  /** Deliver effects. */
  readonly deliver: boolean
  /** Settle what was kept; ask providers about what is only half known; watch over silence, stuck work and deadlines. */
  readonly sweep: boolean
  /** Delivers effects instead of what is configured. */
  readonly deliverer?: Deliverer | undefined
  /** Hears what went wrong and was handled. */
  readonly onError: (error: unknown) => void
  /** Gets a line per effect where no delivery is configured. */
  readonly writeLine: (line: string) => unknown
}

/** What runs on an installation. */
export interface Service {
  readonly http: RunningServer | null
  readonly worker: EffectsWorker | null
  readonly sweeper: KeptSweeper | null
  /** Takes nothing more in, ends what is under way. The PaidOnce stays open. */
  stop(): Promise<void>
}

/** Starts the receiver, the effects worker and the sweeper on an open PaidOnce. */
export async function startService(paidonce: PaidOnce, options: ServiceOptions): Promise<Service> {
  // The port first: it is what another process may hold.
  const http = options.http ? await listen(paidonce, options.http) : null
  const apart = options.deliver ? await ownDatabase(paidonce) : null
  const worker = options.deliver ? await startWorker(paidonce, apart ?? paidonce.database, options) : null
  if (options.sweep) await paidonce.markMended()
  const sweeper = options.sweep ? startSweeper(paidonce, options) : null
  return {
    http,
    worker,
    sweeper,
    stop: async () => {
      await http?.close()
      await Promise.all([worker?.stop(), sweeper?.stop(), paidonce.stopAsking()])
      await apart?.close()
    },
  }
}

/** Throws Fault `config_invalid` for an address that cannot be listened on. */
async function listen(paidonce: PaidOnce, options: ServeOptions): Promise<RunningServer> {
  try {
    return await serve(paidonce, options)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === undefined || !LISTEN_ERRORS.has(code)) throw error
    throw new Fault(
      'config_invalid',
      `Port ${options.port} of ${options.host ?? '127.0.0.1'} cannot be listened on (${code}). Choose another with --port, or stop what holds it.`,
      { cause: error },
    )
  }
}

const LISTEN_ERRORS = new Set(['EADDRINUSE', 'EACCES', 'EADDRNOTAVAIL', 'ENOTFOUND'])

/** On a server a pool apart, so that slow receivers never take connections from the front door. */
async function ownDatabase({ database, options }: PaidOnce): Promise<Database | null> {
  if (database.driver === 'pglite') return null
  return openDatabase({ ...options, limits: { ...options.limits, pool_max: 4 } }, {})
}

async function startWorker(
  paidonce: PaidOnce,
  database: Database,
  options: ServiceOptions,
): Promise<EffectsWorker> {
  const worker = workerOf(paidonce, database, options)
  await worker.start()
  return worker
}

type WorkOptions = Pick<ServiceOptions, 'deliverer' | 'onError' | 'writeLine'>

function workerOf(
  paidonce: PaidOnce,
  database: Database,
  { deliverer, onError, writeLine }: WorkOptions,
): EffectsWorker {
  const { options, installation } = paidonce
  const context = { database, buckets: installation.buckets, now_ms: Date.now }
  const configured = () =>
    withRefunds(options.effects, () => paidonce.operations, delivererOf(options, writeLine, context))
  return new EffectsWorker({
    database,
    deliverer: deliverer ?? configured(),
    buckets: Array.from({ length: installation.buckets }, (_, bucket) => bucket),
    onError: (error) => onError(error),
  })
}

/** Settles what was kept and delivers what is due, until nothing more can be done now. */
export async function workOnce(paidonce: PaidOnce, options: WorkOptions): Promise<void> {
  const { settler, endpoints, installation, database } = paidonce
  const sweeper = new KeptSweeper(settler, endpoints, installation.buckets, Date.now, options)
  await paidonce.confirms.runOnce()
  await paidonce.reconciler.runDue()
  await paidonce.sweeper.runOnce()
  await paidonce.lookups.runOnce()
  await paidonce.markMended()
  await sweeper.runOnce()
  await paidonce.watcher.runOnce()
  const worker = workerOf(paidonce, database, options)
  await worker.runOnce()
  await worker.stop()
  await paidonce.performs.runOnce()
}

function startSweeper(paidonce: PaidOnce, { onError }: ServiceOptions): KeptSweeper {
  const { settler, endpoints, installation } = paidonce
  const sweeper = new KeptSweeper(settler, endpoints, installation.buckets, Date.now, { onError })
  sweeper.start()
  paidonce.startAsking()
  return sweeper
}
