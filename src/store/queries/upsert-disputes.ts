import type { DisputeState } from '../../rules/payment-state.ts'
import type { Queryable, Statement } from '../database.ts'

const UPSERT: Statement = {
  name: 'upsert-disputes',
  text: `
    insert into disputes (bucket, updated_at, payment_id, tenant, namespace, account, provider_dispute_id, stage, status,
      amount_minor, currency, withdrawn_minor, reinstated_minor, respond_by)
    select $1, $2, d.payment_id, d.tenant, d.namespace, d.account, d.provider_dispute_id, d.stage, d.status,
      d.amount_minor, d.currency, d.withdrawn_minor, d.reinstated_minor, d.respond_by
    from unnest($3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::numeric[],
      $11::text[], $12::numeric[], $13::numeric[], $14::timestamptz[])
      as d(payment_id, tenant, namespace, account, provider_dispute_id, stage, status, amount_minor, currency,
        withdrawn_minor, reinstated_minor, respond_by)
    on conflict (provider_dispute_id, stage, namespace, account, tenant, bucket) do update set
      updated_at = excluded.updated_at, payment_id = excluded.payment_id, status = excluded.status,
      amount_minor = excluded.amount_minor, currency = excluded.currency, withdrawn_minor = excluded.withdrawn_minor,
      reinstated_minor = excluded.reinstated_minor, respond_by = excluded.respond_by`,
}

export interface DisputeWrite {
  readonly payment_id: bigint
  readonly tenant: string
  readonly namespace: string
  readonly account: string
  readonly state: DisputeState
}

/** Writes the derived state of disputes of payments whose rows the caller has locked. */
export async function upsertDisputes(
  db: Queryable,
  bucket: number,
  as_of: Date,
  disputes: readonly DisputeWrite[],
): Promise<void> {
  await db.query(UPSERT, [
    bucket,
    as_of,
    disputes.map((dispute) => dispute.payment_id),
    disputes.map((dispute) => dispute.tenant),
    disputes.map((dispute) => dispute.namespace),
    disputes.map((dispute) => dispute.account),
    disputes.map((dispute) => dispute.state.dispute),
    disputes.map((dispute) => dispute.state.stage),
    disputes.map((dispute) => dispute.state.status),
    disputes.map((dispute) => dispute.state.amount_minor),
    disputes.map((dispute) => dispute.state.currency),
    disputes.map((dispute) => dispute.state.withdrawn_minor),
    disputes.map((dispute) => dispute.state.reinstated_minor),
    disputes.map((dispute) => dispute.state.respond_by),
  ])
}
