import type { Queryable, Statement } from '../database.ts'
import { arrayLiteral } from './payment-arrays.ts'

const REFUNDS: Statement = {
  name: 'delete-stale-refunds',
  text: `
    delete from refunds r using unnest($2::bigint[], $3::text[]) as k(payment_id, known)
    where r.payment_id = k.payment_id and r.bucket = $1 and not (r.provider_refund_id = any(k.known::text[]))`,
}

const DISPUTES: Statement = {
  name: 'delete-stale-disputes',
  text: `
    delete from disputes d using unnest($2::bigint[], $3::text[]) as k(payment_id, known)
    where d.payment_id = k.payment_id and d.bucket = $1 and not (d.provider_dispute_id = any(k.known::text[]))`,
}

/** Deletes refunds and disputes of these payments that no fact speaks of any more; the payments' rows are locked. */
export async function deleteStaleReturns(
  db: Queryable,
  bucket: number,
  payments: readonly {
    readonly payment_id: bigint
    readonly refunds: readonly string[]
    readonly disputes: readonly string[]
  }[],
): Promise<void> {
  const ids = payments.map((payment) => payment.payment_id)
  await Promise.all([
    db.query(REFUNDS, [bucket, ids, payments.map((payment) => arrayLiteral(payment.refunds))]),
    db.query(DISPUTES, [bucket, ids, payments.map((payment) => arrayLiteral(payment.disputes))]),
  ])
}
