import type { Queryable, Statement } from '../database.ts'
import { claimLock, type RefundKey } from './refund-key.ts'

const LOAD: Statement = {
  name: 'load-refund-claims',
  text: `
    select r.* from unnest($2::text[], $3::text[], $4::text[], $5::text[]) as k(tenant, namespace, account, refund),
      lateral (
        select tenant, namespace, account, provider_refund_id, claimants, claims_rev from refunds
        where provider_refund_id = k.refund and namespace = k.namespace and account = k.account and tenant = k.tenant
          and bucket = $1
        offset 0
      ) r`,
}

/** Which payments tell of a refund. */
export interface ClaimRow {
  readonly claimants: readonly bigint[]
  readonly claims_rev: bigint
}

/** Who tells of these refunds, by their lock; those that nobody told of are left out. */
export async function loadRefundClaims(
  db: Queryable,
  bucket: number,
  keys: readonly RefundKey[],
): Promise<Map<string, ClaimRow>> {
  const rows = await db.query<RefundKey & ClaimRow>(LOAD, [
    bucket,
    keys.map((key) => key.tenant),
    keys.map((key) => key.namespace),
    keys.map((key) => key.account),
    keys.map((key) => key.provider_refund_id),
  ])
  return new Map(rows.map((row) => [claimLock(row), row]))
}
