import type { Queryable, Statement } from '../database.ts'

export interface RefusalCount {
  readonly tenant: string
  readonly endpoint: string
  readonly first_refused_at: Date
  readonly last_refused_at: Date
  readonly refusals: bigint
}

const RECORD: Statement = {
  name: 'record-refusals',
  text: `
    insert into endpoint_refusals (bucket, tenant, endpoint, first_refused_at, last_refused_at, refusals)
    select $1, r.tenant, r.endpoint, r.first_refused_at, r.last_refused_at, r.refusals
    from unnest($2::text[], $3::text[], $4::timestamptz[], $5::timestamptz[], $6::bigint[])
      as r(tenant, endpoint, first_refused_at, last_refused_at, refusals)
    on conflict (endpoint, tenant, bucket) do update set
      first_refused_at = least(endpoint_refusals.first_refused_at, excluded.first_refused_at),
      last_refused_at = greatest(endpoint_refusals.last_refused_at, excluded.last_refused_at),
      refusals = endpoint_refusals.refusals + excluded.refusals`,
}

const LIST: Statement = {
  name: 'list-refusals',
  text: `
    select tenant, endpoint, first_refused_at, last_refused_at, refusals from endpoint_refusals
    where bucket = $1`,
}

const DELETE: Statement = {
  name: 'delete-refusals',
  text: `
    delete from endpoint_refusals r using unnest($2::text[], $3::text[], $4::timestamptz[]) as d(tenant, endpoint, seen_at)
    where r.endpoint = d.endpoint and r.tenant = d.tenant and r.last_refused_at <= d.seen_at and r.bucket = $1`,
}

/** Adds to what endpoints refused; one entry per endpoint in a call. */
export async function recordRefusals(
  db: Queryable,
  bucket: number,
  counts: readonly RefusalCount[],
): Promise<void> {
  await db.query(RECORD, [
    bucket,
    counts.map((count) => count.tenant),
    counts.map((count) => count.endpoint),
    counts.map((count) => count.first_refused_at),
    counts.map((count) => count.last_refused_at),
    counts.map((count) => count.refusals),
  ])
}

export function listRefusals(db: Queryable, bucket: number): Promise<RefusalCount[]> {
  return db.query<RefusalCount>(LIST, [bucket])
}

/** Begins to count anew, unless more was refused since these were read. */
export async function deleteRefusals(
  db: Queryable,
  bucket: number,
  counts: readonly RefusalCount[],
): Promise<void> {
  await db.query(DELETE, [
    bucket,
    counts.map((count) => count.tenant),
    counts.map((count) => count.endpoint),
    counts.map((count) => count.last_refused_at),
  ])
}
