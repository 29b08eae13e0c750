import type { Fact } from '../facts/fact.ts'
import type { LookupRequest } from '../facts/lookup.ts'
import type { Ask } from '../providers/ask.ts'
import type { IdempotencyRules } from '../providers/capability.ts'
import type { Endpoint } from '../providers/endpoint.ts'
import type { Lookup, LookupAnswer, LookupContext } from '../providers/lookup.ts'
import { settleItem } from '../settle/item.ts'
import type { Settler } from '../settle/settler.ts'
import type { Transaction } from '../store/database.ts'
import { inTransaction } from '../store/in-transaction.ts'
import { listOperationRequests } from '../store/queries/find-operation.ts'
import type { OperationEnd } from '../store/queries/finish-operation.ts'
import { moveOperation, type OperationMove } from '../store/queries/move-operation.ts'
import type { OperationRow } from '../store/queries/operation-row.ts'
import { alarmsOf, closeAlarms, failedMessage, heldMessage, raiseOperation, unknownMessage } from './alarm.ts'

/** Asks a provider about one object now and settles the answer; null when none came in time. */
export type LookNow = (
  endpoint: Endpoint,
  request: LookupRequest,
  limit_ms: number,
) => Promise<LookupAnswer['outcome'] | null>

export type PerformBoundary = 'looked' | 'begun' | 'answered' | 'stored'

export interface PerformContext {
  readonly settler: Settler
  readonly endpoints: ReadonlyMap<string, Endpoint>
  readonly ask: Ask
  readonly now_ms: () => number
  readonly look: LookNow
  readonly lease_ms: number
  readonly limit_ms: number
  readonly alert_after_ms: number
  readonly onError: (error: unknown) => void
  readonly onBoundary: ((boundary: PerformBoundary, row: OperationRow) => Promise<void> | void) | undefined
}

/** Who is asked, by which rules. */
export interface Counterpart {
  readonly endpoint: Endpoint
  readonly lookup: Lookup
  readonly rules: IdempotencyRules
}

const MINUTE_MS = 60_000
export const HOUR_MS = 60 * MINUTE_MS
/** A set-up that a person has to mend is tried again after so long. */
export const MENDED_MS = 15 * MINUTE_MS

export type Step = Omit<OperationMove, 'id' | 'token' | 'attempt' | 'lease'> & {
  readonly attempt?: number
  readonly keeps_lease?: boolean
}

/** What every step of an operation needs: who is asked, the clock, the tables, people. */
export class Workbench {
  readonly context: PerformContext

  constructor(context: PerformContext) {
    this.context = context
  }

  /** The authoritative look-up, where the provider has one. Null when it came through, else why not. */
  async lookAround(
    bucket: number,
    row: OperationRow,
    { endpoint, lookup }: Counterpart,
  ): Promise<string | null> {
    const { capabilities } = endpoint.provider
    if (row.kind === 'refund') {
      if (!capabilities.lookup_by_payment) return null
      const request = { object: 'payment', id: row.provider_payment_id }
      const outcome = await this.context.look(endpoint, request, this.context.limit_ms)
      return outcome === 'found'
        ? null
        : `the payment could not be looked up (${outcome ?? 'no answer in time'})`
    }
    if (!capabilities.lookup_by_reference || !lookup.find) return null
    const answer = await lookup
      .find(row.order_ref, null, this.lookupContext())
      .catch((): LookupAnswer => ({ outcome: 'unavailable', reason: 'the look-up failed' }))
    if (answer.outcome === 'not_found') return null
    if (answer.outcome !== 'found') return `the order could not be looked up (${answer.reason})`
    const requests = await listOperationRequests(this.database, bucket, row.id)
    if (answer.facts.length > 0) await this.settle(bucket, row, requests.at(-1)?.number ?? 0, answer.facts)
    return null
  }

  async settle(
    bucket: number,
    row: OperationRow,
    version: number,
    facts: readonly Fact[],
    operation?: OperationEnd,
  ): Promise<void> {
    const source = { kind: 'operation', id: row.id, version } as const
    await this.context.settler.settleOne(bucket, settleItem({ tenant: row.tenant, source, facts, operation }))
  }

  /** The endpoint, its API and its rules; in words what is missing. */
  counterpart(row: OperationRow): Counterpart | string {
    const endpoint = this.context.endpoints.get(row.endpoint)
    const provider = endpoint?.provider
    if (!endpoint || provider?.namespace !== row.namespace || provider.account !== row.account)
      return `no endpoint ${row.endpoint} of ${row.namespace}/${row.account} is configured`
    const rules = provider.capabilities.idempotency[row.kind]
    if (!provider.lookup?.[row.kind] || rules === null)
      return `endpoint ${row.endpoint} has no API credentials to ask for a ${row.kind} with`
    return { endpoint, lookup: provider.lookup, rules }
  }

  async putOff(
    bucket: number,
    row: OperationRow,
    code: string,
    reason: string,
    pause_ms: number,
  ): Promise<void> {
    await inTransaction(this.database, async (tx) => {
      const moved = await this.move(tx, bucket, row, this.waiting(row, code, reason, pause_ms))
      if (moved && this.context.now_ms() - row.created_at.getTime() > this.context.alert_after_ms)
        await raiseOperation(tx, bucket, this.now(), row, 'operation_failed', heldMessage(row, reason))
    })
  }

  waiting(row: OperationRow, code: string, reason: string, pause_ms: number): Step {
    return { state: row.state, from: [row.state], due_at: this.after(pause_ms), code, reason }
  }

  async stayUnknown(bucket: number, row: OperationRow, reason: string, pause_ms: number): Promise<void> {
    await inTransaction(this.database, async (tx) => {
      const moved = await this.move(tx, bucket, row, this.waiting(row, row.code, reason, pause_ms))
      if (moved) await this.alertIfLong(tx, bucket, row, reason)
    })
  }

  async hold(bucket: number, row: OperationRow, reason: string): Promise<void> {
    await inTransaction(this.database, async (tx) => {
      const step = {
        state: 'unknown',
        from: ['unknown'],
        due_at: null,
        code: 'waits_for_person',
        reason,
      } as const
      if (await this.move(tx, bucket, row, step))
        await raiseOperation(
          tx,
          bucket,
          this.now(),
          row,
          'operation_unknown',
          unknownMessage(row, reason, true),
        )
    })
  }

  async alertIfLong(tx: Transaction, bucket: number, row: OperationRow, reason: string): Promise<void> {
    const since_ms = row.unknown_since?.getTime() ?? this.context.now_ms()
    if (this.context.now_ms() - since_ms < this.context.alert_after_ms) return
    await raiseOperation(tx, bucket, this.now(), row, 'operation_unknown', unknownMessage(row, reason, false))
  }

  /** It is over: what was raised about it is closed. A refund that failed at the provider is told. */
  async tidy(bucket: number, row: OperationRow): Promise<void> {
    await inTransaction(this.database, async (tx) => {
      const step = { state: row.state, from: [row.state], due_at: null, code: row.code, reason: row.reason }
      if (!(await this.move(tx, bucket, row, step))) return
      await closeAlarms(tx, bucket, this.now(), row, alarmsOf({ ...row, due_at: null }))
      if (row.state === 'failed_definitive' && row.kind === 'refund')
        await raiseOperation(tx, bucket, this.now(), row, 'operation_failed', failedMessage(row, row.reason))
    })
  }

  move(tx: Transaction, bucket: number, row: OperationRow, step: Step): Promise<boolean> {
    const { keeps_lease, ...move } = step
    return moveOperation(tx, bucket, this.now(), {
      id: row.id,
      token: row.lease_token,
      attempt: row.attempt,
      ...move,
      lease: keeps_lease === true ? row.lease_token : null,
    })
  }

  /** Twice as long each time, up to an hour. */
  pause({ tries }: OperationRow): number {
    return Math.min(5_000 * 2 ** Math.min(Math.max(tries - 1, 0), 20), HOUR_MS)
  }

  after(pause_ms: number): Date {
    return new Date(this.context.now_ms() + pause_ms)
  }

  now(): Date {
    return new Date(this.context.now_ms())
  }

  lookupContext(): LookupContext {
    const { now_ms, ask, limit_ms } = this.context
    return { now_ms: now_ms(), ask, limit_ms }
  }

  get database() {
    return this.context.settler.context.database
  }

  async reached(boundary: PerformBoundary, row: OperationRow): Promise<void> {
    await this.context.onBoundary?.(boundary, row)
  }
}
