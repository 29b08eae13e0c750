import type { ExceptionDue } from '../facts/exception.ts'
import { raise } from './raise.ts'

/** Two statements that cannot both be true. Both are kept, and neither wins by arriving first. */
export interface Conflict {
  /** Which statement or object they are about: a fact key where there is one. */
  readonly cause: string
  /** What they say, as the end of a sentence. */
  readonly detail: string
}

/** One exception per cause, whatever number of fields disagree. */
export function conflictExceptions(conflicts: readonly Conflict[], what: string): ExceptionDue[] {
  const details = new Map<string, Set<string>>()
  for (const { cause, detail } of conflicts) {
    details.set(cause, (details.get(cause) ?? new Set()).add(detail))
  }
  return [...details].map(([cause, said]) =>
    raise(
      'fact_conflict',
      cause,
      'urgent',
      `Statements about ${cause} of this ${what} contradict each other: ${[...said].sort().join('; ')}. ` +
        'Both are kept and nothing is done until they agree: look it up at the provider, then replay or correct the wrong one.',
    ),
  )
}
