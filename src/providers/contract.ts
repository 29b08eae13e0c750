import type { Mode, Translation } from '../facts/event.ts'
import type { LookupRequest } from '../facts/lookup.ts'
import type { Refusal } from '../facts/refusal.ts'
import type { CapabilitySheet } from './capability.ts'
import type { Lookup, LookupContext } from './lookup.ts'
import type { Start } from './start.ts'

export type { CapabilitySheet } from './capability.ts'

/** One HTTP request as it reached an endpoint. Header names are lower case; a repeated header is an array. */
export interface Delivery {
  readonly method: string
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  /** Exactly the bytes received. */
  readonly body: Uint8Array
  /** Query of the address, without the question mark; left out for none. Part of what a redirect brings, never trusted. */
  readonly query?: string | undefined
}

/** The delivery is authentic. */
export interface Verified {
  readonly refused: false
  /** Which configured secret matched: its label, never the secret. */
  readonly secret_label: string
  /** The time that the signature covers, Unix milliseconds; null where the provider signs none. */
  readonly signed_at_ms: number | null
  /** An event id that the signature covers (Standard Webhooks); null where the id is only in the body. */
  readonly signed_id: string | null
}

/**
 * Nothing in the message itself proves who sent it. It is stored apart, the provider is asked (`confirm`) by a worker,
 * and before it has said yes no fact is read.
 */
export interface Unconfirmed {
  readonly refused: false
  readonly unconfirmed: true
}

/** A provider whose messages carry all that it takes to check them, so that the answer comes at once. */
export interface SignedProvider extends Provider {
  verify(delivery: Delivery, now_ms: number): Verified | Refusal
}

export type Verdict = Verified | Unconfirmed | Refusal

/** What a buyer's browser brings back: which payment to ask about. Nothing else of it is used. */
export interface ReturnHint {
  readonly lookup: LookupRequest
  /** True when the provider says that the buyer gave up; only chooses the words for the buyer. */
  readonly canceled: boolean
}

/**
 * One configured provider account, as it stands behind an endpoint. Made by a factory with the provider's name
 * (`stripe({ ... })`). The time is passed in; only
 * what is said to fetch does.
 */
export interface Provider {
  /** The provider's name, part of the event key: `stripe`. */
  readonly provider: string
  /** What its payment ids belong to, part of the payment key. */
  readonly namespace: string
  /** Configured account, `default` when unset. Part of the event key and the payment key. */
  readonly account: string
  /** What this endpoint's secrets are for; `null` when they do not tell. Start-up refuses a mode other than the database's. */
  readonly secrets_mode: Mode | null
  /** Labels and fingerprints (first 8 hex digits of SHA-256) of its secrets, for `doctor` and to find a secret used twice. */
  readonly secrets: readonly {
    readonly label: string
    readonly fingerprint: string
    /** True when white space round it was cut off; start-up warns. */
    readonly trimmed?: boolean
  }[]
  /** Raised whenever `translate` could give other facts for the same bytes; replay needs an equal or newer one. */
  readonly adapter_version: number
  readonly capabilities: CapabilitySheet
  /** Names of the headers that `translate` reads; they are stored with the event so that it can be replayed. Never a signature. */
  readonly stored_headers: readonly string[]
  /** Accepted HTTP methods; almost always POST alone. */
  readonly methods: readonly string[]
  /** When set, authentic events of other types are stored and cause nothing. */
  readonly expects: readonly string[] | null
  /**
   * Checks the raw bytes. Never throws for any delivery whatever: what is wrong is a refusal. Answers at once unless a
   * key has to be fetched first; then the promise rejects with Fault `provider_unavailable` (retriable) when it cannot
   * be had, and the sender is asked to deliver again.
   * @param now_ms the present time, Unix milliseconds
   */
  verify(delivery: Delivery, now_ms: number): Verdict | Promise<Verdict>
  /** Reads an authentic delivery. Never throws: what cannot be read has outcome `unreadable`. Same bytes, same result. */
  translate(delivery: Delivery, verified: Verified): Translation
  /**
   * Asks the provider whether it sent this message; for those whose `verify` answers `unconfirmed`.
   * @throws Fault `provider_unavailable` when it does not say
   */
  confirm?(delivery: Delivery, context: LookupContext): Promise<Verified | Refusal>
  /** Reads the request with which a buyer's browser comes back; null when it names no payment. Never throws. */
  readReturn?(delivery: Delivery): ReturnHint | null
  /** Begins a payment at a provider that sends the buyer away and back. */
  readonly start?: Start | undefined
  /** Left out when the configuration has no API credentials, or the provider has no API. */
  readonly lookup?: Lookup | undefined
}
