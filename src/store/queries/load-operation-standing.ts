import type { OrderStatus } from '../../rules/order-state.ts'
import type { PaymentStatus, RefundStatus } from '../../rules/payment-state.ts'
import type { Queryable, Statement } from '../database.ts'
import type { PaymentKey } from './payment-row.ts'

// The lock is a statement of its own, and what is read under it comes in later ones: in one statement they would see
// what stood before the lock was had.
const LOCK_PAYMENT: Statement = {
  name: 'lock-operation-payment',
  text: `
    select id from payments
    where provider_payment_id = $2 and namespace = $3 and account = $4 and tenant = $5 and bucket = $1
    for no key update`,
}

const PAYMENT: Statement = {
  name: 'load-operation-payment',
  text: `
    select id, status, currency, captured_minor, refunded_minor, refund_pending_minor, disputed_minor, lost_minor,
      reversed_minor
    from payments where id = $2 and bucket = $1`,
}

const REFUNDS: Statement = {
  name: 'load-operation-refunds',
  text: 'select provider_refund_id, status, amount_minor from refunds where payment_id = $2 and bucket = $1',
}

const DISPUTES: Statement = {
  name: 'load-operation-disputes',
  text: 'select status from disputes where payment_id = $2 and bucket = $1',
}

const LOCK_ORDER: Statement = {
  name: 'lock-operation-order',
  text: 'select id from orders where reference = $2 and tenant = $3 and bucket = $1 for no key update',
}

const ORDER: Statement = {
  name: 'load-operation-order',
  text: 'select id, status, currency, amount_minor, net_minor, payment_ids from orders where id = $2 and bucket = $1',
}

const PAYMENTS: Statement = {
  name: 'load-operation-order-payments',
  text: `
    select p.* from unnest($2::bigint[]) as k(id),
      lateral (select provider_payment_id, status from payments where id = k.id and bucket = $1 offset 0) p`,
}

/** What is known of a payment that is to be given back. */
export interface PaymentStanding {
  readonly payment: {
    readonly id: bigint
    readonly status: PaymentStatus
    readonly currency: string | null
    readonly captured_minor: string
    readonly refunded_minor: string
    readonly refund_pending_minor: string
    readonly disputed_minor: string
    readonly lost_minor: string
    readonly reversed_minor: string
  }
  readonly refunds: readonly {
    readonly provider_refund_id: string
    readonly status: RefundStatus
    readonly amount_minor: string | null
  }[]
  readonly disputes: readonly { readonly status: string }[]
}

/** What is known of an order that is to be charged. */
export interface OrderStanding {
  readonly order: {
    readonly id: bigint
    readonly status: OrderStatus
    readonly currency: string | null
    readonly amount_minor: string | null
    readonly net_minor: string
    readonly payment_ids: readonly bigint[]
  }
  readonly payments: readonly { readonly provider_payment_id: string; readonly status: PaymentStatus }[]
}

/** Locks a payment, then reads what is known of it. Null when nothing is. Runs in the caller's transaction. */
export async function lockPaymentStanding(
  db: Queryable,
  bucket: number,
  key: PaymentKey,
): Promise<PaymentStanding | null> {
  const { tenant, namespace, account, provider_payment_id } = key
  const [locked] = await db.query<{ id: bigint }>(LOCK_PAYMENT, [
    bucket,
    provider_payment_id,
    namespace,
    account,
    tenant,
  ])
  if (!locked) return null
  const of = [bucket, locked.id]
  const [[payment], refunds, disputes] = await Promise.all([
    db.query<PaymentStanding['payment']>(PAYMENT, of),
    db.query<PaymentStanding['refunds'][number]>(REFUNDS, of),
    db.query<PaymentStanding['disputes'][number]>(DISPUTES, of),
  ])
  return { payment: payment!, refunds, disputes }
}

/** Locks an order, then reads what is known of it and its payments. Null when nothing is. */
export async function lockOrderStanding(
  db: Queryable,
  bucket: number,
  key: { readonly tenant: string; readonly reference: string },
): Promise<OrderStanding | null> {
  const [locked] = await db.query<{ id: bigint }>(LOCK_ORDER, [bucket, key.reference, key.tenant])
  if (!locked) return null
  const [order] = await db.query<OrderStanding['order']>(ORDER, [bucket, locked.id])
  const payments = await db.query<OrderStanding['payments'][number]>(PAYMENTS, [bucket, order!.payment_ids])
  return { order: order!, payments }
}
