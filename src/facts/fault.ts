/**
 * Something of ours failed. Carries a stable code, what to do next in its message, and whether trying again helps.
 * `docs/errors.md` lists every code; a test compares the two.
 */
export class Fault extends Error {
  readonly code: FaultCode
  /** True when the same call may succeed later without anyone mending anything. */
  readonly retriable: boolean

  constructor(code: FaultCode, message: string, options: { retriable?: boolean; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'Fault'
    this.code = code
    this.retriable = options.retriable ?? false
  }
}

export type FaultCode =
  | 'config_invalid'
  | 'config_not_found'
  | 'secret_missing'
  | 'mode_mismatch'
  | 'schema_newer'
  | 'schema_changed'
  | 'provider_unavailable'
  | 'lookup_unsupported'
  | 'database_unavailable'
  | 'database_busy'
  | 'directory_in_use'
  | 'queue_full'
  | 'isolation_wrong'
  | 'commit_failed'
  | 'settle_failed'
  | 'settle_late'
  | 'hook_failed'
  | 'hook_revoked'
  | 'order_conflict'
  | 'order_invalid'
  | 'decision_invalid'
  | 'decision_outdated'
  | 'exception_ruled'
  | 'operation_invalid'
  | 'operation_conflict'
  | 'operation_refused'
  | 'not_found'
  | 'effect_not_retriable'
  | 'lease_lost'
  | 'replay_refused'
  | 'reconcile_running'
  | 'shutting_down'
