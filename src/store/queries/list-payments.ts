import type { Queryable, Statement } from '../database.ts'
import { PAYMENT_COLUMNS, type PaymentRow } from './payment-row.ts'

const LIST: Statement = {
  name: 'list-payments',
  text: `select ${PAYMENT_COLUMNS} from payments where id > $2 and bucket = $1 order by id limit $3`,
}

const REFUNDS: Statement = {
  name: 'list-refunds',
  text: `
    select id, payment_id, tenant, namespace, account, provider_refund_id, status, amount_minor, currency, origin, moved_at
    from refunds where payment_id = any($2::bigint[]) and bucket = $1 order by id`,
}

const DISPUTES: Statement = {
  name: 'list-disputes',
  text: `
    select id, payment_id, tenant, namespace, account, provider_dispute_id, stage, status, amount_minor, currency,
      withdrawn_minor, reinstated_minor, respond_by
    from disputes where payment_id = any($2::bigint[]) and bucket = $1 order by id`,
}

export interface RefundRow {
  readonly id: bigint
  readonly payment_id: bigint
  readonly tenant: string
  readonly namespace: string
  readonly account: string
  readonly provider_refund_id: string
  readonly status: string
  readonly amount_minor: string | null
  readonly currency: string | null
  readonly origin: string | null
  readonly moved_at: Date | null
}

export interface DisputeRow {
  readonly id: bigint
  readonly payment_id: bigint
  readonly tenant: string
  readonly namespace: string
  readonly account: string
  readonly provider_dispute_id: string
  readonly stage: string
  readonly status: string
  readonly amount_minor: string | null
  readonly currency: string | null
  readonly withdrawn_minor: string
  readonly reinstated_minor: string
  readonly respond_by: Date | null
}

/** A page of payments in id order, those after `after`. */
export function listPayments(
  db: Queryable,
  bucket: number,
  after: bigint,
  limit: number,
): Promise<PaymentRow[]> {
  return db.query<PaymentRow>(LIST, [bucket, after, limit])
}

export function listRefunds(
  db: Queryable,
  bucket: number,
  payment_ids: readonly bigint[],
): Promise<RefundRow[]> {
  return db.query<RefundRow>(REFUNDS, [bucket, payment_ids])
}

export function listDisputes(
  db: Queryable,
  bucket: number,
  payment_ids: readonly bigint[],
): Promise<DisputeRow[]> {
  return db.query<DisputeRow>(DISPUTES, [bucket, payment_ids])
}
