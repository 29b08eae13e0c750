import type { Queryable, Statement } from '../database.ts'
import type { RightRow } from './right-row.ts'

// By primary key through ON CONFLICT, for the reason given in update-payments.ts.
const UPDATE: Statement = {
  name: 'update-rights',
  text: `
    with updated as (
    insert into rights (bucket, created_at, updated_at, id, facts_rev, effect_seq, revision, quantity, tenant, holder,
      item, state)
    select $1, $2, $2, r.id, r.facts_rev + 1, r.effect_seq, r.revision, r.quantity, r.tenant, r.holder, r.item, r.state
    from unnest($3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::text[], $9::text[],
      $10::text[], $11::text[])
      as r(id, facts_rev, effect_seq, revision, quantity, tenant, holder, item, state)
    on conflict (id, bucket) do update set
      facts_rev = excluded.facts_rev, updated_at = excluded.updated_at, effect_seq = excluded.effect_seq,
      revision = excluded.revision, quantity = excluded.quantity, state = excluded.state
      where rights.facts_rev = excluded.facts_rev - 1
    returning 1
    )
    select 1 / (count(*) = cardinality($3::bigint[]))::int from updated`,
}

/**
 * Writes what holders have now and raises each row's revision of its facts. Fails with `MOVED_ON` when a row was no
 * longer at the one that was read.
 */
export async function updateRights(
  db: Queryable,
  bucket: number,
  as_of: Date,
  rights: readonly RightRow[],
): Promise<void> {
  await db.query(UPDATE, [
    bucket,
    as_of,
    rights.map((right) => right.id),
    rights.map((right) => right.facts_rev),
    rights.map((right) => right.effect_seq),
    rights.map((right) => right.revision),
    rights.map((right) => right.quantity),
    rights.map((right) => right.tenant),
    rights.map((right) => right.holder),
    rights.map((right) => right.item),
    rights.map((right) => right.state),
  ])
}
