import type { Queryable, Statement } from '../database.ts'
import { stateArrays } from './payment-arrays.ts'
import type { PaymentKey, PaymentWrite } from './payment-row.ts'

const INSERT: Statement = {
  name: 'insert-payments',
  text: `
    insert into payments (bucket, id, facts_rev, created_at, updated_at, tenant, namespace, account, provider_payment_id,
      linked_to, has_stand_ins, open_exceptions, has_returns, moved_at, status, currency, authorized_minor,
      captured_minor, refunded_minor, refund_pending_minor, disputed_minor, lost_minor, reversed_minor, order_refs,
      aftermath, subscription_refs)
    select $1, p.id, 1, now(), now(), p.tenant, p.namespace, p.account, p.provider_payment_id,
      p.linked_to, p.has_stand_ins, p.open_exceptions, p.has_returns, p.moved_at, p.status, p.currency,
      p.authorized_minor, p.captured_minor, p.refunded_minor, p.refund_pending_minor, p.disputed_minor, p.lost_minor,
      p.reversed_minor, p.order_refs::text[], p.aftermath, p.subscription_refs::text[]
    from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::boolean[], $8::int[], $9::boolean[],
      $10::timestamptz[], $11::text[], $12::text[], $13::numeric[], $14::numeric[], $15::numeric[], $16::numeric[],
      $17::numeric[], $18::numeric[], $19::numeric[], $20::text[], $21::jsonb[],
      $22::text[], $23::bigint[])
      as p(tenant, namespace, account, provider_payment_id, linked_to, has_stand_ins, open_exceptions, has_returns,
        moved_at, status, currency, authorized_minor, captured_minor, refunded_minor, refund_pending_minor,
        disputed_minor, lost_minor, reversed_minor, order_refs, aftermath,
        subscription_refs, id)
    on conflict (provider_payment_id, namespace, account, tenant, bucket) do nothing
    returning id`,
}

/**
 * Inserts the payments that are new, with the state that their facts in this batch give, and gives the ids of the
 * inserted ones. A row inserted here can have no other facts: facts carry the id of a row that is there.
 */
export async function insertPayments(
  db: Queryable,
  bucket: number,
  payments: readonly (PaymentKey & PaymentWrite & { readonly id: bigint })[],
): Promise<Set<bigint>> {
  const rows = await db.query<{ id: bigint }>(INSERT, [
    bucket,
    payments.map((payment) => payment.tenant),
    payments.map((payment) => payment.namespace),
    payments.map((payment) => payment.account),
    payments.map((payment) => payment.provider_payment_id),
    ...stateArrays(payments),
    payments.map((payment) => payment.id),
  ])
  return new Set(rows.map((row) => row.id))
}
