import type { Fact } from '../facts/fact.ts'
import { Fault } from '../facts/fault.ts'
import type { Ask } from '../providers/ask.ts'
import type { Endpoint } from '../providers/endpoint.ts'
import type { LookupAnswer } from '../providers/lookup.ts'
import type { ReconciledKind } from '../rules/reconcile.ts'
import { settleItem } from '../settle/item.ts'
import type { Settler } from '../settle/settler.ts'
import type { Database } from '../store/database.ts'
import { type ReconciliationRow, renewReconciliation } from '../store/queries/run-reconciliation.ts'
import type { AccountGates } from './account-gate.ts'
import { loadExpected } from './expected.ts'

const WORDS: Readonly<Record<ReconciledKind, string>> = {
  payments: 'payment',
  refunds: 'refund',
  disputes: 'dispute',
}

export interface RunTools {
  readonly settler: Settler
  readonly ask: Ask
  readonly now_ms: () => number
  readonly gates: AccountGates
  /** How long one request may take, milliseconds. */
  readonly limit_ms: number
  readonly lease_ms: number
}

/** One run that this process has in hand: its lease, its clock, its way to the provider and into the books. */
export class RunWork {
  readonly run: ReconciliationRow
  readonly bucket: number
  readonly endpoint: Endpoint
  readonly tools: RunTools
  /** By how much amounts may differ, minor units. */
  readonly tolerance_minor: bigint
  /** How long after a change a list may still show the former state, milliseconds. */
  readonly lag_ms: number
  readonly database: Database
  #renewed_ms: number
  /** Questions about single objects that may still be asked in this run. */
  #questions = 200

  constructor(
    run: ReconciliationRow,
    endpoint: Endpoint,
    tools: RunTools,
    tolerance_minor: bigint,
    lag_ms: number,
  ) {
    this.run = run
    this.bucket = endpoint.bucket
    this.endpoint = endpoint
    this.tools = tools
    this.tolerance_minor = tolerance_minor
    this.lag_ms = lag_ms
    this.database = tools.settler.context.database
    this.#renewed_ms = tools.now_ms()
  }

  get now(): Date {
    return new Date(this.tools.now_ms())
  }

  /** Keeps the lease. Throws Fault `lease_lost` when another process has taken the run on. */
  async keepLease(): Promise<void> {
    const now_ms = this.tools.now_ms()
    if (now_ms - this.#renewed_ms < this.tools.lease_ms / 3) return
    const until = new Date(now_ms + this.tools.lease_ms)
    if (!(await renewReconciliation(this.database, this.bucket, this.run, until))) throw leaseLost(this.run)
    this.#renewed_ms = now_ms
  }

  /**
   * Settles what the provider says, as if it had been told by messages. Gives for each item why it could not be settled,
   * null where it was.
   */
  async settle(told: readonly (readonly Fact[])[]): Promise<(string | null)[]> {
    const { tenant } = this.endpoint
    const source = { kind: 'reconciliation', id: this.run.id, version: 1 } as const
    const items = told.map((facts) => settleItem({ tenant, source, facts }))
    if (items.length === 0) return []
    const ended = new Map<number, string | null>()
    await new Promise<void>((resolve, reject) => {
      this.tools.settler
        .settleBatch(this.bucket, items, (place, result) => {
          ended.set(place, 'fault' in result ? result.fault.message : null)
          if (ended.size === items.length) resolve()
        })
        .catch(reject)
    })
    return items.map((_, place) => ended.get(place) ?? null)
  }

  /** Asks the provider about one object, as long as this run may; null when nobody was asked, or gave no answer. */
  async askAbout(kind: ReconciledKind, id: string): Promise<LookupAnswer | null> {
    const { provider } = this.endpoint
    if (!provider.lookup || this.#questions === 0) return null
    const gate = this.tools.gates.of(provider)
    if (gate.admit(this.tools.now_ms()) !== null) return null
    this.#questions -= 1
    const { namespace, account, tenant } = this.run
    const object = WORDS[kind]
    const context = { now_ms: this.tools.now_ms(), ask: this.tools.ask, limit_ms: this.tools.limit_ms }
    try {
      const key = { tenant, namespace, account, object, object_id: id }
      const expected = kind === 'payments' ? await loadExpected(this.database, this.bucket, key) : null
      const answer = await provider.lookup.fetch({ object, id }, expected, context)
      gate.heard(answer, this.tools.now_ms())
      return answer.outcome === 'found' || answer.outcome === 'not_found' ? answer : null
    } catch (error) {
      gate.heard({ outcome: 'unavailable', reason: String(error) }, this.tools.now_ms())
      return null
    }
  }
}

export function leaseLost({ id }: Pick<ReconciliationRow, 'id'>): Fault {
  return new Fault(
    'lease_lost',
    `Reconciliation ${id} took longer than its lease and another process goes on with it. Look there.`,
    { retriable: true },
  )
}
