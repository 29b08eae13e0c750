import type { OperationState } from '../../rules/operation-state.ts'
import type { Queryable, Statement } from '../database.ts'

const MOVE: Statement = {
  name: 'move-operation',
  text: `
    update operations set state = $4, updated_at = $2, lease_token = $14::uuid, due_at = $5::timestamptz, code = $6, reason = $7,
      attempt = $8, confirmed = confirmed or $9,
      provider_id = case when $10 = '' then provider_id else $10 end,
      provider_payment_id = case when kind = 'charge' and $10 <> '' then $10 else provider_payment_id end,
      unknown_since = case when $4 = 'unknown' then coalesce(unknown_since, $2) end,
      finished_at = case when $4 in ('succeeded', 'failed_definitive', 'abandoned', 'superseded') then $2::timestamptz end,
      tries = case when $11 then 0 else tries end
    where id = $3 and state = any($12::text[]) and ($13::uuid is null or lease_token = $13) and bucket = $1
    returning id`,
}

const NOTE: Statement = {
  name: 'note-operation',
  text: `
    insert into operation_notes (bucket, operation_id, noted_at, said, actor, words) values ($1, $2, $3, $4, $5, $6)`,
}

/** A step of an operation that is no answer to a request. */
export interface OperationMove {
  readonly id: bigint
  /** The states in which this step is possible. */
  readonly from: readonly string[]
  readonly state: OperationState
  /** Only while this lease holds; null for what people say. */
  readonly token: string | null
  /** The lease that holds afterwards; null gives it back. */
  readonly lease: string | null
  readonly due_at: Date | null
  readonly code: string
  readonly reason: string
  readonly attempt: number
  readonly confirmed?: boolean
  readonly provider_id?: string
  /** What went before does not count for the pauses any more. */
  readonly afresh?: boolean
}

/** Moves an operation. False when it has gone on meanwhile, or the lease is somebody else's. */
export async function moveOperation(
  db: Queryable,
  bucket: number,
  as_of: Date,
  move: OperationMove,
): Promise<boolean> {
  const rows = await db.query(MOVE, [
    bucket,
    as_of,
    move.id,
    move.state,
    move.due_at,
    move.code,
    move.reason,
    move.attempt,
    move.confirmed ?? false,
    move.provider_id ?? '',
    move.afresh ?? false,
    move.from,
    move.token,
    move.lease,
  ])
  return rows.length > 0
}

/** Keeps what a person said about an operation. */
export async function noteOperation(
  db: Queryable,
  bucket: number,
  as_of: Date,
  note: { readonly id: bigint; readonly said: string; readonly actor: string; readonly words: string },
): Promise<void> {
  await db.query(NOTE, [bucket, note.id, as_of, note.said, note.actor, note.words])
}
