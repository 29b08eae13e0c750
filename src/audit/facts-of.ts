import type { Fact } from '../facts/fact.ts'
import type { Subject } from '../facts/subject.ts'
import type { Queryable } from '../store/database.ts'
import { loadFacts } from '../store/queries/load-facts.ts'

/** The live facts about each of these subjects, by the id of its row. */
export async function factsOf(
  db: Queryable,
  bucket: number,
  subjects: ReadonlyMap<bigint, Subject>,
): Promise<ReadonlyMap<bigint, readonly Fact[]>> {
  const facts = new Map<bigint, Fact[]>([...subjects.keys()].map((id) => [id, []]))
  if (subjects.size === 0) return facts
  for (const { subject_id, key, kind, content } of await loadFacts(db, bucket, [...subjects.keys()])) {
    facts.get(subject_id)!.push({ subject: subjects.get(subject_id)!, key, kind, content } as Fact)
  }
  return facts
}
