import type { RefundState } from '../../rules/payment-state.ts'
import type { Queryable, Statement } from '../database.ts'

const UPSERT: Statement = {
  name: 'upsert-refunds',
  text: `
    insert into refunds (bucket, updated_at, payment_id, tenant, namespace, account, provider_refund_id, status,
      amount_minor, currency, origin, moved_at)
    select $1, $2, r.payment_id, r.tenant, r.namespace, r.account, r.provider_refund_id, r.status, r.amount_minor,
      r.currency, r.origin, r.moved_at
    from unnest($3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::numeric[], $10::text[],
      $11::text[], $12::timestamptz[])
      as r(payment_id, tenant, namespace, account, provider_refund_id, status, amount_minor, currency, origin, moved_at)
    on conflict (provider_refund_id, namespace, account, tenant, bucket) do update set
      updated_at = excluded.updated_at, payment_id = excluded.payment_id, status = excluded.status,
      amount_minor = excluded.amount_minor, currency = excluded.currency, origin = excluded.origin,
      moved_at = excluded.moved_at`,
}

export interface RefundWrite {
  readonly payment_id: bigint
  readonly tenant: string
  readonly namespace: string
  readonly account: string
  readonly state: RefundState
}

/** Writes the derived state of refunds of payments whose rows the caller has locked. */
export async function upsertRefunds(
  db: Queryable,
  bucket: number,
  as_of: Date,
  refunds: readonly RefundWrite[],
): Promise<void> {
  await db.query(UPSERT, [
    bucket,
    as_of,
    refunds.map((refund) => refund.payment_id),
    refunds.map((refund) => refund.tenant),
    refunds.map((refund) => refund.namespace),
    refunds.map((refund) => refund.account),
    refunds.map((refund) => refund.state.refund),
    refunds.map((refund) => refund.state.status),
    refunds.map((refund) => refund.state.amount_minor),
    refunds.map((refund) => refund.state.currency),
    refunds.map((refund) => refund.state.origin),
    refunds.map((refund) => refund.state.moved_at),
  ])
}
