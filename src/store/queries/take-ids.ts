import type { Queryable, Statement } from '../database.ts'

const BLOCK = 1000n

/** Hands out ids from blocks of a thousand. Ids of a block that a crash leaves unused are lost, which is harmless. */
export class IdBlocks {
  readonly #take: Statement
  #next = 0n
  #end = 0n

  constructor(sequence: 'event_ids' | 'fact_ids' | 'subject_ids') {
    this.#take = {
      name: `take-${sequence.replace('_', '-')}`,
      text: `select nextval('${sequence}') as first`,
    }
  }

  /** Gives as many ids as asked for. `db` may be a transaction: a sequence is not rolled back. */
  async take(db: Queryable, count: number): Promise<bigint[]> {
    const ids: bigint[] = []
    while (ids.length < count) {
      if (this.#next >= this.#end) {
        const [row] = await db.query<{ first: bigint }>(this.#take)
        // Read again: another batch of this process may have fetched a block meanwhile, whose rest is lost then.
        this.#next = row!.first
        this.#end = row!.first + BLOCK
      }
      ids.push(this.#next++)
    }
    return ids
  }
}

/** The id blocks of one process. */
export interface Ids {
  readonly events: IdBlocks
  readonly facts: IdBlocks
  readonly subjects: IdBlocks
}

export function newIds(): Ids {
  return {
    events: new IdBlocks('event_ids'),
    facts: new IdBlocks('fact_ids'),
    subjects: new IdBlocks('subject_ids'),
  }
}
