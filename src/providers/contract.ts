import type { Mode, Translation } from '../facts/event.ts'
import type { Refusal } from '../facts/refusal.ts'

/** One HTTP request as it reached an endpoint. Header names are lower case; a repeated header is an array. */
export interface Delivery {
  readonly method: string
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  /** Exactly the bytes received. */
  readonly body: Uint8Array
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

/** What a provider can and cannot do, as data: the core refuses a guarantee that the sheet cannot support. */
export interface CapabilitySheet {
  readonly event_id: 'body' | 'signed_header' | 'none'
  readonly signed_time: boolean
  /** Does the sender deliver again after an answer that is not 2xx? */
  readonly redelivers: boolean
  /** For how long after the first try, in hours; null when unknown or never. */
  readonly redelivers_for_hours: number | null
  readonly refund_ids: boolean
  readonly lookup_by_payment: boolean
  readonly lookup_by_reference: boolean
  readonly lists_by_window: boolean
  /** How long after success a payment can still be taken back without a dispute, in days, by method; `*` for the rest. */
  readonly late_failure_days: Readonly<Record<string, number>>
}

/**
 * One configured provider account, as it stands behind an endpoint. Made by a factory with the provider's name
 * (`stripe({ ... })`). Pure apart from its options: the time is passed in, and nothing is fetched.
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
   * Checks the raw bytes. Never throws for any delivery whatever: what is wrong is a refusal.
   * @param now_ms the present time, Unix milliseconds
   */
  verify(delivery: Delivery, now_ms: number): Verified | Refusal
  /** Reads an authentic delivery. Never throws: what cannot be read has outcome `unreadable`. Same bytes, same result. */
  translate(delivery: Delivery, verified: Verified): Translation
}
