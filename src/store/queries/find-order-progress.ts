import type { OrderStatus } from '../../rules/order-state.ts'
import type { PaymentStatus } from '../../rules/payment-state.ts'
import type { Queryable, Statement } from '../database.ts'

const FIND: Statement = {
  name: 'find-order-progress',
  text: `
    select o.id, o.status, o.payment_ids from orders o where o.reference = $2 and o.tenant = $3 and o.bucket = $1`,
}

const PAYMENTS: Statement = {
  name: 'find-progress-of-payments',
  text: `
    select namespace, account, provider_payment_id, status from payments
    where id = any($2::bigint[]) and bucket = $1 order by id desc`,
}

export interface OrderProgress {
  readonly status: OrderStatus
  /** The newest first. */
  readonly payments: readonly {
    readonly namespace: string
    readonly account: string
    readonly provider_payment_id: string
    readonly status: PaymentStatus
  }[]
}

/** How an order and its payments stand; null when nothing refers to it. */
export async function findOrderProgress(
  db: Queryable,
  bucket: number,
  tenant: string,
  reference: string,
): Promise<OrderProgress | null> {
  const [order] = await db.query<{ status: OrderStatus; payment_ids: bigint[] }>(FIND, [
    bucket,
    reference,
    tenant,
  ])
  if (!order) return null
  const payments =
    order.payment_ids.length === 0
      ? []
      : await db.query<OrderProgress['payments'][number]>(PAYMENTS, [bucket, order.payment_ids])
  return { status: order.status, payments }
}
