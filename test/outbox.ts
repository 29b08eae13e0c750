import { EffectsWorker, type EffectsWorkerOptions } from '../src/effects/worker.ts'
import type { Database } from '../src/store/database.ts'
import { insertEffects, type NewEffect } from '../src/store/queries/insert-effects.ts'

/** A clock that stands still until it is moved. */
export class StandingClock {
  #now_ms = Date.UTC(2026, 0, 2, 12)

  readonly now_ms = (): number => this.#now_ms

  now(): Date {
    return new Date(this.#now_ms)
  }

  advance(by_ms: number): void {
    this.#now_ms += by_ms
  }
}

type Due = Partial<NewEffect> & { readonly order: number }

/** A receipt, or another one-shot, of order number `order`. */
export function oneShot({ order, ...given }: Due): NewEffect {
  return {
    tenant: 'default',
    subject_kind: 'order',
    subject_id: BigInt(order),
    subject_key: `A-${order}`,
    seq: 1n,
    revision: 0n,
    topic: 'receipt.due',
    item: '-',
    cause: 'order',
    lane: 'messages',
    available_at: new Date(0),
    payload: JSON.stringify({ order: `A-${order}` }),
    ...given,
  }
}

/** "Set the item of this order to revision n". */
export function level({ order, ...given }: Due & { readonly revision: bigint }): NewEffect {
  const cause = `revision-${given.revision}`
  const payload = JSON.stringify({ order: `A-${order}`, revision: Number(given.revision) })
  return {
    ...oneShot({ order }),
    topic: 'entitlement.changed',
    item: 'course',
    cause,
    lane: 'access',
    seq: given.revision,
    payload,
    ...given,
  }
}

export async function put(db: Database, ...effects: readonly NewEffect[]): Promise<void> {
  await insertEffects(db, 0, new Date(Date.UTC(2026, 0, 2)), effects)
}

export interface OutboxRow {
  readonly id: bigint
  readonly order: string
  readonly topic: string
  readonly item: string
  readonly cause: string
  readonly lane: string
  readonly seq: bigint
  readonly revision: bigint
  readonly state: string
  readonly attempts: number
  readonly last_error: string
  readonly available_at: Date
  readonly leased: boolean
}

const READ = {
  name: 'test-outbox',
  text: `select id, subject_key as order, topic, item, cause, lane, seq, revision, state, attempts, last_error, available_at,
    lease_token is not null as leased from effects order by id`,
}

export function outbox(db: Database): Promise<OutboxRow[]> {
  return db.query<OutboxRow>(READ)
}

/** The states of all rows, in the order of their ids. */
export async function states(db: Database): Promise<string[]> {
  return (await outbox(db)).map((row) => row.state)
}

const EXCEPTIONS = {
  name: 'test-exceptions',
  text: `select subject_kind, subject_key, kind, state, occurrence, severity, message from exceptions order by id`,
}

export interface ExceptionRow {
  readonly subject_kind: string
  readonly subject_key: string
  readonly kind: string
  readonly state: string
  readonly occurrence: number
  readonly severity: string
  readonly message: string
}

export function exceptions(db: Database): Promise<ExceptionRow[]> {
  return db.query<ExceptionRow>(EXCEPTIONS)
}

/** A worker of a standing clock, without chance. Its errors are gathered in `errors`. */
export function standingWorker(
  clock: StandingClock,
  options: Pick<EffectsWorkerOptions, 'database' | 'deliverer'> & Partial<EffectsWorkerOptions>,
) {
  const errors: unknown[] = []
  const worker = new EffectsWorker({
    now_ms: clock.now_ms,
    random: () => 0.5,
    onError: (error) => errors.push(error),
    ...options,
  })
  return Object.assign(worker, { errors })
}

/** A promise with its ends in hand. */
export function gate<T = void>() {
  let open!: (value: T) => void
  const opened = new Promise<T>((resolve) => {
    open = resolve
  })
  return { open, opened }
}
