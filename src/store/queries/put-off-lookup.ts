import type { Queryable, Statement } from '../database.ts'
import type { LeasedLookup } from './lease-lookups.ts'
import type { LookupKey } from './request-lookups.ts'

// A question that was not sent is no try.
const PUT_OFF: Statement = {
  name: 'put-off-lookup',
  text: `
    update lookups set due_at = $4, attempts = greatest(attempts - 1, 0)
    where id = $2 and answers = $3 and bucket = $1`,
}

const LAST: Statement = {
  name: 'find-last-answer',
  text: `
    select l.last_outcome as outcome, a.answered_at
    from lookups l
      join lateral (
        select answered_at from lookup_answers where lookup_id = l.id and bucket = $1 order by number desc limit 1
      ) a on true
    where l.object_id = $2 and l.object = $3 and l.namespace = $4 and l.account = $5 and l.tenant = $6 and l.bucket = $1`,
}

/** Gives a leased question back unasked, until `due_at`. */
export async function putOffLookup(
  db: Queryable,
  bucket: number,
  { id, answers }: Pick<LeasedLookup, 'id' | 'answers'>,
  due_at: Date,
): Promise<void> {
  await db.query(PUT_OFF, [bucket, id, answers, due_at])
}

export interface LastAnswer {
  readonly outcome: 'found' | 'not_found' | 'unavailable' | 'refused' | 'unreadable'
  readonly answered_at: Date
}

/** The newest answer about an object; null when there is none. */
export async function findLastAnswer(
  db: Queryable,
  bucket: number,
  key: LookupKey,
): Promise<LastAnswer | null> {
  const { object_id, object, namespace, account, tenant } = key
  const [row] = await db.query<LastAnswer>(LAST, [bucket, object_id, object, namespace, account, tenant])
  return row ?? null
}
