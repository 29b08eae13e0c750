import type { Queryable, Statement } from '../database.ts'

// A key alone could have been copied with the rest of an object's metadata, so payment, amount and currency have to be the
// operation's too. What failed at the provider ends only what nobody knows the outcome of.
const COMPLETE: Statement = {
  name: 'complete-operations',
  text: `
    update operations o set state = case when t.failed then 'failed_definitive' else 'succeeded' end, updated_at = $2,
      finished_at = $2, due_at = $2, unknown_since = null, lease_token = null, tries = 0, provider_id = t.provider_id,
      provider_payment_id = case when o.kind = 'charge' then t.provider_id else o.provider_payment_id end,
      code = case when t.failed then 'failed_at_provider' else '' end, reason = 'told by the provider'
    from (
      select r.operation_id, r.attempt, k.provider_id, k.kind, k.failed, k.namespace, k.account, k.payment, k.order_ref,
        k.amount_minor, k.currency
      from unnest($3::text[], $4::text[], $5::text[], $6::boolean[], $7::text[], $8::text[], $9::text[], $10::text[],
          $11::numeric[], $12::text[])
          as k(provider_key, kind, provider_id, failed, namespace, account, payment, order_ref, amount_minor, currency),
        lateral (
          select operation_id, attempt from operation_requests where provider_key = k.provider_key and bucket = $1
          order by number limit 1
        ) r
    ) t
    where o.id = t.operation_id and o.bucket = $1 and o.kind = t.kind and o.namespace = t.namespace and o.account = t.account
      and (t.amount_minor is null or o.amount_minor = t.amount_minor)
      and (t.currency is null or o.currency = t.currency)
      and case o.kind when 'refund' then o.provider_payment_id = t.payment else o.order_ref = t.order_ref end
      and case when t.failed then o.state = any($13::text[]) and o.attempt = t.attempt else o.state <> 'succeeded' end`,
}

/** The provider tells of something that was made under a key of ours. */
export interface ToldOperation {
  readonly provider_key: string
  readonly kind: 'refund' | 'charge'
  readonly provider_id: string
  /** And that it failed there. */
  readonly failed: boolean
  readonly namespace: string
  readonly account: string
  readonly payment: string
  /** For a charge; empty for a refund. */
  readonly order: string
  readonly amount_minor: bigint | null
  readonly currency: string | null
}

/**
 * Ends the operations that the provider tells of. `failing` are the states that end when it tells that they failed. They
 * become due at once, so that a worker closes what was raised about them.
 */
export async function completeOperations(
  db: Queryable,
  bucket: number,
  as_of: Date,
  told: readonly ToldOperation[],
  failing: readonly string[],
): Promise<void> {
  await db.query(COMPLETE, [
    bucket,
    as_of,
    told.map((one) => one.provider_key),
    told.map((one) => one.kind),
    told.map((one) => one.provider_id),
    told.map((one) => one.failed),
    told.map((one) => one.namespace),
    told.map((one) => one.account),
    told.map((one) => one.payment),
    told.map((one) => one.order),
    told.map((one) => one.amount_minor),
    told.map((one) => one.currency),
    failing,
  ])
}
