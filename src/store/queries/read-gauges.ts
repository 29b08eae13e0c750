import type { Queryable, Statement } from '../database.ts'

// Each part reads a partial index of what is open or due, or a table that stays small.
const READ: Statement = {
  name: 'read-gauges',
  text: `
    select 'exceptions_open' as gauge, kind as label, severity as detail, count(*)::float8 as value
      from exceptions where state = 'open' and bucket = $1 group by kind, severity
    union all
    select 'effects_due', '', '', count(*)::float8 from effects where state = 'due' and bucket = $1
    union all
    select 'effects_oldest_due_seconds', '', '', coalesce(greatest(extract(epoch from $2 - min(created_at)), 0), 0)::float8
      from effects where state = 'due' and available_at <= $2 and bucket = $1
    union all
    select 'unsettled', '', '', count(*)::float8 from unsettled where bucket = $1
    union all
    select 'lookups_due', '', '', count(*)::float8 from lookups where due_at <= $2 and bucket = $1
    union all
    select 'unconfirmed', '', '', count(*)::float8 from unconfirmed where bucket = $1
    union all
    select 'reconciliation_breaks_open', endpoint, class, count(*)::float8
      from reconciliation_breaks where state = 'open' and bucket = $1 group by endpoint, class
    union all
    select 'reconciliation_last_success_seconds', endpoint, '', extract(epoch from max(finished_at))::float8
      from reconciliations where state = 'done' and bucket = $1 group by endpoint
    union all
    select 'operations_open', kind, state, count(*)::float8
      from operations where state in ('planned', 'in_flight', 'unknown') and bucket = $1 group by kind, state`,
}

/** One figure with its labels, for monitoring. Holds no id of anybody. */
export interface GaugeRow {
  readonly gauge: string
  readonly label: string
  readonly detail: string
  readonly value: number
}

export function readGauges(db: Queryable, bucket: number, now: Date): Promise<GaugeRow[]> {
  return db.query<GaugeRow>(READ, [bucket, now])
}
