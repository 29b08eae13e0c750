/** What a provider can and cannot do, as data: the core refuses a guarantee that the sheet cannot support. */
export interface CapabilitySheet {
  readonly event_id: 'body' | 'signed_header' | 'unsigned_header' | 'none'
  /**
   * What proves the sender: a signature over the bytes received, one over named fields of the message, the provider's own
   * answer when it is asked, or nothing (the message is a hint that causes a look-up).
   */
  readonly proof: 'bytes' | 'fields' | 'confirmation' | 'none'
  readonly signed_time: boolean
  /** Where live and test can be told apart in the message; `secret` where only the secret (or the host) tells. */
  readonly test_marker: 'body' | 'secret'
  /** Does the sender deliver again after an answer that is not 2xx? */
  readonly redelivers: boolean
  /** For how long after the first try, in hours; null when unknown or never. */
  readonly redelivers_for_hours: number | null
  readonly refund_ids: boolean
  readonly lookup_by_payment: boolean
  readonly lookup_by_reference: boolean
  readonly lists_by_window: boolean
  /** How long after a change a look-up or list may still show the former state, milliseconds; null when unknown. */
  readonly read_lag_ms: number | null
  /** How long after success a payment can still be taken back without a dispute, in days, by method; `*` for the rest. */
  readonly late_failure_days: Readonly<Record<string, number>>
  /** How a repeated request is kept from acting twice; null where the provider has no such call. */
  readonly idempotency: {
    readonly refund: IdempotencyRules | null
    readonly charge: IdempotencyRules | null
  }
}

/** How one kind of request can be repeated. */
export interface IdempotencyRules {
  /** Where the key goes; `none` where the provider takes no key, so that an uncertain request is never repeated unasked. */
  readonly where: 'header' | 'body' | 'none'
  /** Name of the header or field. */
  readonly name: string | null
  /** For how long a repeat under the same key is safe, hours; null when unknown or for ever (see `note`). */
  readonly window_hours: number | null
  /** What a repeat does inside the window. */
  readonly repeat: 'same_answer' | 'same_answer_errors_too' | 'finishes_the_work' | 'runs_again' | 'unknown'
  /** The adapter looks for what an earlier request made before it sends another, so that a repeat after a pause is safe. */
  readonly looks_first?: boolean
  /** What is made carries our key, and facts about it (webhooks, look-ups, lists) name it as `operation`. */
  readonly echoes_key?: boolean
  /** How a definitive no looks: HTTP statuses or the provider's codes. Everything else is unknown, never a no. */
  readonly definitive_no: readonly string[]
  /** What else must be known, with its source; what is not confirmed is said to be so. */
  readonly note: string
}
