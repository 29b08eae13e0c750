import { hash } from 'node:crypto'
import { Fault } from '../facts/fault.ts'
import type { Ask } from '../providers/ask.ts'
import type { Delivery } from '../providers/contract.ts'
import type { Endpoint } from '../providers/endpoint.ts'
import { Rounds } from '../settle/rounds.ts'
import type { Settler } from '../settle/settler.ts'
import type { Database } from '../store/database.ts'
import { openExceptions } from '../store/exception-alerts.ts'
import { inTransaction } from '../store/in-transaction.ts'
import { keepUnconfirmed } from '../store/queries/keep-unconfirmed.ts'
import {
  deleteUnconfirmed,
  type LeasedMessage,
  leaseUnconfirmed,
  postponeUnconfirmed,
} from '../store/queries/lease-unconfirmed.ts'
import type { ReceiveObserver } from './receiver.ts'
import { storedHeaders, translateDelivery } from './translate-delivery.ts'

/** Stores a message that its provider has to confirm; a Fault when it cannot be taken now. */
export type KeepUnconfirmed = (
  endpoint: Endpoint,
  delivery: Delivery,
  received_at: Date,
) => Promise<'kept' | Fault>

/** Messages of one endpoint that may wait for their confirmation. */
export const UNCONFIRMED_MAX = 10_000

export function keeperOfUnconfirmed(database: Database, limit = UNCONFIRMED_MAX): KeepUnconfirmed {
  return async (endpoint, delivery, received_at) => {
    const message = {
      tenant: endpoint.tenant,
      endpoint: endpoint.name,
      digest: hash('sha256', delivery.body, 'buffer'),
      headers: storedHeaders(endpoint, delivery) ?? '{}',
      body: delivery.body,
    }
    try {
      if (await keepUnconfirmed(database, endpoint.bucket, received_at, message, limit)) return 'kept'
      return new Fault(
        'queue_full',
        `${limit} messages of endpoint ${endpoint.name} wait for the provider's confirmation. Deliver again later.`,
        { retriable: true },
      )
    } catch (error) {
      if (error instanceof Fault) return error
      const message = 'The message could not be stored. Deliver again.'
      return new Fault('settle_failed', message, { retriable: true, cause: error })
    }
  }
}

export interface ConfirmWorkerOptions {
  /** How often to look for messages that are due, milliseconds. Default 1,000. */
  readonly poll_ms?: number
  /** Messages that are asked about at once. Default 8. */
  readonly batch?: number
  /** So long after a crash is a message asked about again, milliseconds. Default 60,000. */
  readonly lease_ms?: number
  /** How long one request may take, milliseconds. Default 10,000. */
  readonly limit_ms?: number
  /** Tries without an answer after which a person is told; it goes on asking. Default 6. */
  readonly alert_after?: number
  /** Hears what went wrong and was handled. Must not throw. */
  readonly onError?: (error: unknown) => void
}

/**
 * Asks providers whether they sent what waits unconfirmed (PayPal's IPN). What they confirm is settled like any delivery;
 * what they disown is counted as refused and let go.
 */
export class ConfirmWorker {
  readonly #database: Database
  readonly #settler: Settler
  readonly #endpoints: ReadonlyMap<string, Endpoint>
  readonly #buckets: number
  readonly #ask: Ask
  readonly #now_ms: () => number
  readonly #observer: Pick<ReceiveObserver, 'refused' | 'verified'>
  readonly #options: Required<ConfirmWorkerOptions>
  readonly #rounds: Rounds<number>

  /** @param now_ms the clock, Unix milliseconds */
  constructor(
    settler: Settler,
    endpoints: ReadonlyMap<string, Endpoint>,
    buckets: number,
    ask: Ask,
    now_ms: () => number,
    observer: Pick<ReceiveObserver, 'refused' | 'verified'>,
    options: ConfirmWorkerOptions = {},
  ) {
    this.#database = settler.context.database
    this.#settler = settler
    this.#endpoints = endpoints
    this.#buckets = buckets
    this.#ask = ask
    this.#now_ms = now_ms
    this.#observer = observer
    this.#options = {
      poll_ms: options.poll_ms ?? 1_000,
      batch: options.batch ?? 8,
      lease_ms: options.lease_ms ?? 60_000,
      limit_ms: options.limit_ms ?? 10_000,
      alert_after: options.alert_after ?? 6,
      onError: options.onError ?? (() => undefined),
    }
    this.#rounds = new Rounds(() => this.#round(), this.#options.poll_ms, this.#options.onError)
  }

  /** Looks for messages again and again until `stop`. */
  start(): void {
    this.#rounds.start()
  }

  /** Starts no further round and waits for the one that runs. */
  stop(): Promise<void> {
    return this.#rounds.stop()
  }

  /** Asks about everything that is due now, once. Gives how many messages were asked about. */
  runOnce(): Promise<number> {
    return this.#rounds.runOnce()
  }

  async #round(): Promise<number> {
    const { batch: limit, lease_ms } = this.#options
    let asked = 0
    // One batch of each bucket in turn: whoever floods one tenant's endpoint must not keep the others waiting.
    for (let more = true; more && !this.#rounds.stopped; ) {
      more = false
      for (let bucket = 0; bucket < this.#buckets && !this.#rounds.stopped; bucket += 1) {
        const now_ms = this.#now_ms()
        const lease = { now: new Date(now_ms), lease_until: new Date(now_ms + lease_ms) }
        const leased = await leaseUnconfirmed(this.#database, bucket, { ...lease, limit })
        await Promise.all(leased.map((message) => this.#decide(bucket, message)))
        asked += leased.length
        more ||= leased.length === limit
      }
    }
    return asked
  }

  async #decide(bucket: number, message: LeasedMessage): Promise<void> {
    try {
      const endpoint = this.#endpoints.get(message.endpoint)
      if (!endpoint?.provider.confirm) {
        const reason = `no endpoint ${message.endpoint} is configured that can ask for a confirmation`
        throw new Fault('config_invalid', reason)
      }
      const delivery = asDelivery(message)
      const { limit_ms } = this.#options
      const context = { now_ms: this.#now_ms(), ask: this.#ask, limit_ms }
      const verdict = await endpoint.provider.confirm(delivery, context)
      if (verdict.refused) this.#observer.refused(endpoint.name, verdict)
      else {
        this.#observer.verified(endpoint, verdict.secret_label)
        await this.#settler.settleOne(
          bucket,
          translateDelivery(endpoint, delivery, verdict, message.received_at),
        )
      }
      // After the settling: should this be lost, the message is asked about again and is a duplicate then.
      await deleteUnconfirmed(this.#database, bucket, message.id)
    } catch (error) {
      this.#options.onError(error)
      await this.#putOff(bucket, message, error).catch((again) => this.#options.onError(again))
    }
  }

  async #putOff(bucket: number, message: LeasedMessage, error: unknown): Promise<void> {
    const now_ms = this.#now_ms()
    const pause_ms = Math.min(5_000 * 2 ** Math.min(message.attempts - 1, 20), 3_600_000)
    await postponeUnconfirmed(this.#database, bucket, message.id, new Date(now_ms + pause_ms))
    if (message.attempts < this.#options.alert_after) return
    // What is no Fault may quote the message.
    const why = error instanceof Fault ? error.message : `it failed with ${nameOf(error)}`
    const now = new Date(now_ms)
    await inTransaction(this.#database, (tx) =>
      openExceptions(tx, bucket, now, [
        {
          tenant: message.tenant,
          subject_kind: 'endpoint',
          subject_id: 0n,
          subject_key: message.endpoint,
          kind: 'confirmation_failed',
          cause: '-',
          origin: 'receive',
          severity: 'urgent',
          message: `Messages of endpoint ${message.endpoint} wait for the provider to confirm that it sent them (${why.slice(0, 300)}). Nothing of them is believed before. It is asked again and again: look at the provider's status page, and whether this machine may reach it.`,
          alert_at: now,
        },
      ]),
    )
  }
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : 'a thrown value'
}

function asDelivery({ headers, body }: LeasedMessage): Delivery {
  const given = Object.entries(headers).filter(([, value]) => value !== null)
  return { method: 'POST', headers: Object.fromEntries(given) as Delivery['headers'], body }
}
