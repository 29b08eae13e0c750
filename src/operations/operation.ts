import type { OperationKind, OperationState } from '../rules/operation-state.ts'
import { isOpen } from '../rules/operation-state.ts'
import type { OperationNote, OperationRequest } from '../store/queries/find-operation.ts'
import type { OperationRow } from '../store/queries/operation-row.ts'

/** A charge or refund that we ask a provider for, as it stands. */
export interface Operation {
  /** Our own stable key. */
  readonly key: string
  readonly tenant: string
  readonly kind: OperationKind
  /**
   * `planned`: not sent yet. `in_flight`: being sent. `succeeded`: the provider took it on, `provider_id` says what it made.
   * `failed_definitive`: a definitive no. `unknown`: nobody knows yet; it is repeated, asked about, or waits for a person.
   * `abandoned`: a person gave it up. `superseded`: not needed any more, nothing was sent.
   */
  readonly state: OperationState
  readonly endpoint: string
  /** The payment that is given back, or that the charge made; null while there is none. */
  readonly payment: string | null
  /** The order that is charged; null for a refund. */
  readonly order: string | null
  /** Minor units of `currency`. */
  readonly amount_minor: bigint
  readonly currency: string
  /** Number of the attempt; the next one has another key at the provider and begins only after a definitive no. */
  readonly attempt: number
  /** The provider's id of the refund or payment; null while it is not known. */
  readonly provider_id: string | null
  /** Why it is where it is: the provider's code or ours; empty for nothing in particular. */
  readonly code: string
  readonly reason: string
  /** Nothing more happens before a person says something: see `resolve`, `confirm`, `retry`, `abandon`. */
  readonly waits_for_person: boolean
  readonly next_try_at: Date | null
  readonly created_at: Date
  readonly finished_at: Date | null
}

/** With everything that was sent and said. */
export interface OperationStory extends Operation {
  readonly requests: readonly OperationRequest[]
  readonly notes: readonly OperationNote[]
}

export function asOperation(row: OperationRow): Operation {
  return {
    key: row.operation_key,
    tenant: row.tenant,
    kind: row.kind,
    state: row.state,
    endpoint: row.endpoint,
    payment: row.provider_payment_id === '' ? null : row.provider_payment_id,
    order: row.order_ref === '' ? null : row.order_ref,
    amount_minor: BigInt(row.amount_minor),
    currency: row.currency,
    attempt: row.attempt,
    provider_id: row.provider_id === '' ? null : row.provider_id,
    code: row.code,
    reason: row.reason,
    waits_for_person: isOpen(row.state) && row.due_at === null,
    next_try_at: isOpen(row.state) ? row.due_at : null,
    created_at: row.created_at,
    finished_at: row.finished_at,
  }
}
