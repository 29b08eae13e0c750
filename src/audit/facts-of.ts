import type { Fact } from '../facts/fact.ts'
import type { Subject } from '../facts/subject.ts'
import type { Queryable } from '../store/database.ts'
import { asFact, loadFacts } from '../store/queries/load-facts.ts'

/** The live facts about each of these subjects, by the id of its row. */
export async function factsOf(
  db: Queryable,
  bucket: number,
  subjects: ReadonlyMap<bigint, Subject>,
): Promise<ReadonlyMap<bigint, readonly Fact[]>> {
  const facts = new Map<bigint, Fact[]>([...subjects.keys()].map((id) => [id, []]))
  if (subjects.size === 0) return facts
  for (const stored of await loadFacts(db, bucket, [...subjects.keys()])) {
    facts.get(stored.subject_id)!.push(asFact(subjects.get(stored.subject_id)!, stored))
  }
  return facts
}
