import { setTimeout as pause } from 'node:timers/promises'
import { Fault } from '../facts/fault.ts'
import type { LookupRequest } from '../facts/lookup.ts'
import type { Ask } from '../providers/ask.ts'
import type { Endpoint } from '../providers/endpoint.ts'
import type { Expected, LookupAnswer } from '../providers/lookup.ts'
import { settleItem } from '../settle/item.ts'
import { Rounds } from '../settle/rounds.ts'
import type { Settler } from '../settle/settler.ts'
import type { Database } from '../store/database.ts'
import { movedOn } from '../store/driver-fault.ts'
import { inTransaction } from '../store/in-transaction.ts'
import { finishLookup, type LookupEnd, readLookupAnswers } from '../store/queries/finish-lookup.ts'
import { type LeasedLookup, leaseLookup, leaseLookups } from '../store/queries/lease-lookups.ts'
import { findLastAnswer, putOffLookup } from '../store/queries/put-off-lookup.ts'
import { requestLookups, type WantedLookup, wantedLookup } from '../store/queries/request-lookups.ts'
import { AccountGates } from './account-gate.ts'
import { loadExpected } from './expected.ts'
import { closeLookupFailure, raiseLookupFailure } from './lookup-failure.ts'
import { nextAsking } from './next-asking.ts'

export interface LookupWorkerOptions {
  /** How often to look for questions that are due, milliseconds. Default 1,000. */
  readonly poll_ms?: number
  /** Questions that are asked at once. Default 8. */
  readonly batch?: number
  /** So long after a crash is a question asked again, milliseconds. Default 60,000. */
  readonly lease_ms?: number
  /** How long one request may take, milliseconds. Default 10,000. */
  readonly limit_ms?: number
  /** A question for a buyer who comes back waits until the last answer about it is so old, milliseconds. Default 1,000. */
  readonly return_pause_ms?: number
  /** Say when the next request to an account may be sent. Default: some of its own. */
  readonly gates?: AccountGates
  /** Hears what went wrong and was handled. Must not throw. */
  readonly onError?: (error: unknown) => void
}

/**
 * Asks providers about what is only half known, outside any transaction, and settles the answers: each is stored in the
 * transaction that settles its facts, and is their witness. Any number of processes may do this on one database.
 */
export class LookupWorker {
  readonly #database: Database
  readonly #settler: Settler
  readonly #endpoints: ReadonlyMap<string, Endpoint>
  readonly #buckets: number
  readonly #ask: Ask
  readonly #now_ms: () => number
  readonly #options: Required<LookupWorkerOptions>
  readonly #rounds: Rounds<number>

  /** @param now_ms the clock, Unix milliseconds */
  constructor(
    settler: Settler,
    endpoints: ReadonlyMap<string, Endpoint>,
    buckets: number,
    ask: Ask,
    now_ms: () => number,
    options: LookupWorkerOptions = {},
  ) {
    this.#database = settler.context.database
    this.#settler = settler
    this.#endpoints = endpoints
    this.#buckets = buckets
    this.#ask = ask
    this.#now_ms = now_ms
    this.#options = {
      poll_ms: options.poll_ms ?? 1_000,
      batch: options.batch ?? 8,
      lease_ms: options.lease_ms ?? 60_000,
      limit_ms: options.limit_ms ?? 10_000,
      return_pause_ms: options.return_pause_ms ?? 1_000,
      gates: options.gates ?? new AccountGates(),
      onError: options.onError ?? (() => undefined),
    }
    this.#rounds = new Rounds(() => this.#round(), this.#options.poll_ms, this.#options.onError)
  }

  /** Looks for questions again and again until `stop`. */
  start(): void {
    this.#rounds.start()
  }

  /** Starts no further round and waits for the one that runs. */
  stop(): Promise<void> {
    return this.#rounds.stop()
  }

  /** Asks everything that is due now, once. Gives how many questions were asked. */
  runOnce(): Promise<number> {
    return this.#rounds.runOnce()
  }

  async #round(): Promise<number> {
    const { batch: limit } = this.#options
    let asked = 0
    // One batch of each bucket in turn: a tenant with endless questions must not keep the others waiting.
    for (let more = true; more && !this.#rounds.stopped; ) {
      more = false
      for (let bucket = 0; bucket < this.#buckets && !this.#rounds.stopped; bucket += 1) {
        const leased = await leaseLookups(this.#database, bucket, { ...this.#lease(), limit })
        await Promise.all(leased.map((question) => this.#answer(bucket, question)))
        asked += leased.length
        more ||= leased.length === limit
      }
    }
    return asked
  }

  /**
   * Asks about one object at once, for somebody who waits. Gives the outcome, or null when it did not come within
   * `limit_ms`; it is settled all the same when it comes.
   */
  async askNow(
    endpoint: Endpoint,
    request: LookupRequest,
    asked_by: WantedLookup['asked_by'],
    limit_ms: number,
  ): Promise<LookupAnswer['outcome'] | null> {
    const asked = this.#askFor(endpoint, request, asked_by)
    asked.catch((error) => this.#options.onError(error))
    return Promise.race([asked, pause(limit_ms).then(() => null)])
  }

  async #askFor(
    endpoint: Endpoint,
    request: LookupRequest,
    asked_by: WantedLookup['asked_by'],
  ): Promise<LookupAnswer['outcome'] | null> {
    if (asked_by === 'return') await this.#restAfterAnswer(endpoint, request)
    const now = new Date(this.#now_ms())
    const [id] = await requestLookups(this.#database, endpoint.bucket, now, [
      wantedLookup(endpoint, request, asked_by, now),
    ])
    return this.#askOne(endpoint.bucket, id!)
  }

  /** Buyers reload their page; the provider need not hear of it each time. */
  async #restAfterAnswer(endpoint: Endpoint, request: LookupRequest): Promise<void> {
    const now = new Date(this.#now_ms())
    const key = wantedLookup(endpoint, request, 'return', now)
    const last = await findLastAnswer(this.#database, endpoint.bucket, key)
    const rest_ms =
      last === null ? 0 : last.answered_at.getTime() + this.#options.return_pause_ms - now.getTime()
    if (rest_ms > 0) await pause(Math.min(rest_ms, this.#options.return_pause_ms))
  }

  async #askOne(bucket: number, id: bigint): Promise<LookupAnswer['outcome'] | null> {
    const before = await readLookupAnswers(this.#database, bucket, id)
    const leased = await leaseLookup(this.#database, bucket, id, this.#lease())
    if (leased) return this.#answer(bucket, leased)
    // Somebody else has it in hand.
    const until_ms = this.#now_ms() + this.#options.limit_ms
    while (this.#now_ms() < until_ms && !this.#rounds.stopped) {
      await pause(100)
      if ((await readLookupAnswers(this.#database, bucket, id)) !== before) return 'found'
    }
    return null
  }

  #lease() {
    const now_ms = this.#now_ms()
    return { now: new Date(now_ms), lease_until: new Date(now_ms + this.#options.lease_ms) }
  }

  async #answer(bucket: number, question: LeasedLookup): Promise<LookupAnswer['outcome'] | null> {
    const asked_at = new Date(this.#now_ms())
    const endpoint = this.#endpoints.get(question.endpoint)
    const gate = this.#options.gates.of(question)
    const wait_until_ms = endpoint?.provider.lookup ? gate.admit(asked_at.getTime()) : null
    if (wait_until_ms !== null) {
      await putOffLookup(this.#database, bucket, question, new Date(wait_until_ms))
      return null
    }
    const answer = await this.#fetch(bucket, endpoint, question)
    gate.heard(answer, this.#now_ms())
    const next = nextAsking(
      question,
      answer,
      this.#now_ms(),
      endpoint?.provider.capabilities.read_lag_ms ?? 0,
    )
    const end: LookupEnd = {
      id: question.id,
      number: question.answers + 1,
      wanted: question.wanted,
      asked_at,
      outcome: answer.outcome,
      reason: 'reason' in answer ? answer.reason.slice(0, 500) : '',
      facts: answer.outcome === 'found' ? answer.facts.length : 0,
      due_at: next.due_at,
      done: answer.outcome === 'found',
    }
    try {
      await this.#store(bucket, endpoint, question, answer, end)
      if (next.alarming) await raiseLookupFailure(this.#database, bucket, question, end, this.#now_ms())
      else if (answer.outcome === 'found')
        await closeLookupFailure(this.#database, bucket, question, this.#now_ms())
    } catch (error) {
      // Another worker answered first, since our lease had run out; its answer stands.
      if (!overtaken(error)) this.#options.onError(error)
    }
    return answer.outcome
  }

  async #fetch(
    bucket: number,
    endpoint: Endpoint | undefined,
    question: LeasedLookup,
  ): Promise<LookupAnswer> {
    const provider = endpoint?.provider
    if (provider?.namespace !== question.namespace || provider.account !== question.account) {
      return {
        outcome: 'refused',
        reason: `no endpoint ${question.endpoint} of ${question.namespace}/${question.account} is configured`,
      }
    }
    if (!provider.lookup)
      return {
        outcome: 'refused',
        reason: `endpoint ${question.endpoint} has no API credentials to ask with`,
      }
    const { limit_ms, lease_ms } = this.#options
    const context = { now_ms: this.#now_ms(), ask: this.#ask, limit_ms }
    const { object, object_id: id } = question
    try {
      const expected: Expected | null = await loadExpected(this.#database, bucket, question)
      if (object !== BY_REFERENCE)
        return patient(await within(lease_ms, provider.lookup.fetch({ object, id }, expected, context)))
      if (!provider.lookup.find)
        return { outcome: 'refused', reason: `${provider.provider} finds nothing by our reference` }
      return patient(await within(lease_ms, provider.lookup.find(id, expected, context)))
    } catch (error) {
      return { outcome: 'unavailable', reason: reasonOf(error) }
    }
  }

  /** What was found is settled together with its answer; everything else is only noted. */
  async #store(
    bucket: number,
    endpoint: Endpoint | undefined,
    question: LeasedLookup,
    answer: LookupAnswer,
    end: LookupEnd,
  ): Promise<void> {
    const now = new Date(this.#now_ms())
    if (answer.outcome !== 'found' || !endpoint) {
      await inTransaction(this.#database, (tx) => finishLookup(tx, bucket, now, end))
      return
    }
    const lookups = (answer.lookups ?? []).map((request) => wantedLookup(endpoint, request, 'event', now))
    const source = { kind: 'lookup', id: question.id, version: end.number } as const
    const { tenant } = question
    await this.#settler.settleOne(
      bucket,
      settleItem({ tenant, source, facts: answer.facts, lookups, answers: end }),
    )
  }
}

/** The object of a question for whatever belongs to an order reference of ours; no provider's own word begins so. */
export const BY_REFERENCE = '@reference'

function overtaken(error: unknown): boolean {
  const cause = error instanceof Fault ? error.cause : error
  return movedOn(cause)
}

/** A provider that asks for more patience than this is asked all the same, milliseconds. */
const LONGEST_WAIT_MS = 3_600_000

function patient(answer: LookupAnswer): LookupAnswer {
  if (answer.outcome !== 'unavailable' || answer.retry_after_ms === undefined) return answer
  return { ...answer, retry_after_ms: Math.min(answer.retry_after_ms, LONGEST_WAIT_MS) }
}

/** What is no Fault was not meant to be read: its message may quote what was sent or answered. */
function reasonOf(error: unknown): string {
  if (error instanceof Fault) return error.message
  return `asking failed with ${error instanceof Error ? error.name : 'a thrown value'}`
}

/** One question that is never answered must not hold up the others; after the lease somebody else may ask it. */
async function within(limit_ms: number, answer: LookupAnswer | Promise<LookupAnswer>): Promise<LookupAnswer> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<LookupAnswer>((resolve) => {
    const unavailable = { outcome: 'unavailable', reason: `no answer came within ${limit_ms} ms` } as const
    timer = setTimeout(() => resolve(unavailable), limit_ms)
  })
  try {
    return await Promise.race([answer, late])
  } finally {
    clearTimeout(timer)
  }
}
