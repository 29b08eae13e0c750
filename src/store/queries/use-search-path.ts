import type { Queryable, Statement } from '../database.ts'

const USE: Statement = { name: 'use-search-path', text: "select set_config('search_path', $1, true)" }

/** Sets where unqualified table names are looked up, for the rest of the transaction. */
export async function useSearchPath(db: Queryable, search_path: string): Promise<void> {
  await db.query(USE, [search_path])
}
