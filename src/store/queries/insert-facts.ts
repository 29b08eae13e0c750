import type { FactKind } from '../../facts/fact.ts'
import type { SubjectKind } from '../../facts/subject.ts'
import type { Queryable, Statement } from '../database.ts'

export type WitnessKind =
  | 'event'
  | 'merchant'
  | 'lookup'
  | 'operation'
  | 'decision'
  | 'timer'
  | 'reconciliation'

export interface WitnessSource {
  readonly kind: WitnessKind
  /** Id of the row that told it (the event's); 0 for the merchant's own statements. */
  readonly id: bigint
  /** Version of the event's content; 1 where there are no versions. */
  readonly version: number
}

export interface NewFact {
  readonly id: bigint
  readonly subject_id: bigint
  readonly subject_kind: SubjectKind
  readonly kind: FactKind
  readonly key: string
  readonly digest: Buffer
  /** Encoded content. */
  readonly content: string
}

export interface NewWitness {
  readonly fact_id: bigint
  readonly source: WitnessSource
}

// No ON CONFLICT on facts: under the subject's lock nothing can be in the way, and looking first costs a descent per fact.
// Should the unique key object all the same, the transaction fails with 23505 and the caller finds out why.
const INSERT: Statement = {
  name: 'insert-facts',
  text: `
    with told as (
      insert into facts (bucket, recorded_at, id, subject_id, subject_kind, kind, fact_key, content_digest, content)
      select $1, $2, f.id, f.subject_id, f.subject_kind, f.kind, f.fact_key,
        substring($3::bytea from f.digest_at for 16), f.content
      from unnest($4::bigint[], $5::bigint[], $6::text[], $7::text[], $8::text[], $9::int[], $10::jsonb[])
        as f(id, subject_id, subject_kind, kind, fact_key, digest_at, content)
    )
    insert into witnesses (bucket, fact_id, source_kind, source_id, source_version)
    select $1, w.fact_id, w.source_kind, w.source_id, w.source_version
    from unnest($11::bigint[], $12::text[], $13::bigint[], $14::int[])
      as w(fact_id, source_kind, source_id, source_version)
    on conflict do nothing`,
}

/**
 * Inserts facts that the caller, who holds the subjects' locks, has found to be new, and says who told them and others; a
 * witness that is there already is left as it is. Fails with SQLSTATE 23505 when one of the facts is there: something wrote
 * without the lock, or a replay left the fact without a witness.
 */
export async function insertFacts(
  db: Queryable,
  bucket: number,
  as_of: Date,
  facts: readonly NewFact[],
  witnesses: readonly NewWitness[],
): Promise<void> {
  await db.query(INSERT, [
    bucket,
    as_of,
    Buffer.concat(facts.map((fact) => fact.digest)),
    facts.map((fact) => fact.id),
    facts.map((fact) => fact.subject_id),
    facts.map((fact) => fact.subject_kind),
    facts.map((fact) => fact.kind),
    facts.map((fact) => fact.key),
    facts.map((_, index) => 1 + 16 * index),
    facts.map((fact) => fact.content),
    witnesses.map((witness) => witness.fact_id),
    witnesses.map((witness) => witness.source.kind),
    witnesses.map((witness) => witness.source.id),
    witnesses.map((witness) => witness.source.version),
  ])
}
