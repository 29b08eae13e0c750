import type { Fact } from '../facts/fact.ts'
import type { Lookup, LookupContext, OperationAnswer } from '../providers/lookup.ts'
import { providerKey } from '../rules/operation-key.ts'
import { statesTaking } from '../rules/operation-state.ts'
import type { Transaction } from '../store/database.ts'
import { inTransaction } from '../store/in-transaction.ts'
import { beginOperationRequest } from '../store/queries/begin-operation.ts'
import {
  findOperationById,
  listOperationRequests,
  type OperationRequest,
} from '../store/queries/find-operation.ts'
import { finishOperation, type OperationEnd } from '../store/queries/finish-operation.ts'
import type { OperationRow } from '../store/queries/operation-row.ts'
import { failedMessage, heldMessage, raiseOperation, twiceMessage } from './alarm.ts'
import { lastLook } from './last-look.ts'
import { type Counterpart, MENDED_MS, type Workbench } from './workbench.ts'

/** Sends requests: each is written down before, and what came of it after. */
export class Sender {
  readonly #bench: Workbench

  constructor(bench: Workbench) {
    this.#bench = bench
  }

  /** The first request of an attempt, after a last look. */
  async send(bucket: number, row: OperationRow): Promise<void> {
    const asked = this.#bench.counterpart(row)
    if (typeof asked === 'string') return this.#bench.putOff(bucket, row, 'endpoint', asked, MENDED_MS)
    const looked = await this.#bench.lookAround(bucket, row, asked)
    if (looked !== null) return this.#bench.putOff(bucket, row, 'look_up', looked, this.#bench.pause(row))
    await this.#bench.reached('looked', row)
    const requests = await listOperationRequests(this.#bench.database, bucket, row.id)
    const begun = await inTransaction(this.#bench.database, async (tx) => {
      const look = await lastLook(tx, bucket, row)
      if (look.go === 'send') return this.begin(tx, bucket, row, requests, look.whole)
      if (look.go === 'wait')
        await this.#bench.move(
          tx,
          bucket,
          row,
          this.#bench.waiting(row, look.code, look.reason, this.#bench.pause(row)),
        )
      else await this.#decline(tx, bucket, row, look)
      return null
    })
    if (begun) await this.request(bucket, row, asked, begun)
  }

  /** Not needed any more, or a person has to say that it is meant. */
  async #decline(
    tx: Transaction,
    bucket: number,
    row: OperationRow,
    { go, code, reason }: { readonly go: 'hold' | 'drop'; readonly code: string; readonly reason: string },
  ): Promise<void> {
    const state = go === 'drop' ? 'superseded' : 'planned'
    const moved = await this.#bench.move(tx, bucket, row, {
      state,
      from: ['planned'],
      // What was raised while the provider could not be asked is closed in a step of its own.
      due_at: go === 'drop' && row.kind === 'charge' && row.code !== '' ? this.#bench.now() : null,
      code,
      reason,
    })
    if (!moved || (go === 'drop' && row.kind === 'charge')) return
    const message = go === 'drop' ? failedMessage(row, reason) : heldMessage(row, reason)
    await raiseOperation(tx, bucket, this.#bench.now(), row, 'operation_failed', message)
  }

  /** Writes the request down, before it is sent. Null when the operation is no longer ours. */
  async begin(
    tx: Transaction,
    bucket: number,
    row: OperationRow,
    requests: readonly OperationRequest[],
    whole: boolean,
  ): Promise<OperationRequest | null> {
    const { now_ms, lease_ms } = this.#bench.context
    // A repeat says what the first request of the attempt said.
    const first = requests.find((request) => request.attempt === row.attempt)
    const request: OperationRequest = {
      number: (requests.at(-1)?.number ?? 0) + 1,
      attempt: row.attempt,
      provider_key: providerKey(row.tenant, row.operation_key, row.attempt),
      whole: first?.whole ?? whole,
      sent_at: this.#bench.now(),
      ended_at: null,
      outcome: '',
      reason: '',
    }
    const begun = await beginOperationRequest(tx, bucket, request.sent_at, {
      id: row.id,
      token: row.lease_token!,
      from: statesTaking('send'),
      number: request.number,
      whole: request.whole,
      provider_key: request.provider_key,
      lease_until: new Date(now_ms() + lease_ms),
    })
    return begun ? request : null
  }

  async request(
    bucket: number,
    row: OperationRow,
    asked: Counterpart,
    request: OperationRequest,
  ): Promise<void> {
    await this.#bench.reached('begun', row)
    const { now_ms, lease_ms, limit_ms, ask } = this.#bench.context
    // A process may have been asleep since it wrote that down.
    if (now_ms() - request.sent_at.getTime() > lease_ms / 2) return this.holdBack(bucket, row, request)
    const context: LookupContext = { now_ms: now_ms(), ask, limit_ms }
    const answer = await askFor(asked.lookup, row, request, context).catch(
      (error: unknown): OperationAnswer => ({
        outcome: 'unknown',
        reason: error instanceof Error ? error.message : 'unknown error',
      }),
    )
    await this.#bench.reached('answered', row)
    await this.#store(bucket, row, request, answer)
    await this.#bench.reached('stored', row)
  }

  async holdBack(bucket: number, row: OperationRow, request: OperationRequest): Promise<void> {
    const before = row.state === 'unknown' ? 'unknown' : 'planned'
    await inTransaction(this.#bench.database, (tx) =>
      finishOperation(tx, bucket, this.#bench.now(), {
        ...endOf(row, request, 'it was too late to send it'),
        outcome: 'not_sent',
        state: before,
        due_at: this.#bench.now(),
      }),
    )
  }

  async #store(
    bucket: number,
    row: OperationRow,
    request: OperationRequest,
    answer: OperationAnswer,
  ): Promise<void> {
    switch (answer.outcome) {
      case 'accepted':
        return this.#accepted(bucket, row, request, answer)
      case 'declined':
        return this.#declined(bucket, row, request, answer)
      case 'unknown': {
        const pause_ms = Math.max(this.#bench.pause(row), answer.retry_after_ms ?? 0)
        const end = {
          ...endOf(row, request, answer.reason),
          outcome: 'unknown',
          state: 'unknown',
          due_at: this.#bench.after(pause_ms),
        } as const
        await inTransaction(this.#bench.database, async (tx) => {
          if (await finishOperation(tx, bucket, this.#bench.now(), end))
            await this.#bench.alertIfLong(tx, bucket, row, answer.reason)
        })
      }
    }
  }

  /** The answer and its facts are stored in one transaction, by the same settling as every webhook. */
  async #accepted(
    bucket: number,
    row: OperationRow,
    request: OperationRequest,
    { provider_id, facts }: Extract<OperationAnswer, { outcome: 'accepted' }>,
  ): Promise<void> {
    const failed = hasFailed(row, provider_id, facts)
    const operation: OperationEnd = {
      ...endOf(row, request, failed ? 'it failed at the provider' : ''),
      outcome: 'accepted',
      state: failed ? 'failed_definitive' : 'succeeded',
      from: failed ? ['in_flight', 'unknown'] : statesTaking('accept'),
      token: null,
      provider_id,
      code: failed ? 'failed_at_provider' : '',
      // What was raised about it is closed in a step of its own.
      due_at: failed || mayBeRaised(row, request) ? this.#bench.now() : null,
    }
    const known = await findOperationById(this.#bench.database, bucket, row.id)
    if (known?.state === 'succeeded' && known.provider_id !== '' && known.provider_id !== provider_id) {
      await inTransaction(this.#bench.database, (tx) =>
        raiseOperation(
          tx,
          bucket,
          this.#bench.now(),
          row,
          'operation_unknown',
          twiceMessage(row, known.provider_id, provider_id),
          'twice',
        ),
      )
    }
    await this.#bench.settle(bucket, row, request.number, facts, operation)
  }

  async #declined(
    bucket: number,
    row: OperationRow,
    request: OperationRequest,
    { code, reason }: Extract<OperationAnswer, { outcome: 'declined' }>,
  ): Promise<void> {
    const end = {
      ...endOf(row, request, reason),
      outcome: 'declined',
      state: 'failed_definitive',
      from: statesTaking('decline'),
      code,
      due_at: mayBeRaised(row, request) ? this.#bench.now() : null,
    } as const
    await inTransaction(this.#bench.database, async (tx) => {
      if (!(await finishOperation(tx, bucket, this.#bench.now(), end)) || row.kind === 'charge') return
      await raiseOperation(
        tx,
        bucket,
        this.#bench.now(),
        row,
        'operation_failed',
        failedMessage(row, `${reason} (${code})`),
      )
    })
  }
}

function endOf(row: OperationRow, request: OperationRequest, reason: string) {
  return {
    id: row.id,
    number: request.number,
    from: ['in_flight'],
    token: row.lease_token,
    provider_id: '',
    code: '',
    reason: reason.slice(0, 500),
  }
}

/** It did not go smoothly so far, so that a person may have been told. */
function mayBeRaised(row: OperationRow, request: OperationRequest): boolean {
  return request.number > 1 || row.code !== ''
}

/** A refund or payment that the provider made and that came to nothing at once. */
function hasFailed(row: OperationRow, provider_id: string, facts: readonly Fact[]): boolean {
  const reached = new Set(
    facts.flatMap((fact) => {
      if (row.kind === 'refund' && fact.kind === 'refund_milestone' && fact.content.refund === provider_id)
        return [fact.content.milestone as string]
      return row.kind === 'charge' && fact.kind === 'payment_milestone'
        ? [fact.content.milestone as string]
        : []
    }),
  )
  if (['succeeded', 'authorized', 'pending'].some((milestone) => reached.has(milestone))) {
    return row.kind === 'refund' && (reached.has('failed') || reached.has('canceled'))
  }
  return ['failed', 'canceled', 'expired'].some((milestone) => reached.has(milestone))
}

async function askFor(
  lookup: Lookup,
  row: OperationRow,
  { provider_key: key, whole }: OperationRequest,
  context: LookupContext,
): Promise<OperationAnswer> {
  const { currency, params } = row
  const common = { key, amount_minor: BigInt(row.amount_minor), currency }
  if (row.kind === 'refund')
    return lookup.refund!(
      { ...common, payment: row.provider_payment_id, full: whole, reason: params.reason },
      context,
    )
  const { customer = '', method } = params
  return lookup.charge!({ ...common, order: row.order_ref, customer, method }, context)
}
