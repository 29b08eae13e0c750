import type { Database, Queryable } from '../store/database.ts'
import { countRows } from '../store/queries/count-rows.ts'
import { findOrphans, ORPHAN_SEARCHES, type OrphanSearch } from '../store/queries/find-orphans.ts'
import { listMarks, type MarkRow } from '../store/queries/list-marks.ts'
import { listOrders, loadWholeOrders } from '../store/queries/list-orders.ts'
import { listPayments } from '../store/queries/list-payments.ts'
import { listRights, loadRights } from '../store/queries/list-rights.ts'
import { listSubscriptions } from '../store/queries/list-subscriptions.ts'
import { loadPayments } from '../store/queries/load-payments.ts'
import { loadSubscriptions } from '../store/queries/load-subscriptions.ts'
import { type CurrencySums, sumPayments } from '../store/queries/sum-payments.ts'
import { readSnapshot } from '../store/snapshot.ts'
import { checkOrders } from './check-orders.ts'
import { checkPayments } from './check-payments.ts'
import { checkRights } from './check-rights.ts'
import { checkSubscriptions } from './check-subscriptions.ts'
import type { Difference } from './difference.ts'
import type { Checked } from './finding.ts'

export interface AuditOptions {
  /** Over how many buckets the keys are spread. Default 1. */
  readonly buckets?: number
  /** Rows per page; each page is one snapshot. Default 200. */
  readonly page?: number
  /** Most differences and most marks that are listed; all are counted. Default 1,000. */
  readonly listed_max?: number
  /** Hears how many rows of about how many have been derived anew. */
  readonly onProgress?: (done: number, total: number) => void
}

export interface AuditReport {
  /** How many rows of each table were compared. */
  readonly checked: Readonly<Record<string, number>>
  /** What is stored of all payments, by currency, minor units. */
  readonly money: readonly Money[]
  /** Stored values that are not what the facts say, and rows that refer to none. */
  readonly differences: readonly Difference[]
  /** How many there are, listed or not. */
  readonly differences_total: number
  /** What is kept and will be settled later. Orders that lag behind because of it count as no difference. */
  readonly marked: readonly MarkRow[]
}

export interface Money {
  readonly currency: string
  readonly captured_minor: bigint
  readonly refunded_minor: bigint
  readonly lost_minor: bigint
  readonly reversed_minor: bigint
  /** Withheld by disputes that are not decided; still part of the net. */
  readonly disputed_minor: bigint
  readonly net_minor: bigint
}

/** One kind of row that is derived anew, page by page. */
interface Walk<Row extends { readonly id: bigint }> {
  list(db: Queryable, bucket: number, after: bigint, limit: number): Promise<Row[]>
  load(db: Queryable, bucket: number, ids: readonly bigint[]): Promise<Row[]>
  check(db: Queryable, bucket: number, rows: readonly Row[]): Promise<Checked>
}

/**
 * Derives everything from the facts and compares it with what is stored. Changes nothing and may run beside a live
 * server: each page is read in one snapshot, and a difference is looked at again in a later one before it is reported.
 */
export async function audit(database: Database, options: AuditOptions = {}): Promise<AuditReport> {
  const run = new Run(database, options)
  for (let bucket = 0; bucket < (options.buckets ?? 1); bucket += 1) {
    await run.expect(bucket)
    await run.walk(bucket, { list: listPayments, load: loadPayments, check: checkPayments })
    await run.walk(bucket, { list: listOrders, load: loadWholeOrders, check: checkOrders })
    await run.walk(bucket, {
      list: listSubscriptions,
      load: loadSubscriptions,
      check: checkSubscriptions,
    })
    await run.walk(bucket, { list: listRights, load: loadRights, check: checkRights })
    for (const search of ORPHAN_SEARCHES) await run.search(bucket, search)
    await run.sum(bucket)
  }
  return run.report()
}

class Run {
  readonly #database: Database
  readonly #options: AuditOptions
  readonly #page: number
  readonly #listed_max: number
  readonly #checked: Record<string, number> = {}
  readonly #money = new Map<string, Money>()
  readonly #differences: Difference[] = []
  readonly #marked: MarkRow[] = []
  #total = 0
  #rows = 0
  #done = 0

  constructor(database: Database, options: AuditOptions) {
    this.#database = database
    this.#options = options
    this.#page = options.page ?? 200
    this.#listed_max = options.listed_max ?? 1_000
  }

  async expect(bucket: number): Promise<void> {
    this.#rows += await readSnapshot(this.#database, (db) => countRows(db, bucket))
  }

  async walk<Row extends { readonly id: bigint }>(bucket: number, walk: Walk<Row>): Promise<void> {
    for (let after: bigint | undefined = 0n; after !== undefined; ) {
      const from = after
      const { rows, checked } = await readSnapshot(this.#database, async (db) => {
        const rows = await walk.list(db, bucket, from, this.#page)
        return { rows, checked: rows.length > 0 ? await walk.check(db, bucket, rows) : NOTHING }
      })
      for (const [table, count] of Object.entries(checked.counts)) this.#count(table, count)
      const ids = checked.findings.map((finding) => finding.id)
      if (ids.length > 0) {
        const again = await readSnapshot(this.#database, async (db) =>
          walk.check(db, bucket, await walk.load(db, bucket, ids)),
        )
        for (const finding of again.findings) for (const found of finding.differences) this.#add(found)
      }
      this.#done += rows.length
      this.#options.onProgress?.(this.#done, Math.max(this.#rows, this.#done))
      after = rows.length < this.#page ? undefined : rows.at(-1)!.id
    }
  }

  async search(bucket: number, search: OrphanSearch): Promise<void> {
    const limit = this.#page * 5
    for (let after: OrphanSearch['start'] | null = search.start; after !== null; ) {
      const from: OrphanSearch['start'] = after
      const page = await readSnapshot(this.#database, (db) => findOrphans(db, bucket, search, from, limit))
      for (const orphan of page.orphans) this.#add({ ...orphan, derived: null })
      if (!(search.table in DERIVED)) this.#count(search.table, page.count)
      after = page.next
    }
  }

  async sum(bucket: number): Promise<void> {
    const [sums, marks] = await readSnapshot(this.#database, async (db) => [
      await sumPayments(db, bucket),
      await listMarks(db, bucket, this.#listed_max),
    ])
    for (const row of sums) this.#money.set(row.currency, add(this.#money.get(row.currency), row))
    this.#marked.push(...marks.slice(0, this.#listed_max - this.#marked.length))
  }

  report(): AuditReport {
    return {
      checked: this.#checked,
      money: [...this.#money.values()].sort((a, b) => (a.currency < b.currency ? -1 : 1)),
      differences: this.#differences,
      differences_total: this.#total,
      marked: this.#marked,
    }
  }

  #count(table: string, count: number): void {
    this.#checked[table] = (this.#checked[table] ?? 0) + count
  }

  #add(difference: Difference): void {
    this.#total += 1
    if (this.#differences.length < this.#listed_max) this.#differences.push(difference)
  }
}

const NOTHING: Checked = { counts: {}, findings: [] }
/** Tables whose rows are counted where they are derived. */
const DERIVED: Readonly<Record<string, true>> = { entitlements: true, refunds: true, disputes: true }

function add(known: Money | undefined, row: CurrencySums): Money {
  const captured_minor = (known?.captured_minor ?? 0n) + BigInt(row.captured_minor)
  const refunded_minor = (known?.refunded_minor ?? 0n) + BigInt(row.refunded_minor)
  const lost_minor = (known?.lost_minor ?? 0n) + BigInt(row.lost_minor)
  const reversed_minor = (known?.reversed_minor ?? 0n) + BigInt(row.reversed_minor)
  return {
    currency: row.currency,
    captured_minor,
    refunded_minor,
    lost_minor,
    reversed_minor,
    disputed_minor: (known?.disputed_minor ?? 0n) + BigInt(row.disputed_minor),
    net_minor: captured_minor - refunded_minor - lost_minor - reversed_minor,
  }
}
