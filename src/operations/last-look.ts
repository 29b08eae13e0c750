import {
  type ChargeLook,
  type Look,
  lookBeforeCharge,
  lookBeforeRefund,
  type OtherOperation,
  type RefundLook,
  refundable,
} from '../rules/operation-look.ts'
import type { Transaction } from '../store/database.ts'
import {
  loadOperationsOfOrder,
  loadOperationsOfPayment,
  type RivalOperation,
} from '../store/queries/load-operation-rivals.ts'
import { lockOrderStanding, lockPaymentStanding } from '../store/queries/load-operation-standing.ts'
import type { OperationRow } from '../store/queries/operation-row.ts'
import type { PaymentKey } from '../store/queries/payment-row.ts'

type Known<T> = Omit<T, 'amount_minor' | 'currency' | 'confirmed'>

/** What is known of a payment, read under its lock. @param self the operation that looks, which does not stand in its own way */
export async function lookAtPayment(
  tx: Transaction,
  bucket: number,
  key: PaymentKey,
  self: bigint | null,
): Promise<Known<RefundLook>> {
  const standing = await lockPaymentStanding(tx, bucket, key)
  const rivals = await loadOperationsOfPayment(tx, bucket, key)
  const payment = standing?.payment
  return {
    payment: payment
      ? {
          status: payment.status,
          currency: payment.currency,
          captured_minor: BigInt(payment.captured_minor),
          refunded_minor: BigInt(payment.refunded_minor),
          refund_pending_minor: BigInt(payment.refund_pending_minor),
          disputed_minor: BigInt(payment.disputed_minor),
          lost_minor: BigInt(payment.lost_minor),
          reversed_minor: BigInt(payment.reversed_minor),
        }
      : null,
    refunds: (standing?.refunds ?? []).map(({ provider_refund_id, status, amount_minor }) => ({
      id: provider_refund_id,
      status,
      amount_minor: amount_minor === null ? null : BigInt(amount_minor),
    })),
    disputes: (standing?.disputes ?? []).map(({ status }) => status),
    others: othersThan(self, rivals, 'refund'),
  }
}

/** What is known of an order, read under its lock. */
export async function lookAtOrder(
  tx: Transaction,
  bucket: number,
  key: { readonly tenant: string; readonly reference: string },
  self: bigint | null,
): Promise<Known<ChargeLook>> {
  const standing = await lockOrderStanding(tx, bucket, key)
  const rivals = await loadOperationsOfOrder(tx, bucket, key)
  const order = standing?.order
  return {
    order: order
      ? {
          status: order.status,
          currency: order.currency,
          due_minor: BigInt(order.amount_minor ?? 0),
          net_minor: BigInt(order.net_minor),
        }
      : null,
    payments: (standing?.payments ?? []).map(({ provider_payment_id, status }) => ({
      id: provider_payment_id,
      status,
    })),
    others: othersThan(self, rivals, 'charge'),
  }
}

function othersThan(
  self: bigint | null,
  rivals: readonly RivalOperation[],
  kind: OtherOperation['kind'],
): OtherOperation[] {
  return rivals
    .filter(({ id }) => id !== self)
    .map(({ operation_key, state, amount_minor, provider_id, maybe_sent }) => ({
      key: operation_key,
      kind,
      state,
      amount_minor: BigInt(amount_minor),
      provider_id,
      maybe_sent,
    }))
}

/** Looks at the present state once more, under the lock that its change would need. */
export async function lastLook(tx: Transaction, bucket: number, row: OperationRow): Promise<Look> {
  const asked = { amount_minor: BigInt(row.amount_minor), currency: row.currency }
  if (row.kind === 'refund') {
    const known = await lookAtPayment(tx, bucket, row, row.id)
    return lookBeforeRefund({ ...known, ...asked, confirmed: row.confirmed })
  }
  const known = await lookAtOrder(tx, bucket, { tenant: row.tenant, reference: row.order_ref }, row.id)
  return lookBeforeCharge({ ...known, ...asked })
}

export { lookBeforeCharge, lookBeforeRefund, refundable }
