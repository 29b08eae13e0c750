import { createHash } from 'node:crypto'

/** The bucket of a tenant: a stable hash, the same in every process and release. 0 on a single server. */
export function bucketOf(tenant: string, buckets: number): number {
  if (buckets === 1) return 0
  return createHash('sha256').update(tenant).digest().readUInt32BE(0) % buckets
}
