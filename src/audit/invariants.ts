import type { Database } from '../store/database.ts'
import {
  type BrokenInvariant,
  findBrokenInvariants,
  INVARIANTS,
  type Invariant,
} from '../store/queries/find-broken-invariants.ts'

/** What must hold between what we know and what we gave, whatever the rules say. */
export interface InvariantReport {
  /** Rows that break each; 0 is well. */
  readonly counts: Readonly<Record<Invariant, number>>
  /** The first of them. */
  readonly broken: readonly BrokenInvariant[]
}

/** Rows that changed within this time are let be: they may be settled further just now. */
const STILL_MS = 60_000
const LISTED_MAX = 100

/**
 * Looks for what is paid and not fulfilled, fulfilled and not paid, told and no longer so, and for money that is not
 * conserved. Reads the stored rows alone, in parts, beside a live server; `audit` derives them anew.
 * @param now the time against which rows count as settled
 */
export async function checkInvariants(
  database: Database,
  buckets: number,
  now: Date,
): Promise<InvariantReport> {
  const counts = Object.fromEntries(INVARIANTS.map((name) => [name, 0])) as Record<Invariant, number>
  const broken: BrokenInvariant[] = []
  const still_since = new Date(now.getTime() - STILL_MS)
  for (let bucket = 0; bucket < buckets; bucket += 1) {
    for (const table of ['orders', 'payments'] as const) {
      for (let after: bigint | null = 0n; after !== null; ) {
        const part = await findBrokenInvariants(database, bucket, table, after, still_since)
        for (const found of part.broken) {
          counts[found.invariant] += 1
          if (broken.length < LISTED_MAX) broken.push(found)
        }
        after = part.next
      }
    }
  }
  return { counts, broken }
}
