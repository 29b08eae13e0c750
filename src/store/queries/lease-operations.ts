import type { Queryable, Statement } from '../database.ts'
import { OPERATION_COLUMNS, type OperationRow } from './operation-row.ts'

const LEASE: Statement = {
  name: 'lease-operations',
  text: `
    update operations o set due_at = $3, lease_token = $4, tries = o.tries + 1
    from (
      select id from operations where due_at <= $2 and bucket = $1 order by due_at limit $5 for update skip locked
    ) due
    where o.id = due.id and o.bucket = $1
    returning ${OPERATION_COLUMNS}`,
}

const LEASE_ONE: Statement = {
  name: 'lease-operation',
  text: `
    update operations o set due_at = $4, lease_token = $5, tries = o.tries + 1
    where o.id = $2 and o.bucket = $1 and o.due_at <= $3
    returning ${OPERATION_COLUMNS}`,
}

const RENEW: Statement = {
  name: 'renew-operation-lease',
  text: 'update operations set due_at = $4 where id = $2 and lease_token = $3 and bucket = $1 returning id',
}

export interface OperationLease {
  readonly now: Date
  readonly lease_until: Date
  /** Names the lease; whoever comes later with another one has it. */
  readonly token: string
}

/** Takes operations that are due and puts them off until `lease_until`, so that a crash gives them back by itself. */
export function leaseOperations(
  db: Queryable,
  bucket: number,
  { now, lease_until, token, limit }: OperationLease & { readonly limit: number },
): Promise<OperationRow[]> {
  return db.query<OperationRow>(LEASE, [bucket, now, lease_until, token, limit])
}

/** Takes one operation; null when it is not due: it is over, waits for a person, or somebody has it in hand. */
export async function leaseOperation(
  db: Queryable,
  bucket: number,
  id: bigint,
  { now, lease_until, token }: OperationLease,
): Promise<OperationRow | null> {
  const [row] = await db.query<OperationRow>(LEASE_ONE, [bucket, id, now, lease_until, token])
  return row ?? null
}

/** False when somebody else has it now. */
export async function renewOperation(
  db: Queryable,
  bucket: number,
  id: bigint,
  token: string,
  lease_until: Date,
): Promise<boolean> {
  return (await db.query(RENEW, [bucket, id, token, lease_until])).length > 0
}
