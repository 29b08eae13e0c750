import type { Queryable, Statement } from '../database.ts'
import { stateArrays } from './payment-arrays.ts'
import type { PaymentWrite } from './payment-row.ts'

// The revision read under the lock stands in the condition: were the isolation level wrong, the row would have moved on
// and the update would miss it, which the caller counts.
const UPDATE: Statement = {
  name: 'update-payments',
  text: `
    update payments p set
      facts_rev = p.facts_rev + 1, updated_at = $2, linked_to = u.linked_to, has_stand_ins = u.has_stand_ins,
      open_exceptions = u.open_exceptions, has_returns = u.has_returns, moved_at = u.moved_at, status = u.status,
      currency = u.currency, authorized_minor = u.authorized_minor, captured_minor = u.captured_minor,
      refunded_minor = u.refunded_minor, refund_pending_minor = u.refund_pending_minor,
      disputed_minor = u.disputed_minor, lost_minor = u.lost_minor, reversed_minor = u.reversed_minor,
      order_refs = u.order_refs::text[]
    from unnest($3::bigint[], $4::bigint[], $5::bigint[], $6::boolean[], $7::int[], $8::boolean[], $9::timestamptz[],
      $10::text[], $11::text[], $12::numeric[], $13::numeric[], $14::numeric[], $15::numeric[], $16::numeric[],
      $17::numeric[], $18::numeric[], $19::text[])
      as u(id, facts_rev, linked_to, has_stand_ins, open_exceptions, has_returns, moved_at, status, currency,
        authorized_minor, captured_minor, refunded_minor, refund_pending_minor, disputed_minor, lost_minor,
        reversed_minor, order_refs)
    where p.id = u.id and p.bucket = $1 and p.facts_rev = u.facts_rev
    returning p.id`,
}

/** Writes derived states and raises each row's revision. Gives how many rows were still at the revision that was read. */
export async function updatePayments(
  db: Queryable,
  bucket: number,
  as_of: Date,
  payments: readonly (PaymentWrite & { readonly id: bigint; readonly facts_rev: bigint })[],
): Promise<number> {
  const rows = await db.query(UPDATE, [
    bucket,
    as_of,
    payments.map((payment) => payment.id),
    payments.map((payment) => payment.facts_rev),
    ...stateArrays(payments),
  ])
  return rows.length
}
