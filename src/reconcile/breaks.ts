import { Fault } from '../facts/fault.ts'
import type { Database } from '../store/database.ts'
import { type BreakFilter, type BreakRow, decideBreak, listBreaks } from '../store/queries/list-breaks.ts'
import { listReconciliations, type ReconciliationRow } from '../store/queries/run-reconciliation.ts'
import { raiseBreaks } from './break-exceptions.ts'

/** What a person says about a break. */
export interface BreakDecision {
  readonly id: bigint
  /** A name that others understand. */
  readonly actor: string
  readonly reason: string
}

/** Where the provider's side and ours differ, and what people say about it. */
export class Breaks {
  readonly #database: Database
  readonly #buckets: number
  readonly #now_ms: () => number

  /** @param now_ms the clock, Unix milliseconds */
  constructor(database: Database, buckets: number, now_ms: () => number) {
    this.#database = database
    this.#buckets = buckets
    this.#now_ms = now_ms
  }

  /** Breaks, the newest first. */
  async list(filter: BreakFilter): Promise<BreakRow[]> {
    const rows: BreakRow[] = []
    for (let bucket = 0; bucket < this.#buckets; bucket += 1)
      rows.push(...(await listBreaks(this.#database, bucket, filter)))
    return rows
      .sort((a, b) => b.found_at.getTime() - a.found_at.getTime() || (a.id < b.id ? 1 : -1))
      .slice(0, filter.limit)
  }

  /** Runs, the newest first. */
  async runs(endpoint: string | null, limit: number): Promise<ReconciliationRow[]> {
    const rows: ReconciliationRow[] = []
    for (let bucket = 0; bucket < this.#buckets; bucket += 1)
      rows.push(...(await listReconciliations(this.#database, bucket, endpoint, limit)))
    return rows.sort((a, b) => b.started_at.getTime() - a.started_at.getTime()).slice(0, limit)
  }

  /**
   * Says why the two sides differ. It stays explained while the difference is the same one.
   * Throws Fault `not_found`, `decision_invalid`.
   */
  explain(decision: BreakDecision): Promise<BreakRow> {
    return this.#decide(decision, 'explained')
  }

  /** Gives the difference up. No money and no right changes by it. Throws Fault `not_found`, `decision_invalid`. */
  writeOff(decision: BreakDecision): Promise<BreakRow> {
    return this.#decide(decision, 'written_off')
  }

  async #decide({ id, actor, reason }: BreakDecision, state: 'explained' | 'written_off'): Promise<BreakRow> {
    const at = new Date(this.#now_ms())
    const decided = { state, actor: worded(actor, 'actor'), reason: worded(reason, 'reason'), at }
    for (let bucket = 0; bucket < this.#buckets; bucket += 1) {
      const row = await decideBreak(this.#database, bucket, id, decided)
      if (!row) continue
      await raiseBreaks(this.#database, bucket, at, row, undefined)
      return row
    }
    throw new Fault(
      'not_found',
      `There is no break ${id} to decide about: it is over, or never was. List them with \`paidonce breaks list\`.`,
    )
  }
}

function worded(text: string, what: string): string {
  const clean = text.trim()
  if (clean !== '' && clean.length <= 1_000 && !/[\p{Cs}\p{Cc}]/u.test(clean)) return clean
  throw new Fault('decision_invalid', `Give \`${what}\`: 1 to 1,000 characters, no control characters.`)
}
