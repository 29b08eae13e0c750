import type { OneShotBefore } from '../../rules/one-shots.ts'
import type { Queryable, Statement } from '../database.ts'

const COLUMNS = 'subject_id, topic, cause, state, attempts, payload'
const OWN = `subject_id = k.id and topic in ('receipt.due', 'refund.due') and bucket = $1`

const LIST: Statement = {
  name: 'list-one-shots',
  text: `
    select e.* from unnest($2::bigint[]) as k(id),
      lateral (select ${COLUMNS} from effects where ${OWN} offset 0) e`,
}

// Locked, so that no worker takes one between this look and taking it back. Workers skip what is locked.
const LOCK: Statement = {
  name: 'lock-one-shots',
  text: `
    select e.* from unnest($2::bigint[]) as k(id),
      lateral (select ${COLUMNS} from effects where ${OWN} for no key update offset 0) e`,
}

export interface OneShotRow extends OneShotBefore {
  readonly subject_id: bigint
}

/** The receipts and refunds in the outbox of these orders, whose rows the caller has locked; locks them too. */
export function lockOneShots(
  db: Queryable,
  bucket: number,
  order_ids: readonly bigint[],
): Promise<OneShotRow[]> {
  return db.query<OneShotRow>(LOCK, [bucket, order_ids])
}

/** As `lockOneShots`, for whoever only looks. */
export function listOneShots(
  db: Queryable,
  bucket: number,
  order_ids: readonly bigint[],
): Promise<OneShotRow[]> {
  return db.query<OneShotRow>(LIST, [bucket, order_ids])
}
