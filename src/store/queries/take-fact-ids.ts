import type { Queryable, Statement } from '../database.ts'

const TAKE: Statement = { name: 'take-fact-ids', text: "select nextval('fact_id_blocks') as first" }

const BLOCK = 1000n

/** Hands out ids for facts from blocks of a thousand. Ids of a block that a crash leaves unused are lost, which is harmless. */
export class FactIds {
  #next = 0n
  #end = 0n

  /** Gives as many ids as asked for. `db` may be a transaction: a sequence is not rolled back. */
  async take(db: Queryable, count: number): Promise<bigint[]> {
    const ids: bigint[] = []
    while (ids.length < count) {
      if (this.#next >= this.#end) {
        const [row] = await db.query<{ first: bigint }>(TAKE)
        this.#next = row!.first
        this.#end = row!.first + BLOCK
      }
      ids.push(this.#next++)
    }
    return ids
  }
}
