import type { Queryable, Statement } from '../database.ts'
import type { ReconciledAccount } from './run-reconciliation.ts'

const RECORD: Statement = {
  name: 'record-coverage',
  text: `
    insert into reconciliation_coverage (bucket, reconciliation_id, kind, criterion, from_at, to_at, listed_at, lag_ms, listed,
      tenant, namespace, account)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
    on conflict (reconciliation_id, kind, bucket) do nothing`,
}

const OF_RUN: Statement = {
  name: 'list-coverage-of-run',
  text: `select kind, criterion, from_at, to_at, listed_at, lag_ms, listed from reconciliation_coverage
    where reconciliation_id = $2 and bucket = $1 order by kind`,
}

// The end of the first unbroken stretch: a later window that leaves a gap before it moves nothing.
const COVERED_TO: Statement = {
  name: 'find-covered-to',
  text: `
    with recent as (
      select from_at, to_at - lag_ms * interval '1 millisecond' as covered_to from reconciliation_coverage
      where namespace = $2 and account = $3 and tenant = $4 and kind = $5 and bucket = $1 order by to_at desc limit 100
    )
    select min(c.covered_to) as covered_to from recent c
    where not exists (select 1 from recent n where n.from_at <= c.covered_to and n.covered_to > c.covered_to)`,
}

/** A window of one kind that was listed to its end. */
export interface Coverage {
  readonly kind: string
  /** By which time the provider lists. */
  readonly criterion: 'created' | 'moved' | 'unknown'
  readonly from_at: Date
  readonly to_at: Date
  readonly listed_at: Date
  /** How much later than it happens something may appear in the list, milliseconds. */
  readonly lag_ms: bigint
  readonly listed: bigint
}

export async function recordCoverage(
  db: Queryable,
  bucket: number,
  run: ReconciledAccount & { readonly id: bigint },
  covered: Coverage,
): Promise<void> {
  await db.query(RECORD, [
    bucket,
    run.id,
    covered.kind,
    covered.criterion,
    covered.from_at,
    covered.to_at,
    covered.listed_at,
    covered.lag_ms,
    covered.listed,
    run.tenant,
    run.namespace,
    run.account,
  ])
}

export function listCoverageOf(db: Queryable, bucket: number, run: bigint): Promise<Coverage[]> {
  return db.query<Coverage>(OF_RUN, [bucket, run])
}

/** Up to when everything of a kind was listed without a gap; null when nothing ever was. */
export async function coveredTo(
  db: Queryable,
  bucket: number,
  { namespace, account, tenant }: ReconciledAccount,
  kind: string,
): Promise<Date | null> {
  const [row] = await db.query<{ covered_to: Date | null }>(COVERED_TO, [
    bucket,
    namespace,
    account,
    tenant,
    kind,
  ])
  return row?.covered_to ?? null
}
