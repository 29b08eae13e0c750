import { decodeContent, type Fact, type FactKind, type FactOf } from '../../facts/fact.ts'
import type { Subject } from '../../facts/subject.ts'
import type { Queryable, Statement } from '../database.ts'

const LOAD: Statement = {
  name: 'load-facts',
  text: `
    select f.id, f.subject_id, f.kind, f.fact_key, f.content, f.content_digest
    from unnest($2::bigint[]) as k(id),
      lateral (
        select * from facts
        where subject_id = k.id and bucket = $1
          and exists (select 1 from witnesses w where w.fact_id = facts.id and w.bucket = $1)
        offset 0
      ) f`,
}

const DORMANT: Statement = {
  name: 'load-dormant-facts',
  text: `
    select f.id, f.subject_id, f.kind, f.fact_key, f.content, f.content_digest
    from facts f
    where f.subject_id = any($2::bigint[]) and f.bucket = $1
      and not exists (select 1 from witnesses w where w.fact_id = f.id and w.bucket = $1)`,
}

export interface StoredFact {
  readonly id: bigint
  readonly subject_id: bigint
  readonly kind: FactKind
  readonly key: string
  readonly digest: Buffer
  readonly content: FactOf<FactKind>['content']
}

/** A stored fact as the rules take it. */
export function asFact(subject: Subject, { key, kind, content }: StoredFact): Fact {
  return { subject, key, kind, content } as Fact
}

/** The facts about these subjects that have at least one live witness: the set that the rules see. */
export function loadFacts(
  db: Queryable,
  bucket: number,
  subject_ids: readonly bigint[],
): Promise<StoredFact[]> {
  return read(db, LOAD, bucket, subject_ids)
}

/** Stored facts that no one witnesses any more (a replay took their last witness); a new witness revives them. */
export function loadDormantFacts(
  db: Queryable,
  bucket: number,
  subject_ids: readonly bigint[],
): Promise<StoredFact[]> {
  return read(db, DORMANT, bucket, subject_ids)
}

async function read(db: Queryable, statement: Statement, bucket: number, subject_ids: readonly bigint[]) {
  const rows = await db.query<{
    id: bigint
    subject_id: bigint
    kind: FactKind
    fact_key: string
    content: object
    content_digest: Buffer
  }>(statement, [bucket, subject_ids])
  return rows.map((row) => ({
    id: row.id,
    subject_id: row.subject_id,
    kind: row.kind,
    key: row.fact_key,
    digest: row.content_digest,
    content: decodeContent(row.kind, row.content),
  }))
}
