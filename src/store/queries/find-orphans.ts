import type { Queryable, Statement } from '../database.ts'

/** A row that refers to one that is not there. */
export interface Orphan {
  readonly table: string
  readonly row: string
  readonly column: string
  readonly stored: string
}

/** What one page of a table came to. */
export interface OrphanPage {
  readonly count: number
  /** Where the next page starts; null when this was the last. */
  readonly next: readonly (string | bigint | number)[] | null
  readonly orphans: readonly Orphan[]
}

/** A table that is walked for rows without their parents, in pages of its primary key. */
export interface OrphanSearch {
  readonly table: string
  readonly start: readonly (string | bigint | number)[]
  readonly statement: Statement
}

const subjectExists = `
  case p.subject_kind
    when 'payment' then exists (select 1 from payments s where s.id = p.subject_id and s.bucket = $1)
    when 'order' then exists (select 1 from orders s where s.id = p.subject_id and s.bucket = $1)
    when 'subscription' then exists (select 1 from subscriptions s where s.id = p.subject_id and s.bucket = $1)
    when 'right' then exists (select 1 from rights s where s.id = p.subject_id and s.bucket = $1)
    else true
  end`

/**
 * One page: the rows after the given key, each with its key as an array of texts and with what it lacks (null when it
 * lacks nothing). `$1` is the bucket, `$2` the limit, the key follows.
 */
export const ORPHAN_SEARCHES: readonly OrphanSearch[] = [
  {
    table: 'facts',
    start: [0n],
    statement: {
      name: 'find-orphaned-facts',
      text: `
        select array[p.id::text] as key, p.fact_key || ' of ' || p.subject_kind || ' ' || p.subject_id as row,
          'subject_id' as column, case when ${subjectExists} then null else p.subject_id::text end as stored
        from facts p where p.id > $3 and p.bucket = $1 order by p.id limit $2`,
    },
  },
  {
    table: 'witnesses',
    start: [0n, '', 0n, 0],
    statement: {
      name: 'find-orphaned-witnesses',
      text: `
        select array[p.fact_id::text, p.source_kind, p.source_id::text, p.source_version::text] as key,
          'fact ' || p.fact_id || ' by ' || p.source_kind || ' ' || p.source_id as row,
          case when f.id is null then 'fact_id' else 'source_id' end as column,
          case
            when f.id is null then p.fact_id::text
            when p.source_kind = 'lookup' and not exists (
              select 1 from lookup_answers a
              where a.lookup_id = p.source_id and a.number = p.source_version and a.bucket = $1
            ) then p.source_id || ' answer ' || p.source_version
            when p.source_kind = 'reconciliation' and not exists (
              select 1 from reconciliations r where r.id = p.source_id and r.bucket = $1
            ) then 'reconciliation ' || p.source_id
            when p.source_kind = 'operation' and not exists (
              select 1 from operations o where o.id = p.source_id and o.bucket = $1
            ) then 'operation ' || p.source_id
            when p.source_kind <> 'event' then null
            when not exists (select 1 from events e where e.id = p.source_id and e.bucket = $1) then p.source_id::text
            when p.source_version > 1 and not exists (
              select 1 from event_versions v
              where v.event_id = p.source_id and v.version = p.source_version and v.bucket = $1
            ) then p.source_id || ' version ' || p.source_version
          end as stored
        from witnesses p left join facts f on f.id = p.fact_id and f.bucket = $1
        where (p.fact_id, p.source_kind, p.source_id, p.source_version) > ($3::bigint, $4::text, $5::bigint, $6::int)
          and p.bucket = $1
        order by p.fact_id, p.source_kind, p.source_id, p.source_version limit $2`,
    },
  },
  {
    table: 'effects',
    start: [0n],
    statement: {
      name: 'find-orphaned-effects',
      text: `
        select array[p.id::text] as key, p.topic || ' ' || p.item || ' of ' || p.subject_kind || ' ' || p.subject_key as row,
          'subject_id' as column, case when ${subjectExists} then null else p.subject_id::text end as stored
        from effects p where p.id > $3 and p.bucket = $1 order by p.id limit $2`,
    },
  },
  {
    table: 'entitlements',
    start: [0n, ''],
    statement: {
      name: 'find-orphaned-entitlements',
      text: `
        select array[p.order_id::text, p.item] as key, p.item || ' of order ' || p.order_id as row,
          'order_id' as column, case when o.id is null then p.order_id::text end as stored
        from entitlements p left join orders o on o.id = p.order_id and o.bucket = $1
        where (p.order_id, p.item) > ($3::bigint, $4::text) and p.bucket = $1
        order by p.order_id, p.item limit $2`,
    },
  },
  {
    table: 'entitlements',
    start: [0n, ''],
    statement: {
      name: 'find-entitlements-without-rights',
      text: `
        select array[p.order_id::text, p.item] as key, p.item || ' of order ' || o.reference as row,
          'holder' as column, case when r.id is null then o.holder end as stored
        from entitlements p join orders o on o.id = p.order_id and o.bucket = $1
          left join rights r on r.holder = o.holder and r.item = p.item and r.tenant = o.tenant and r.bucket = $1
        where o.holder is not null and (p.order_id, p.item) > ($3::bigint, $4::text) and p.bucket = $1
        order by p.order_id, p.item limit $2`,
    },
  },
  {
    table: 'refunds',
    start: [0n],
    statement: {
      name: 'find-orphaned-refunds',
      text: `
        select array[p.id::text] as key, p.provider_refund_id as row,
          'payment_id' as column, case when m.id is null then p.payment_id::text end as stored
        from refunds p left join payments m on m.id = p.payment_id and m.bucket = $1
        where p.id > $3 and p.bucket = $1 order by p.id limit $2`,
    },
  },
  {
    table: 'disputes',
    start: [0n],
    statement: {
      name: 'find-orphaned-disputes',
      text: `
        select array[p.id::text] as key, p.provider_dispute_id || '/' || p.stage as row,
          'payment_id' as column, case when m.id is null then p.payment_id::text end as stored
        from disputes p left join payments m on m.id = p.payment_id and m.bucket = $1
        where p.id > $3 and p.bucket = $1 order by p.id limit $2`,
    },
  },
  {
    table: 'events',
    start: [0n],
    statement: {
      name: 'find-forgotten-events',
      text: `
        select array[p.id::text] as key, p.event_key as row, 'state' as column,
          case when p.state = 'kept' and not exists (
            select 1 from unsettled u where u.event_id = p.id and u.order_ref = '' and u.bucket = $1
          ) then 'kept without a mark' end as stored
        from events p where p.id > $3 and p.bucket = $1 order by p.id limit $2`,
    },
  },
  {
    table: 'operations',
    start: [0n],
    statement: {
      name: 'find-contradictory-operations',
      text: `
        select array[p.id::text] as key, p.operation_key as row, 'state' as column,
          case
            when p.state = 'succeeded' and p.provider_id = '' then 'succeeded without what the provider made'
            when p.state in ('in_flight', 'unknown', 'failed_definitive') and not exists (
              select 1 from operation_requests r where r.operation_id = p.id and r.bucket = $1
            ) then p.state || ' without a request'
            when p.state in ('planned', 'in_flight', 'unknown') and p.due_at is null and not exists (
              select 1 from exceptions e
              where e.subject_key = p.operation_key and e.subject_kind = 'operation' and e.tenant = p.tenant
                and e.state = 'open' and e.bucket = $1
            ) then p.state || ' and nobody is asked for it'
          end as stored
        from operations p where p.id > $3 and p.bucket = $1 order by p.id limit $2`,
    },
  },
]

/** Looks through one page of a table. */
export async function findOrphans(
  db: Queryable,
  bucket: number,
  search: OrphanSearch,
  after: readonly (string | bigint | number)[],
  limit: number,
): Promise<OrphanPage> {
  const rows = await db.query<{ key: string[]; row: string; column: string; stored: string | null }>(
    search.statement,
    [bucket, limit, ...after],
  )
  const orphans = rows.flatMap(({ row, column, stored }) =>
    stored === null ? [] : [{ table: search.table, row, column, stored }],
  )
  return { count: rows.length, next: rows.length < limit ? null : rows.at(-1)!.key, orphans }
}
