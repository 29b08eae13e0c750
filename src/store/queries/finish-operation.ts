import type { OperationState } from '../../rules/operation-state.ts'
import type { Queryable, Statement } from '../database.ts'

// Evidence counts whoever brings it, also after the lease has run out; everything else only by who has the lease.
const FINISH: Statement = {
  name: 'finish-operation-request',
  text: `
    with ended as (
      update operation_requests set ended_at = $2, outcome = $5, reason = $6
      where operation_id = $3 and number = $4 and bucket = $1
    )
    update operations set state = $7, updated_at = $2, lease_token = null, due_at = $8::timestamptz, code = $9, reason = $6,
      provider_id = case when $10 = '' then provider_id else $10 end,
      provider_payment_id = case when kind = 'charge' and $10 <> '' then $10 else provider_payment_id end,
      unknown_since = case when $7 = 'unknown' then coalesce(unknown_since, $2) end,
      finished_at = case when $7 in ('succeeded', 'failed_definitive') then $2::timestamptz end,
      tries = case when $7 = 'unknown' then tries else 0 end
    where id = $3 and state = any($11::text[]) and ($12::uuid is null or lease_token = $12) and bucket = $1
    returning id`,
}

/** How a request ended. */
export interface OperationEnd {
  readonly id: bigint
  /** Number of the request. */
  readonly number: number
  readonly outcome: 'accepted' | 'declined' | 'unknown' | 'not_sent'
  readonly state: OperationState
  /** The states in which this end is taken. */
  readonly from: readonly string[]
  /** Only while this lease holds; null for evidence, which always counts. */
  readonly token: string | null
  /** Id of what the provider made; empty where it named none. */
  readonly provider_id: string
  readonly code: string
  readonly reason: string
  /** When a worker takes it again; null for never. */
  readonly due_at: Date | null
}

/** Stores how a request ended, in the transaction that settles its facts. False when the operation went on without it. */
export async function finishOperation(
  db: Queryable,
  bucket: number,
  as_of: Date,
  end: OperationEnd,
): Promise<boolean> {
  const rows = await db.query(FINISH, [
    bucket,
    as_of,
    end.id,
    end.number,
    end.outcome,
    end.reason,
    end.state,
    end.due_at,
    end.code,
    end.provider_id,
    end.from,
    end.token,
  ])
  return rows.length > 0
}
