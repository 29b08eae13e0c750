import type { Queryable, Statement } from '../database.ts'
import { stateArrays } from './payment-arrays.ts'
import type { PaymentKey, PaymentWrite } from './payment-row.ts'

// An insert that always meets its row. As UPDATE ... FROM unnest it is a join, and a plan kept from a young table read the
// whole table for it: 43 s instead of 1.2 s for 40,000 rows. ON CONFLICT knows no other way than the primary key.
// The revision read under the lock stands in the condition: were the isolation level wrong, the row would have moved on
// and the update would miss it, and the count at the end divides by zero.
// In the statement, and not in the caller, so that COMMIT can be sent behind it without waiting: an error aborts.
const UPDATE: Statement = {
  name: 'update-payments',
  text: `
    with updated as (
    insert into payments (bucket, created_at, updated_at, id, facts_rev, tenant, namespace, account, provider_payment_id,
      linked_to, has_stand_ins, open_exceptions, has_returns, moved_at, status, currency, authorized_minor,
      captured_minor, refunded_minor, refund_pending_minor, disputed_minor, lost_minor, reversed_minor, order_refs,
      aftermath, subscription_refs)
    select $1, $2, $2, p.id, p.facts_rev + 1, p.tenant, p.namespace, p.account, p.provider_payment_id,
      p.linked_to, p.has_stand_ins, p.open_exceptions, p.has_returns, p.moved_at, p.status, p.currency,
      p.authorized_minor, p.captured_minor, p.refunded_minor, p.refund_pending_minor, p.disputed_minor, p.lost_minor,
      p.reversed_minor, p.order_refs::text[], p.aftermath, p.subscription_refs::text[]
    from unnest($3::bigint[], $4::bigint[], $5::text[], $6::text[], $7::text[], $8::text[], $9::bigint[], $10::boolean[],
      $11::int[], $12::boolean[], $13::timestamptz[], $14::text[], $15::text[], $16::numeric[], $17::numeric[],
      $18::numeric[], $19::numeric[], $20::numeric[], $21::numeric[], $22::numeric[], $23::text[], $24::jsonb[],
      $25::text[])
      as p(id, facts_rev, tenant, namespace, account, provider_payment_id, linked_to, has_stand_ins, open_exceptions,
        has_returns, moved_at, status, currency, authorized_minor, captured_minor, refunded_minor, refund_pending_minor,
        disputed_minor, lost_minor, reversed_minor, order_refs, aftermath,
        subscription_refs)
    on conflict (id, bucket) do update set
      facts_rev = excluded.facts_rev, updated_at = excluded.updated_at, linked_to = excluded.linked_to,
      has_stand_ins = excluded.has_stand_ins, open_exceptions = excluded.open_exceptions,
      has_returns = excluded.has_returns, moved_at = excluded.moved_at, status = excluded.status,
      currency = excluded.currency, authorized_minor = excluded.authorized_minor,
      captured_minor = excluded.captured_minor, refunded_minor = excluded.refunded_minor,
      refund_pending_minor = excluded.refund_pending_minor, disputed_minor = excluded.disputed_minor,
      lost_minor = excluded.lost_minor, reversed_minor = excluded.reversed_minor, order_refs = excluded.order_refs,
      aftermath = excluded.aftermath, subscription_refs = excluded.subscription_refs
      where payments.facts_rev = excluded.facts_rev - 1
    returning 1
    )
    select 1 / (count(*) = cardinality($3::bigint[]))::int from updated`,
}

/**
 * Writes derived states and raises each row's revision. Fails with `MOVED_ON` when a row was no longer at the revision
 * that was read.
 */
export async function updatePayments(
  db: Queryable,
  bucket: number,
  as_of: Date,
  payments: readonly (PaymentKey & PaymentWrite & { readonly id: bigint; readonly facts_rev: bigint })[],
): Promise<void> {
  await db.query(UPDATE, [
    bucket,
    as_of,
    payments.map((payment) => payment.id),
    payments.map((payment) => payment.facts_rev),
    payments.map((payment) => payment.tenant),
    payments.map((payment) => payment.namespace),
    payments.map((payment) => payment.account),
    payments.map((payment) => payment.provider_payment_id),
    ...stateArrays(payments),
  ])
}
