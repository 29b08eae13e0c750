import type { Queryable, Statement } from '../database.ts'
import { RIGHT_COLUMNS, type RightKey, type RightRow } from './right-row.ts'

const INSERT: Statement = {
  name: 'insert-rights',
  text: `
    insert into rights (bucket, facts_rev, revision, created_at, updated_at, quantity, tenant, holder, item, state)
    select $1, 0, 0, $2, $2, 0, r.tenant, r.holder, r.item, 'none'
    from unnest($3::text[], $4::text[], $5::text[]) as r(tenant, holder, item)
    on conflict (holder, item, tenant, bucket) do nothing`,
}

const LOCK: Statement = {
  name: 'lock-rights',
  text: `
    select r.* from unnest($2::text[], $3::text[], $4::text[]) as k(tenant, holder, item),
      lateral (
        select ${RIGHT_COLUMNS} from rights
        where holder = k.holder and item = k.item and tenant = k.tenant and bucket = $1
        for no key update offset 0
      ) r`,
}

/** Inserts the rows that are missing and then, in a later statement, locks and reads them all, in the order given. */
export async function lockRights(
  db: Queryable,
  bucket: number,
  as_of: Date,
  keys: readonly RightKey[],
): Promise<RightRow[]> {
  const columns = [keys.map((key) => key.tenant), keys.map((key) => key.holder), keys.map((key) => key.item)]
  const [, rows] = await Promise.all([
    db.query(INSERT, [bucket, as_of, ...columns]),
    db.query<RightRow>(LOCK, [bucket, ...columns]),
  ])
  return rows
}
