import type { ExceptionKind, Severity } from '../facts/exception.ts'
import type { Fact } from '../facts/fact.ts'
import type { Subject } from '../facts/subject.ts'
import type { LookupEnd } from '../store/queries/finish-lookup.ts'
import type { OperationEnd } from '../store/queries/finish-operation.ts'
import type { EventRow } from '../store/queries/insert-events.ts'
import type { WitnessSource } from '../store/queries/insert-facts.ts'
import type { ExceptionSubject } from '../store/queries/raise-exceptions.ts'
import type { FiledEvent } from '../store/queries/refile-events.ts'
import type { WantedLookup } from '../store/queries/request-lookups.ts'

/**
 * One thing to settle. Everything that can change state comes as one of these: a webhook, a replay, a kept event
 * tried again, an order that the merchant registers, a person's decision.
 */
export interface SettleItem {
  readonly tenant: string
  /** A message to store. When its key is known already the item is a duplicate and nothing else of it happens. */
  readonly event: EventRow | null
  /** Who tells the facts, for an item without an event to store. */
  readonly source: WitnessSource | null
  readonly facts: readonly Fact[]
  /** Subjects to derive anew although no fact about them comes along. */
  readonly touches: readonly Subject[]
  /** Derive the orders of every payment concerned, even if the payment stays as it is. */
  readonly rederive: boolean
  /** Take back what this source has told before (replay). */
  readonly replaces: boolean
  /** How the stored event is filed from now on (replay); left out where it stays as it is. */
  readonly refiles?: FiledEvent | undefined
  /** Marks that this settle answers, as they were leased. */
  readonly marks: readonly { readonly id: bigint; readonly times: number }[]
  /** What to ask the provider once this is recorded. Not asked for again by a duplicate. */
  readonly lookups: readonly WantedLookup[]
  /** The question that these facts answer; stored with them. */
  readonly answers?: LookupEnd | undefined
  /** The request of ours whose answer these facts are; stored with them. */
  readonly operation?: OperationEnd | undefined
  /** What a person must hear about this message, whatever it does to state. Raised only if the message is new. */
  readonly raises: readonly RaisedByItem[]
}

export interface RaisedByItem {
  readonly subject_kind: ExceptionSubject
  readonly subject_key: string
  readonly kind: ExceptionKind
  readonly cause: string
  readonly severity: Severity
  readonly message: string
}

/**
 * What became of an item: `settled` (committed, state derived), `duplicate` (its event was known), `stored` (kept as
 * ignored, misdirected or unreadable), `kept` (event and facts committed, order marked to be settled later).
 */
export type SettleOutcome = 'settled' | 'duplicate' | 'stored' | 'kept'

/** An item with nothing but a tenant; callers set what they need. */
export function settleItem(item: Partial<SettleItem> & { readonly tenant: string }): SettleItem {
  return {
    event: null,
    source: null,
    facts: [],
    touches: [],
    rederive: false,
    replaces: false,
    marks: [],
    lookups: [],
    raises: [],
    ...item,
  }
}
