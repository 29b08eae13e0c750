import type { Queryable, Statement } from '../database.ts'

// The token stands in the condition: whoever leased it since has it.
const BEGIN: Statement = {
  name: 'begin-operation-request',
  text: `
    with begun as (
      update operations set state = 'in_flight', updated_at = $2, due_at = $9, code = '', reason = ''
      where id = $3 and lease_token = $4 and state = any($5::text[]) and bucket = $1
      returning id, attempt
    )
    insert into operation_requests (bucket, operation_id, number, attempt, sent_at, whole, provider_key)
    select $1, b.id, $6, b.attempt, $2, $7, $8 from begun b
    returning number`,
}

export interface NewRequest {
  readonly id: bigint
  readonly token: string
  /** The states in which a request may be sent. */
  readonly from: readonly string[]
  readonly number: number
  readonly whole: boolean
  readonly provider_key: string
  readonly lease_until: Date
}

/** Writes down a request that is about to be sent. False when the lease is somebody else's now, or it is over. */
export async function beginOperationRequest(
  db: Queryable,
  bucket: number,
  as_of: Date,
  request: NewRequest,
): Promise<boolean> {
  const rows = await db.query(BEGIN, [
    bucket,
    as_of,
    request.id,
    request.token,
    request.from,
    request.number,
    request.whole,
    request.provider_key,
    request.lease_until,
  ])
  return rows.length > 0
}
