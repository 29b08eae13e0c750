import type { Queryable, Statement } from '../database.ts'

const LIST: Statement = {
  name: 'list-lookup-answers',
  text: `
    select l.object, l.object_id, l.asked_by, a.answered_at, a.outcome, a.reason, a.facts
    from lookups l join lookup_answers a on a.lookup_id = l.id and a.bucket = $1
    where l.object_id = any($2::text[]) and l.tenant = $3 and l.bucket = $1
    order by a.answered_at, a.lookup_id, a.number`,
}

/** What a provider said when it was asked. */
export interface ListedAnswer {
  readonly object: string
  readonly object_id: string
  readonly asked_by: string
  readonly answered_at: Date
  readonly outcome: string
  readonly reason: string
  readonly facts: number
}

/** The answers about these objects of any provider, oldest first. */
export function listLookupAnswers(
  db: Queryable,
  bucket: number,
  tenant: string,
  object_ids: readonly string[],
): Promise<ListedAnswer[]> {
  return db.query<ListedAnswer>(LIST, [bucket, object_ids, tenant])
}
