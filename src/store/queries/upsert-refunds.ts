import type { RefundState } from '../../rules/payment-state.ts'
import type { Queryable, Statement } from '../database.ts'
import { arrayLiteral } from './payment-arrays.ts'
import type { RefundKey } from './refund-key.ts'

// Two payments may learn of one refund at the same time, each under its own lock. The revision that was read before stands
// in the condition, so that the second one fails (the division by zero) and is settled again, knowing of the first.
const UPSERT: Statement = {
  name: 'upsert-refunds',
  text: `
    with written as (
      insert into refunds (bucket, updated_at, payment_id, claims_rev, tenant, namespace, account, provider_refund_id, status,
        amount_minor, currency, origin, moved_at, claimants)
      select $1, $2, r.payment_id, r.claims_rev + 1, r.tenant, r.namespace, r.account, r.provider_refund_id, r.status,
        r.amount_minor, r.currency, r.origin, r.moved_at, r.claimants::bigint[]
      from unnest($3::bigint[], $4::bigint[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::numeric[],
        $11::text[], $12::text[], $13::timestamptz[], $14::text[])
        as r(payment_id, claims_rev, tenant, namespace, account, provider_refund_id, status, amount_minor, currency, origin,
          moved_at, claimants)
      on conflict (provider_refund_id, namespace, account, tenant, bucket) do update set
        updated_at = excluded.updated_at, payment_id = excluded.payment_id, claims_rev = excluded.claims_rev,
        status = excluded.status, amount_minor = excluded.amount_minor, currency = excluded.currency,
        origin = excluded.origin, moved_at = excluded.moved_at, claimants = excluded.claimants
        where refunds.claims_rev = excluded.claims_rev - 1
      returning 1
    )
    select 1 / (count(*) = cardinality($3::bigint[]))::int from written`,
}

const DELETE: Statement = {
  name: 'delete-refunds',
  text: `
    delete from refunds r using unnest($2::text[], $3::text[], $4::text[], $5::text[]) as k(tenant, namespace, account, refund)
    where r.provider_refund_id = k.refund and r.namespace = k.namespace and r.account = k.account and r.tenant = k.tenant
      and r.bucket = $1`,
}

export interface RefundWrite extends RefundKey {
  /** Every payment that tells of it, ascending; more than one is a contradiction. */
  readonly claimants: readonly bigint[]
  /** The revision that was read; 0 where there was no row. */
  readonly claims_rev: bigint
  readonly state: RefundState
}

/** Writes the derived state of refunds. Fails with `MOVED_ON` when another payment claimed one of them meanwhile. */
export async function upsertRefunds(
  db: Queryable,
  bucket: number,
  as_of: Date,
  refunds: readonly RefundWrite[],
): Promise<void> {
  await db.query(UPSERT, [
    bucket,
    as_of,
    refunds.map((refund) => refund.claimants[0]!),
    refunds.map((refund) => refund.claims_rev),
    refunds.map((refund) => refund.tenant),
    refunds.map((refund) => refund.namespace),
    refunds.map((refund) => refund.account),
    refunds.map((refund) => refund.provider_refund_id),
    refunds.map((refund) => refund.state.status),
    refunds.map((refund) => refund.state.amount_minor),
    refunds.map((refund) => refund.state.currency),
    refunds.map((refund) => refund.state.origin),
    refunds.map((refund) => refund.state.moved_at),
    refunds.map((refund) => arrayLiteral(refund.claimants)),
  ])
}

/** Deletes refunds that no fact speaks of any more. */
export async function deleteRefunds(
  db: Queryable,
  bucket: number,
  refunds: readonly RefundKey[],
): Promise<void> {
  await db.query(DELETE, [
    bucket,
    refunds.map((key) => key.tenant),
    refunds.map((key) => key.namespace),
    refunds.map((key) => key.account),
    refunds.map((key) => key.provider_refund_id),
  ])
}
