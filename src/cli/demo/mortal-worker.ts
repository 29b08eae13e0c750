import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { signedHttp } from '../../effects/signed-http.ts'
import { EffectsWorker } from '../../effects/worker.ts'
import type { Database } from '../../store/database.ts'
import { cutOff } from './cut-off.ts'

/** A worker that delivers effects and can be killed without a word. */
export interface MortalWorker {
  /** Ends it as `kill -9` does: what it was doing is neither finished nor given back. */
  kill(): Promise<void>
  /** Ends it properly. */
  stop(): Promise<void>
}

export interface WorkerTask {
  readonly receiver: string
  readonly secret: string
  /** How long its leases last, milliseconds: so long after its death another takes over what it held. */
  readonly lease_ms: number
}

/** A process of its own, killed with SIGKILL. */
export async function startWorkerProcess(
  where: { readonly url: string; readonly schema: string },
  task: WorkerTask,
): Promise<MortalWorker> {
  const extension = extname(import.meta.url)
  const file = fileURLToPath(new URL(`worker-process${extension}`, import.meta.url))
  const loader = extension === '.ts' ? ['--import', import.meta.resolve('jiti/register')] : []
  const child = spawn(process.execPath, [...loader, file], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, PAIDONCE_DEMO_WORKER: JSON.stringify({ ...where, ...task }) },
  })
  const ended = once(child, 'exit')
  await Promise.race([
    once(child.stdout, 'data'),
    ended.then(() => Promise.reject(new Error('The demo’s worker could not start.'))),
  ])
  return {
    kill: async () => {
      child.kill('SIGKILL')
      await ended
    },
    stop: async () => {
      // It stops when its input ends, so it never outlives the demo.
      child.stdin.end()
      await ended
    },
  }
}

/** A worker in this process, cut off from the database instead of killed. */
export async function startWorkerHere(database: Database, task: WorkerTask): Promise<MortalWorker> {
  const own = cutOff(database)
  const worker = makeWorker(own, task)
  await worker.start()
  return {
    kill: async () => {
      own.cut()
      await worker.stop({ drain_ms: 0 })
    },
    stop: async () => {
      await worker.stop()
    },
  }
}

export function makeWorker(database: Database, { receiver, secret, lease_ms }: WorkerTask): EffectsWorker {
  return new EffectsWorker({
    database,
    deliverer: signedHttp({ url: receiver, secrets: [secret] }),
    lease_ms,
    poll_ms: 200,
    concurrency: 16,
    batch: 32,
    backoff: { first_ms: 500, longest_ms: 2_000 },
  })
}
