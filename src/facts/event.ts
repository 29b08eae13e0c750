import type { Fact } from './fact.ts'
import type { LookupRequest } from './lookup.ts'

export type Mode = 'live' | 'test'

/** What an adapter reads out of one authentic message. */
export interface Translation {
  /** The provider's event id, or null where this message has none. An empty string counts as none. */
  readonly event_id: string | null
  readonly type: string
  /** When the provider says it happened, ISO 8601 UTC. */
  readonly occurred_at: string | null
  /** What the body says about live or test; null where it says nothing. */
  readonly mode: Mode | null
  /** The account that the body names; has to be the endpoint's. Null where it names none, or nothing is configured to compare it with. */
  readonly account: string | null
  readonly api_version: string | null
  /**
   * `facts`: to be settled. `ignored`: authentic, but means nothing to us (unknown type, informational).
   * `not_ours`: carries none of our references. `unreadable`: authentic, but not a shape that we know.
   */
  readonly outcome: 'facts' | 'ignored' | 'not_ours' | 'unreadable'
  /** Why it is ignored, not ours or unreadable; empty for `facts`. */
  readonly reason: string
  readonly facts: readonly Fact[]
  /** What to ask the provider before the money is believed; left out for nothing. */
  readonly lookups?: readonly LookupRequest[] | undefined
}
