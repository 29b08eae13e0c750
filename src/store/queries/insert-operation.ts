import type { OperationKind } from '../../rules/operation-state.ts'
import type { Queryable, Statement } from '../database.ts'
import { OPERATION_COLUMNS, type OperationRow, type StoredParams } from './operation-row.ts'

// Two questions are answered here: is the key taken, and is another charge of the order unresolved?
const INSERT: Statement = {
  name: 'insert-operation',
  text: `
    insert into operations as o (bucket, created_at, updated_at, due_at, state, tenant, operation_key, params_digest, kind,
      endpoint, namespace, account, provider_payment_id, order_ref, currency, amount_minor, confirmed, params)
    values ($1, $2, $2, $2, 'planned', $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
    on conflict do nothing
    returning ${OPERATION_COLUMNS}`,
}

export interface NewOperation {
  readonly tenant: string
  readonly operation_key: string
  readonly params_digest: Buffer
  readonly kind: OperationKind
  readonly endpoint: string
  readonly namespace: string
  readonly account: string
  /** Empty for a charge. */
  readonly provider_payment_id: string
  /** Empty for a refund. */
  readonly order_ref: string
  readonly currency: string
  readonly amount_minor: bigint
  readonly confirmed: boolean
  readonly params: StoredParams
}

/** Plans an operation. Null when its key is taken, or another charge of its order is unresolved. */
export async function insertOperation(
  db: Queryable,
  bucket: number,
  as_of: Date,
  operation: NewOperation,
): Promise<OperationRow | null> {
  const [row] = await db.query<OperationRow>(INSERT, [
    bucket,
    as_of,
    operation.tenant,
    operation.operation_key,
    operation.params_digest,
    operation.kind,
    operation.endpoint,
    operation.namespace,
    operation.account,
    operation.provider_payment_id,
    operation.order_ref,
    operation.currency,
    operation.amount_minor,
    operation.confirmed,
    JSON.stringify(operation.params),
  ])
  return row ?? null
}
