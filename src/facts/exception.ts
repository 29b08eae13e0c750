/** What a person must decide. One open row per (subject, kind, cause). */
export type ExceptionKind =
  | 'signature_failed'
  | 'unreadable_event'
  | 'unmapped_event'
  | 'event_without_id'
  | 'event_content_changed'
  | 'event_misdirected'
  | 'clock_skew'
  | 'body_too_large'
  | 'stale_secret'
  | 'unknown_order'
  | 'amount_mismatch'
  | 'currency_mismatch'
  | 'account_mismatch'
  | 'underpayment'
  | 'surplus_payment'
  | 'duplicate_payment'
  | 'paid_after_close'
  | 'refund_before_payment'
  | 'unexplained_refund'
  | 'refund_failed'
  | 'refund_exceeds_payment'
  | 'late_reversal'
  | 'dispute_opened'
  | 'dispute_deadline'
  | 'fact_conflict'
  | 'decision_outdated'
  | 'right_under_review'
  | 'lookup_failed'
  | 'confirmation_failed'
  | 'operation_unknown'
  | 'operation_failed'
  | 'effect_failed'
  | 'irreversible_effect_unjustified'
  | 'settling_failed'
  | 'recon_break'
  | 'derivation_parked'
  | 'endpoint_silent'
  | 'endpoint_refusing'
  | 'events_stuck'
  | 'lookups_stuck'
  | 'paid_unfulfilled'

export type Severity = 'notice' | 'warning' | 'urgent'

/** An exception that is true of a subject now, as the rules see it. It closes by itself when they no longer say so. */
export interface ExceptionDue {
  readonly kind: ExceptionKind
  /** Tells two exceptions of one kind on one subject apart (a refund id, a payment id); `-` where there can be only one. */
  readonly cause: string
  readonly severity: Severity
  /** Plain words for the person: what happened and what to do next. Holds ids and amounts, no personal data. */
  readonly message: string
  /** Nobody is told before the exception has stood this long; for what usually explains itself (an order about to be committed). */
  readonly alert_after_ms: number
}
