import type { Fact } from '../facts/fact.ts'
import type { LookupRequest } from '../facts/lookup.ts'
import type { Ask } from './ask.ts'

/** What we know ourselves of a payment that is asked about: from the facts stored when it was started. */
export interface Expected {
  readonly amount_minor: bigint
  readonly currency: string
  readonly order: string | null
  /** When it was started, Unix milliseconds; null when unknown. */
  readonly started_at_ms: number | null
}

/** What comes in from the edge: the clock, and the one way to send a request. */
export interface LookupContext {
  /** The present time, Unix milliseconds. */
  readonly now_ms: number
  /** Sends a request; an adapter that looks up through an official SDK passes its own time limit to that instead. */
  readonly ask: Ask
  /** How long one request may take, milliseconds. */
  readonly limit_ms: number
}

/** The provider's answer about one object. Never thrown: whoever asks stores what it comes to. */
export type LookupAnswer =
  | {
      readonly outcome: 'found'
      readonly facts: readonly Fact[]
      readonly lookups?: readonly LookupRequest[]
    }
  /** The provider says that there is none. Soon after its creation this can be read lag. */
  | { readonly outcome: 'not_found' }
  /** Nobody knows: time limit, connection, 5xx, 429. Asked again after `retry_after_ms`, or later. */
  | { readonly outcome: 'unavailable'; readonly reason: string; readonly retry_after_ms?: number | undefined }
  /** It will not answer us: wrong or missing credentials, no right. A person has to mend the set-up. */
  | { readonly outcome: 'refused'; readonly reason: string }
  /** It answered in a shape that we do not know. The reason names fields, never their content. */
  | { readonly outcome: 'unreadable'; readonly reason: string }

export type ListedKind = 'payments' | 'refunds' | 'disputes'

/** A window of time, half open: from inclusive, to exclusive, Unix milliseconds. */
export interface Window {
  readonly from_ms: number
  readonly to_ms: number
}

/** One object of a provider's list, for item-by-item comparison. */
export interface ListedItem {
  readonly kind: ListedKind
  /** The provider's id of the payment, the refund or the dispute. */
  readonly id: string
  /** Id of the payment that it belongs to; its own for a payment; null where the list does not tell. */
  readonly payment: string | null
  readonly amount_minor: bigint | null
  readonly currency: string | null
  /** What the provider calls its state. */
  readonly status: string
  /** When it was created or, where the provider lists by that, when the money moved; ISO 8601 UTC. */
  readonly at: string | null
  /** The same statements that a webhook about it would make. */
  readonly facts: readonly Fact[]
}

/** A refund to be asked for. */
export interface RefundRequest {
  /** Our stable operation key, sent as the provider's idempotency key. */
  readonly key: string
  readonly payment: string
  readonly attempt?: string | undefined
  readonly amount_minor: bigint
  readonly currency: string
  /** True when this gives back all that is left of the payment; some providers want to be told so. */
  readonly full: boolean
  readonly reason?: string | undefined
}

/** A charge to be asked for: money from a payer whose means of payment the provider has stored. */
export interface ChargeRequest {
  readonly key: string
  readonly amount_minor: bigint
  readonly currency: string
  readonly order: string
  /** The provider's id of the customer. */
  readonly customer: string
  /** The provider's id of the stored means of payment, where it wants one. */
  readonly method?: string | undefined
}

export type OperationAnswer =
  /** The provider took it on; the facts say how far it has come. */
  | { readonly outcome: 'accepted'; readonly provider_id: string; readonly facts: readonly Fact[] }
  /** A definitive no: nothing happened and nothing will under this key. */
  | { readonly outcome: 'declined'; readonly code: string; readonly reason: string }
  /** Nobody knows whether it happened. */
  | { readonly outcome: 'unknown'; readonly reason: string; readonly retry_after_ms?: number | undefined }

/**
 * What can be asked of a provider, as far as it offers it. None of these throws or rejects for anything that the provider
 * or the network does. Official SDKs are used where npm has one, loaded on first use, with their own retries off.
 */
export interface Lookup {
  /** Reads one object. `expected` is what we stored ourselves, which some providers demand and none may contradict. */
  fetch(request: LookupRequest, expected: Expected | null, context: LookupContext): Promise<LookupAnswer>
  /** Finds what belongs to an order reference of ours. */
  find?(reference: string, expected: Expected | null, context: LookupContext): Promise<LookupAnswer>
  /**
   * Lists everything of one kind in a window, page by page. Ends normally only when the whole window was listed.
   * @throws Fault `provider_unavailable` when a page could not be had
   */
  list?(kind: ListedKind, window: Window, context: LookupContext): AsyncIterable<readonly ListedItem[]>
  /** By which time `list` selects: creation, or when money moved as its facts tell it; left out where nobody knows. */
  readonly listed_by?: Readonly<Partial<Record<ListedKind, 'created' | 'moved'>>> | undefined
  refund?(request: RefundRequest, context: LookupContext): Promise<OperationAnswer>
  charge?(request: ChargeRequest, context: LookupContext): Promise<OperationAnswer>
}
