import type { Queryable, Statement } from '../database.ts'

// The number of answers stands in the condition: whoever else has answered meanwhile (a lease that ran out) wins, and this
// answer divides by zero, which takes its facts back with it.
const FINISH: Statement = {
  name: 'finish-lookup',
  text: `
    with answered as (
      update lookups set answers = $3::int, attempts = case when $4::boolean then 0 else attempts end,
        due_at = case when wanted = $5::bigint then $6::timestamptz else $7::timestamptz end,
        last_outcome = $8, last_reason = $9
      where id = $2 and answers = $3::int - 1 and bucket = $1
      returning id
    ), kept as (
      insert into lookup_answers (bucket, lookup_id, number, asked_at, answered_at, facts, outcome, reason)
      select $1, a.id, $3::int, $10::timestamptz, $7::timestamptz, $11::int, $8, $9 from answered a
    )
    select 1 / count(*) from answered`,
}

const TAKEN: Statement = {
  name: 'read-lookup-answers',
  text: 'select answers from lookups where id = $2 and bucket = $1',
}

/** How a question ended this time. */
export interface LookupEnd {
  readonly id: bigint
  /** Number of this answer. */
  readonly number: number
  /** How often it had been asked for when the request was sent. */
  readonly wanted: bigint
  readonly asked_at: Date
  readonly outcome: 'found' | 'not_found' | 'unavailable' | 'refused' | 'unreadable'
  readonly reason: string
  readonly facts: number
  /** When to ask again if nobody asked for more meanwhile; null for never. */
  readonly due_at: Date | null
  /** The tries that came to nothing are over. */
  readonly done: boolean
}

/** Stores an answer in the transaction that settles its facts. Fails with SQLSTATE 22012 when another one came first. */
export async function finishLookup(
  db: Queryable,
  bucket: number,
  as_of: Date,
  end: LookupEnd,
): Promise<void> {
  await db.query(FINISH, [
    bucket,
    end.id,
    end.number,
    end.done,
    end.wanted,
    end.due_at,
    as_of,
    end.outcome,
    end.reason,
    end.asked_at,
    end.facts,
  ])
}

/** How many answers of a question are stored; null when there is no such question. */
export async function readLookupAnswers(db: Queryable, bucket: number, id: bigint): Promise<number | null> {
  const [row] = await db.query<{ answers: number }>(TAKEN, [bucket, id])
  return row?.answers ?? null
}
