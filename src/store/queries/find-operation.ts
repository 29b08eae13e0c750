import type { Queryable, Statement } from '../database.ts'
import { OPERATION_COLUMNS, type OperationRow } from './operation-row.ts'

const BY_KEY: Statement = {
  name: 'find-operation',
  text: `select ${OPERATION_COLUMNS} from operations o where o.operation_key = $2 and o.tenant = $3 and o.bucket = $1`,
}

const BY_ID: Statement = {
  name: 'find-operation-by-id',
  text: `select ${OPERATION_COLUMNS} from operations o where o.id = $2 and o.bucket = $1`,
}

const REQUESTS: Statement = {
  name: 'list-operation-requests',
  text: `
    select number, attempt, provider_key, whole, sent_at, ended_at, outcome, reason
    from operation_requests where operation_id = $2 and bucket = $1 order by number`,
}

const NOTES: Statement = {
  name: 'list-operation-notes',
  text: 'select noted_at, said, actor, words from operation_notes where operation_id = $2 and bucket = $1 order by id',
}

/** One request that was sent, or was about to be. */
export interface OperationRequest {
  readonly number: number
  readonly attempt: number
  readonly provider_key: string
  readonly whole: boolean
  readonly sent_at: Date
  readonly ended_at: Date | null
  /** Empty while nobody knows: it is on its way, or its worker is gone. */
  readonly outcome: '' | 'accepted' | 'declined' | 'unknown' | 'not_sent'
  readonly reason: string
}

export interface OperationNote {
  readonly noted_at: Date
  readonly said: 'succeeded' | 'failed' | 'retry' | 'confirmed' | 'abandoned'
  readonly actor: string
  readonly words: string
}

export async function findOperation(
  db: Queryable,
  bucket: number,
  key: { readonly tenant: string; readonly operation_key: string },
): Promise<OperationRow | null> {
  const [row] = await db.query<OperationRow>(BY_KEY, [bucket, key.operation_key, key.tenant])
  return row ?? null
}

export async function findOperationById(
  db: Queryable,
  bucket: number,
  id: bigint,
): Promise<OperationRow | null> {
  const [row] = await db.query<OperationRow>(BY_ID, [bucket, id])
  return row ?? null
}

/** Every request of an operation, oldest first. */
export function listOperationRequests(
  db: Queryable,
  bucket: number,
  id: bigint,
): Promise<OperationRequest[]> {
  return db.query<OperationRequest>(REQUESTS, [bucket, id])
}

/** What people said about an operation, oldest first. */
export function listOperationNotes(db: Queryable, bucket: number, id: bigint): Promise<OperationNote[]> {
  return db.query<OperationNote>(NOTES, [bucket, id])
}
