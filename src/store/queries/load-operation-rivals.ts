import type { OperationState } from '../../rules/operation-state.ts'
import type { Queryable, Statement } from '../database.ts'

// A request of an attempt that ended without a definitive no may have done its work.
const COLUMNS = `o.id, o.operation_key, o.state, o.amount_minor, o.provider_id, exists (
      select 1 from operation_requests r
      where r.operation_id = o.id and r.attempt = o.attempt and r.outcome in ('', 'unknown', 'accepted') and r.bucket = $1
    ) as maybe_sent`

const OF_PAYMENT: Statement = {
  name: 'load-operations-of-payment',
  text: `
    select ${COLUMNS} from operations o
    where o.provider_payment_id = $2 and o.namespace = $3 and o.account = $4 and o.tenant = $5 and o.kind = 'refund'
      and o.bucket = $1`,
}

const OF_ORDER: Statement = {
  name: 'load-operations-of-order',
  text: `
    select ${COLUMNS} from operations o
    where o.order_ref = $2 and o.tenant = $3 and o.kind = 'charge' and o.bucket = $1`,
}

/** Another operation on the same payment or order. */
export interface RivalOperation {
  readonly id: bigint
  readonly operation_key: string
  readonly state: OperationState
  readonly amount_minor: string
  readonly provider_id: string
  readonly maybe_sent: boolean
}

/** All refunds of a payment that we asked for. Under the payment's lock, so that none is planned meanwhile. */
export function loadOperationsOfPayment(
  db: Queryable,
  bucket: number,
  payment: {
    readonly tenant: string
    readonly namespace: string
    readonly account: string
    readonly provider_payment_id: string
  },
): Promise<RivalOperation[]> {
  const { tenant, namespace, account, provider_payment_id } = payment
  return db.query<RivalOperation>(OF_PAYMENT, [bucket, provider_payment_id, namespace, account, tenant])
}

/** All charges of an order that we asked for. Under the order's lock. */
export function loadOperationsOfOrder(
  db: Queryable,
  bucket: number,
  order: { readonly tenant: string; readonly reference: string },
): Promise<RivalOperation[]> {
  return db.query<RivalOperation>(OF_ORDER, [bucket, order.reference, order.tenant])
}
