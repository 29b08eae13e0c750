import { Fault } from '../facts/fault.ts'
import type { Endpoint } from '../providers/endpoint.ts'
import { cleanText } from '../providers/field.ts'
import { nextOperationState, type OperationEvent } from '../rules/operation-state.ts'
import type { Database } from '../store/database.ts'
import { errorCode } from '../store/driver-fault.ts'
import { inTransaction } from '../store/in-transaction.ts'
import { moveOperation, noteOperation, type OperationMove } from '../store/queries/move-operation.ts'
import type { OperationRow } from '../store/queries/operation-row.ts'
import { requestLookups } from '../store/queries/request-lookups.ts'
import { alarmsOf, closeAlarms } from './alarm.ts'

interface Said {
  readonly key: string
  /** Who says so: a name that others understand. */
  readonly actor: string
  /** The evidence, or why, in words that others understand later. */
  readonly reason: string
  readonly tenant?: string | undefined
}

export interface ResolveRequest extends Said {
  readonly outcome: 'succeeded' | 'failed'
  /** For `succeeded`: the provider's id of the refund or payment. */
  readonly provider_id?: string | undefined
}
export type RetryRequest = Said
export type ConfirmRequest = Said
export type AbandonRequest = Said

/** What people say about operations. Each word is kept with who said it and why. */
export class People {
  readonly #database: Database
  readonly #endpoints: ReadonlyMap<string, Endpoint>
  readonly #now_ms: () => number

  constructor(database: Database, endpoints: ReadonlyMap<string, Endpoint>, now_ms: () => number) {
    this.#database = database
    this.#endpoints = endpoints
    this.#now_ms = now_ms
  }

  async resolve(bucket: number, row: OperationRow, request: ResolveRequest): Promise<void> {
    const { outcome, provider_id } = request
    if (outcome === 'failed') {
      await this.#say(bucket, row, request, 'failed', 'say_failed', { code: 'said_failed' })
      return
    }
    if (provider_id === undefined || cleanText(provider_id) === undefined)
      throw new Fault('operation_invalid', "Give the provider's id of the refund or payment that you found.")
    await this.#say(bucket, row, request, 'succeeded', 'say_succeeded', {
      code: 'said_succeeded',
      provider_id,
    })
    await this.#askAbout(bucket, row, row.kind === 'refund' ? row.provider_payment_id : provider_id)
  }

  async retry(bucket: number, row: OperationRow, request: RetryRequest): Promise<void> {
    const due_at = new Date(this.#now_ms())
    if (row.state === 'planned') {
      await this.#say(bucket, row, request, 'retry', null, { due_at })
      return
    }
    // Nothing was sent under the attempt of a superseded one, so it goes on with it.
    const attempt = row.state === 'superseded' ? row.attempt : row.attempt + 1
    await this.#say(bucket, row, request, 'retry', 'retry', { due_at, attempt })
  }

  async confirm(bucket: number, row: OperationRow, request: ConfirmRequest): Promise<void> {
    if (row.state !== 'planned') throw refused(row, 'confirmed')
    await this.#say(bucket, row, request, 'confirmed', null, {
      due_at: new Date(this.#now_ms()),
      confirmed: true,
    })
  }

  async abandon(bucket: number, row: OperationRow, request: AbandonRequest): Promise<void> {
    await this.#say(bucket, row, request, 'abandoned', 'abandon', { code: 'abandoned' })
  }

  /** @param event null where the state stays and only what was said counts */
  async #say(
    bucket: number,
    row: OperationRow,
    { actor, reason }: Said,
    said: string,
    event: OperationEvent | null,
    change: Partial<OperationMove>,
  ): Promise<void> {
    const words = worded(reason, 'reason')
    const name = worded(actor, 'actor')
    const state = event === null ? row.state : nextOperationState(row.state, event)
    if (state === null) throw refused(row, said)
    const now = new Date(this.#now_ms())
    await inTransaction(this.#database, async (tx) => {
      const moved = await moveOperation(tx, bucket, now, {
        id: row.id,
        from: [row.state],
        state,
        // Whoever has it in hand loses it; what comes of a request that is under way counts all the same.
        token: null,
        lease: null,
        due_at: null,
        code: '',
        reason: words.slice(0, 500),
        attempt: row.attempt,
        afresh: true,
        ...change,
      })
      if (!moved) throw refused(row, said)
      await noteOperation(tx, bucket, now, { id: row.id, said, actor: name, words })
      const stands = alarmsOf({ ...row, state, due_at: change.due_at ?? null })
      await closeAlarms(tx, bucket, now, row, (kind) => said !== 'failed' && stands(kind))
    }).catch((error: unknown) => {
      throw errorCode(error) === UNIQUE_VIOLATION ? anotherCharge(row) : error
    })
  }

  /** The money counts when the provider's own word of it comes. */
  async #askAbout(bucket: number, row: OperationRow, payment: string): Promise<void> {
    const provider = this.#endpoints.get(row.endpoint)?.provider
    if (!provider?.lookup || !provider.capabilities.lookup_by_payment) return
    const { tenant, namespace, account, endpoint } = row
    const now = new Date(this.#now_ms())
    await requestLookups(this.#database, bucket, now, [
      {
        tenant,
        namespace,
        account,
        object: 'payment',
        object_id: payment,
        endpoint,
        asked_by: 'person',
        due_at: now,
      },
    ])
  }
}

function worded(text: string, name: string): string {
  const words = cleanText(text)
  if (words !== undefined) return words
  throw new Fault('operation_invalid', `Say who and why: \`${name}\` is blank.`)
}

const UNIQUE_VIOLATION = '23505'

function anotherCharge({ operation_key, order_ref }: OperationRow): Fault {
  return new Fault(
    'operation_refused',
    `Another charge of order ${order_ref} is not resolved yet, so ${operation_key} cannot begin again. \`paidonce operations list --order ${order_ref}\` shows it.`,
  )
}

function refused(row: OperationRow, said: string): Fault {
  return new Fault(
    'operation_refused',
    `Operation ${row.operation_key} is ${row.state.replace('_', ' ')}, so it cannot be ${said === 'retry' ? 'retried' : `said to be ${said}`}. Look at it: \`paidonce operations show ${row.operation_key}\`.`,
  )
}
