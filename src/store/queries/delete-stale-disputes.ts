import type { Queryable, Statement } from '../database.ts'
import { arrayLiteral } from './payment-arrays.ts'

const DELETE: Statement = {
  name: 'delete-stale-disputes',
  text: `
    delete from disputes d using unnest($2::bigint[], $3::text[]) as k(payment_id, known)
    where d.payment_id = k.payment_id and d.bucket = $1 and not (d.provider_dispute_id = any(k.known::text[]))`,
}

/** Deletes disputes of these payments that no fact speaks of any more; the payments' rows are locked. */
export async function deleteStaleDisputes(
  db: Queryable,
  bucket: number,
  payments: readonly { readonly payment_id: bigint; readonly disputes: readonly string[] }[],
): Promise<void> {
  await db.query(DELETE, [
    bucket,
    payments.map((payment) => payment.payment_id),
    payments.map((payment) => arrayLiteral(payment.disputes)),
  ])
}
