import type { Queryable, Statement } from '../database.ts'
import { RIGHT_COLUMNS, type RightRow } from './right-row.ts'

const LIST: Statement = {
  name: 'list-rights',
  text: `select ${RIGHT_COLUMNS} from rights where id > $2 and bucket = $1 order by id limit $3`,
}

const BY_ID: Statement = {
  name: 'load-rights',
  text: `select ${RIGHT_COLUMNS} from rights where id = any($2::bigint[]) and bucket = $1 order by id`,
}

const OF_HOLDER: Statement = {
  name: 'list-rights-of-holder',
  text: `
    select ${RIGHT_COLUMNS} from rights where holder = $3 and tenant = $2 and bucket = $1 order by item`,
}

const ANNOUNCED: Statement = {
  name: 'list-announced-rights',
  text: `
    select subject_id, max(revision) as revision from effects
    where subject_id = any($2::bigint[]) and topic = 'right.changed' and bucket = $1
    group by subject_id`,
}

/** A page of rights in id order, those after `after`. */
export function listRights(db: Queryable, bucket: number, after: bigint, limit: number): Promise<RightRow[]> {
  return db.query<RightRow>(LIST, [bucket, after, limit])
}

export function loadRights(db: Queryable, bucket: number, ids: readonly bigint[]): Promise<RightRow[]> {
  return db.query<RightRow>(BY_ID, [bucket, ids])
}

/** Everything that one holder has or had, by item. */
export function listRightsOf(
  db: Queryable,
  bucket: number,
  tenant: string,
  holder: string,
): Promise<RightRow[]> {
  return db.query<RightRow>(OF_HOLDER, [bucket, tenant, holder])
}

/** The newest revision of each right that was ever put into the outbox. */
export function listAnnouncedRights(
  db: Queryable,
  bucket: number,
  ids: readonly bigint[],
): Promise<{ subject_id: bigint; revision: bigint }[]> {
  return db.query(ANNOUNCED, [bucket, ids])
}
