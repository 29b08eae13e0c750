import type { ExceptionKind } from '../facts/exception.ts'
import type { Endpoint } from '../providers/endpoint.ts'
import type { Transaction } from '../store/database.ts'
import type { NewException } from '../store/queries/raise-exceptions.ts'
import type { WatchLimits } from './watch-options.ts'

/** What a watch looks at in one round: one bucket, inside one transaction. */
export interface Watched {
  readonly tx: Transaction
  readonly bucket: number
  readonly now_ms: number
  /** The endpoints whose tenants live in this bucket. */
  readonly endpoints: readonly Endpoint[]
  readonly limits: WatchLimits
}

/**
 * Looks for what nothing that arrives can tell. It says everything that is so now: what it said before and says no more
 * is over, and closes.
 */
export interface Watch {
  /** Names its turns in the database. */
  readonly name: string
  /** The kinds that it alone raises. */
  readonly kinds: readonly ExceptionKind[]
  look(watched: Watched): Promise<readonly Finding[]>
}

/** One exception that stands now. */
export type Finding = Omit<NewException, 'origin' | 'alert_at'>
