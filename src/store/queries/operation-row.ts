import type { OperationKind, OperationState } from '../../rules/operation-state.ts'

/** What else a request holds. Ids and codes, no personal data. */
export interface StoredParams {
  readonly reason?: string | undefined
  readonly customer?: string | undefined
  readonly method?: string | undefined
  /** Who or what asked for it: a person, an effect. Not part of what makes it the same operation. */
  readonly asked_by?: string | undefined
}

/** One row of `operations`. */
export interface OperationRow {
  readonly id: bigint
  readonly created_at: Date
  readonly updated_at: Date
  readonly finished_at: Date | null
  readonly due_at: Date | null
  readonly unknown_since: Date | null
  readonly attempt: number
  readonly tries: number
  readonly confirmed: boolean
  readonly lease_token: string | null
  readonly params_digest: Buffer
  readonly tenant: string
  readonly operation_key: string
  readonly kind: OperationKind
  readonly state: OperationState
  readonly endpoint: string
  readonly namespace: string
  readonly account: string
  readonly provider_payment_id: string
  readonly order_ref: string
  readonly currency: string
  readonly amount_minor: string
  readonly provider_id: string
  readonly code: string
  readonly reason: string
  readonly params: StoredParams
}

export const OPERATION_COLUMNS = `o.id, o.created_at, o.updated_at, o.finished_at, o.due_at, o.unknown_since, o.attempt,
  o.tries, o.confirmed, o.lease_token, o.params_digest, o.tenant, o.operation_key, o.kind, o.state, o.endpoint, o.namespace,
  o.account, o.provider_payment_id, o.order_ref, o.currency, o.amount_minor, o.provider_id, o.code, o.reason, o.params`
