import type { Fact } from '../facts/fact.ts'
import { keyEnd, nextForUnknown } from '../rules/operation-repeat.ts'
import { statesTaking } from '../rules/operation-state.ts'
import { inTransaction } from '../store/in-transaction.ts'
import {
  findOperationById,
  listOperationRequests,
  type OperationRequest,
} from '../store/queries/find-operation.ts'
import type { OperationRow } from '../store/queries/operation-row.ts'
import { listTells } from './search-list.ts'
import type { Sender } from './send.ts'
import { type Counterpart, HOUR_MS, MENDED_MS, type Workbench } from './workbench.ts'

/** Finds out about operations of which nobody knows whether they happened. */
export class Inquirer {
  readonly #bench: Workbench
  readonly #sender: Sender

  constructor(bench: Workbench, sender: Sender) {
    this.#bench = bench
    this.#sender = sender
  }

  /** Nobody knows whether it happened: ask first where the answer would tell, then what the provider's rules allow. */
  async findOut(bucket: number, row: OperationRow): Promise<void> {
    const asked = this.#bench.counterpart(row)
    if (typeof asked === 'string') return this.#bench.stayUnknown(bucket, row, asked, MENDED_MS)
    if (asked.rules.echoes_key === true) {
      const looked = await this.#bench.lookAround(bucket, row, asked)
      if (looked !== null) this.#bench.context.onError(new Error(`${row.operation_key}: ${looked}`))
      if (await this.#isKnown(bucket, row)) return
    }
    await this.#bench.reached('looked', row)
    const requests = await listOperationRequests(this.#bench.database, bucket, row.id)
    const sent = requests.filter(({ attempt, outcome }) => attempt === row.attempt && outcome !== 'not_sent')
    const first_sent_ms = sent[0]?.sent_at.getTime() ?? 0
    const last_sent_ms = sent.at(-1)?.sent_at.getTime() ?? 0
    const { capabilities } = asked.endpoint.provider
    const next = nextForUnknown(asked.rules, {
      kind: row.kind,
      now_ms: this.#bench.context.now_ms(),
      first_sent_ms,
      last_sent_ms,
      read_lag_ms: capabilities.read_lag_ms,
      lists: asked.lookup.list !== undefined,
    })
    switch (next.step) {
      case 'repeat':
        return this.#repeat(bucket, row, asked, requests, first_sent_ms)
      case 'list':
        return this.#searchList(bucket, row, asked, requests, {
          first_sent_ms,
          last_sent_ms,
          absent: next.absent,
        })
      case 'wait':
        return this.#bench.stayUnknown(bucket, row, row.reason, next.until_ms - this.#bench.context.now_ms())
      case 'hold':
        return this.#bench.hold(bucket, row, 'the provider gives no way to find out')
    }
  }

  /** What was asked meanwhile may have told what became of it. */
  async #isKnown(bucket: number, row: OperationRow): Promise<boolean> {
    const now = await findOperationById(this.#bench.database, bucket, row.id)
    if (now === null || now.state === 'unknown') return false
    if (now.lease_token === null) await this.#bench.tidy(bucket, now)
    return true
  }

  /** The same request under the same key, if its time is not over. */
  async #repeat(
    bucket: number,
    row: OperationRow,
    asked: Counterpart,
    requests: readonly OperationRequest[],
    first_sent_ms: number,
  ): Promise<void> {
    const begun = await inTransaction(this.#bench.database, (tx) =>
      this.#sender.begin(tx, bucket, row, requests, false),
    )
    if (!begun) return
    const end_ms = keyEnd(asked.rules, first_sent_ms)
    if (end_ms !== null && this.#bench.context.now_ms() >= end_ms)
      return this.#sender.holdBack(bucket, row, begun)
    await this.#sender.request(bucket, row, asked, begun)
  }

  async #searchList(
    bucket: number,
    row: OperationRow,
    asked: Counterpart,
    requests: readonly OperationRequest[],
    about: {
      readonly first_sent_ms: number
      readonly last_sent_ms: number
      readonly absent: 'new_attempt' | 'hold'
    },
  ): Promise<void> {
    const keys = new Set(requests.map((request) => request.provider_key))
    const window = { from_ms: about.first_sent_ms - HOUR_MS, to_ms: about.last_sent_ms + HOUR_MS }
    const kind = row.kind === 'refund' ? 'refunds' : 'payments'
    let told: readonly Fact[] | null
    try {
      told = await listTells(asked.lookup, kind, window, keys, this.#bench.lookupContext())
    } catch (error) {
      const why = error instanceof Error ? error.message : 'unknown error'
      return this.#bench.stayUnknown(
        bucket,
        row,
        `the provider's list could not be had: ${why}`,
        this.#bench.pause(row),
      )
    }
    if (told !== null) {
      await this.#bench.settle(bucket, row, requests.at(-1)!.number, told)
      if (await this.#isKnown(bucket, row)) return
      return this.#bench.hold(
        bucket,
        row,
        "what the provider's list shows under its key is not what was asked for",
      )
    }
    if (about.absent === 'hold') return this.#bench.hold(bucket, row, "the provider's list does not show it")
    await inTransaction(this.#bench.database, (tx) =>
      this.#bench.move(tx, bucket, row, {
        state: 'planned',
        from: statesTaking('proved_absent'),
        due_at: this.#bench.now(),
        code: 'proved_absent',
        reason: "the provider's list of that time does not hold it",
        attempt: row.attempt + 1,
        afresh: true,
      }),
    )
  }
}
