import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { createPaidOnce, type PaidOnce } from '../../paidonce.ts'
import { hurryDemo } from '../../store/queries/hurry-demo.ts'
import { countDemoBacklog } from '../../store/queries/review-demo.ts'
import type { Progress } from '../output.ts'
import { type Service, startService } from '../service.ts'
import { badDay } from './bad-day.ts'
import { castEndpoints, enterAll, type Performer } from './cast/cast.ts'
import { type MortalWorker, startWorkerHere, startWorkerProcess, type WorkerTask } from './mortal-worker.ts'
import type { DemoPlace } from './place.ts'
import { type EffectsReceiver, startEffectsReceiver } from './receiver.ts'
import { type DemoReview, review } from './review.ts'
import { sendAll } from './sender.ts'

export interface DemoOptions {
  readonly place: DemoPlace
  readonly orders: number
  readonly seed: number
  /** 0 for any free one. */
  readonly port: number
  readonly now_ms: () => number
  readonly onProgress: (step: Progress | null) => void
  readonly note: (text: string) => void
}

/** A demo that ran through and still serves. */
export interface RunningDemo {
  readonly paidonce: PaidOnce
  readonly port: number
  readonly review: DemoReview
  close(): Promise<void>
}

const LEASE_MS = 1_500
const DRAIN_LIMIT_MS = 60_000
/** The worker dies after so many effects, each time between doing one and saying so. */
const DEATHS_AFTER = [5, 60]

/** Lets a shop live through a bad day, with everything real: HTTP, signatures, workers, a database. */
export async function runDemo(options: DemoOptions): Promise<RunningDemo> {
  const { place, now_ms } = options
  const secret = `whsec_${randomBytes(24).toString('base64')}`
  const receiver = await startEffectsReceiver(join(place.directory, 'received.jsonl'), secret)
  const performers = await enterAll(place.secret, (name, needs) =>
    options.note(`${name} stays away: ${needs} is not installed.\n`),
  )
  const paidonce = await open(options, performers)
  const service = await startService(paidonce, {
    http: { port: options.port },
    deliver: false,
    sweep: true,
    onError: (error) => options.note(`${error instanceof Error ? error.message : error}\n`),
    writeLine: () => undefined,
  })
  const task: WorkerTask = { receiver: receiver.url, secret, lease_ms: LEASE_MS }
  const worker = new DyingWorker(() => startWorker(paidonce, place, task), receiver)
  const close = () => closeAll(worker, service, receiver, paidonce, performers)
  const began_ms = now_ms()
  try {
    await worker.start()
    const day = badDay(options.orders, options.seed, 'shop', performers)
    const sent = await sendAll(paidonce, day.steps, {
      url: `http://127.0.0.1:${service.http!.port}`,
      performers,
      concurrency: 16,
      now_ms,
      onProgress: (done) => options.onProgress({ label: 'Bad day', done, total: day.steps.length }),
    })
    await drain(paidonce, options)
    const found = await review(
      paidonce,
      {
        seed: options.seed,
        day,
        sent,
        ledger: receiver.ledger,
        workers_killed: worker.deaths,
        took_ms: now_ms() - began_ms,
      },
      new Date(now_ms()),
      (done, total) => options.onProgress({ label: 'Audit', done, total }),
    )
    options.onProgress(null)
    return {
      paidonce,
      port: service.http!.port,
      review: found,
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

async function closeAll(
  worker: DyingWorker,
  service: Service,
  receiver: EffectsReceiver,
  paidonce: PaidOnce,
  performers: readonly Performer[],
): Promise<void> {
  await service.stop()
  await worker.stop()
  await receiver.close()
  await paidonce.close()
  for (const { standIn } of performers) await standIn?.close()
}

function open({ place, note }: DemoOptions, performers: readonly Performer[]): Promise<PaidOnce> {
  const { directory, database, schema, secret } = place
  return createPaidOnce({
    mode: 'live',
    endpoints: castEndpoints(secret, performers),
    schema,
    ...(database === null ? { directory } : { database }),
    // Receipts are sent too: somebody is there to take them.
    effects: { '*': () => undefined },
    log: (_level, message) => note(`${message}\n`),
  })
}

function startWorker(paidonce: PaidOnce, place: DemoPlace, task: WorkerTask): Promise<MortalWorker> {
  return place.database === null
    ? startWorkerHere(paidonce.database, task)
    : startWorkerProcess({ url: place.database, schema: place.schema }, task)
}

/** Kills the worker while the receiver has an effect in hand and has not answered, and starts another. */
class DyingWorker {
  readonly #begin: () => Promise<MortalWorker>
  #alive: MortalWorker | null = null
  #replacing: Promise<void> = Promise.resolve()
  deaths = 0

  constructor(begin: () => Promise<MortalWorker>, receiver: EffectsReceiver) {
    this.#begin = begin
    receiver.onReceived = async (received) => {
      if (received !== DEATHS_AFTER[this.deaths]) return
      const victim = this.#alive
      if (!victim) return
      this.deaths += 1
      // The answer waits for the death: it finds nobody.
      await victim.kill()
      this.#replacing = this.#replacing.then(() => this.start())
    }
  }

  async start(): Promise<void> {
    this.#alive = await this.#begin()
  }

  async stop(): Promise<void> {
    await this.#replacing
    await this.#alive?.stop()
  }
}

/**
 * Waits until every effect that is due has been delivered, those of killed workers too, and until the providers have
 * answered everything that they were asked.
 */
async function drain(paidonce: PaidOnce, options: DemoOptions): Promise<void> {
  const { database } = paidonce
  const until_ms = options.now_ms() + DRAIN_LIMIT_MS
  const now = () => new Date(options.now_ms())
  let most = 0
  for (let round = 0; options.now_ms() < until_ms; round += 1) {
    // The night passes: buyers who did not come back are asked about, and whatever else was put off.
    await hurryDemo(database, 0, now(), round === 0)
    await Promise.all([paidonce.confirms.runOnce(), paidonce.lookups.runOnce()])
    const due = await countDemoBacklog(database, 0, now())
    if (due === 0) return
    most = Math.max(most, due)
    options.onProgress({ label: 'Effects and look-ups', done: most - due, total: most })
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}
