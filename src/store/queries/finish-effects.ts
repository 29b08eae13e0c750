import type { Queryable, Statement } from '../database.ts'

/** How one lease of an effect ends. */
export interface EffectEnding {
  readonly id: bigint
  /** The lease's token; a row that is leased to someone else by now stays as it is. */
  readonly token: string
  /** `due` gives it back to be taken again from `available_at` on. */
  readonly state: 'done' | 'due' | 'discarded' | 'superseded' | 'dead'
  readonly available_at: Date
  /** Why; empty when all is well, and to keep what is there when nobody tried. No NUL characters. */
  readonly last_error: string
  /** True when nobody tried: the attempt that leasing counted is taken back. */
  readonly untried: boolean
}

const FINISH: Statement = {
  name: 'finish-effects',
  text: `
    with ended as materialized (
      select e.id, f.state, f.available_at, f.last_error, f.untried
      from unnest($3::bigint[], $4::uuid[], $5::text[], $6::timestamptz[], $7::text[], $8::boolean[])
        as f(id, token, state, available_at, last_error, untried), effects e
      where e.id = f.id and e.bucket = $1 and e.lease_token = f.token and e.state = 'due'
      order by e.id
      for no key update of e
    )
    update effects e set
      state = f.state,
      available_at = f.available_at,
      finished_at = case when f.state = 'due' then null else $2::timestamptz end,
      lease_token = null,
      last_error = case when f.untried and f.last_error = '' then e.last_error else f.last_error end,
      attempts = e.attempts - case when f.untried then 1 else 0 end
    from ended f
    where e.id = f.id and e.bucket = $1
    returning e.id`,
}

/** Ends leases. Gives the ids of those that were still held; the others had been lost. */
export async function finishEffects(
  db: Queryable,
  bucket: number,
  now: Date,
  endings: readonly EffectEnding[],
): Promise<Set<bigint>> {
  const rows = await db.query<{ id: bigint }>(FINISH, [
    bucket,
    now,
    endings.map((ending) => ending.id),
    endings.map((ending) => ending.token),
    endings.map((ending) => ending.state),
    endings.map((ending) => ending.available_at),
    endings.map((ending) => ending.last_error),
    endings.map((ending) => ending.untried),
  ])
  return new Set(rows.map((row) => row.id))
}
