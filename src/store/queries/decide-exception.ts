import type { Queryable, Statement } from '../database.ts'
import { EXCEPTION_COLUMNS, type ExceptionRow } from './list-exceptions.ts'

/** What stands in the history of an exception. Openings and closings are written by the statements that do them. */
export type NoteKind =
  | 'opened'
  | 'reopened'
  | 'escalated'
  | 'acknowledged'
  | 'assigned'
  | 'note'
  | 'closed'
  | 'resolved'

export interface ExceptionNote {
  readonly noted_at: Date
  /** Which opening of the exception it belongs to, from 1. */
  readonly occurrence: number
  readonly kind: NoteKind
  /** Empty where no person did it. */
  readonly actor: string
  /** The message at an opening; the new owner, the note, the reason of what a person did. */
  readonly words: string
}

const FIND: Statement = {
  name: 'find-exception',
  text: `select ${EXCEPTION_COLUMNS}, subject_id from exceptions where id = $2 and bucket = $1`,
}

const LOCK: Statement = {
  name: 'lock-exception',
  text: `${FIND.text} for no key update`,
}

const NOTES: Statement = {
  name: 'list-exception-notes',
  text: `
    select noted_at, occurrence, kind, actor, words from exception_notes
    where exception_id = $2 and bucket = $1 order by noted_at, id`,
}

const NOTE: Statement = {
  name: 'insert-exception-note',
  text: `
    insert into exception_notes (bucket, exception_id, noted_at, occurrence, kind, actor, words)
    values ($1, $2, $3, $4, $5, $6, $7)`,
}

const ASSIGN: Statement = {
  name: 'assign-exception',
  text: 'update exceptions set owner = $3 where id = $2 and bucket = $1',
}

const ACKNOWLEDGE: Statement = {
  name: 'acknowledge-exception',
  text: 'update exceptions set acknowledged_at = $3, acknowledged_by = $4 where id = $2 and bucket = $1',
}

export interface FoundException extends ExceptionRow {
  readonly subject_id: bigint
}

/** One exception; null when the bucket holds none of that number. */
export async function findException(
  db: Queryable,
  bucket: number,
  id: bigint,
): Promise<FoundException | null> {
  const [row] = await db.query<FoundException>(FIND, [bucket, id])
  return row ?? null
}

/** Locks one exception until the transaction ends. */
export async function lockException(
  db: Queryable,
  bucket: number,
  id: bigint,
): Promise<FoundException | null> {
  const [row] = await db.query<FoundException>(LOCK, [bucket, id])
  return row ?? null
}

/** The history of one exception, oldest first. */
export function listExceptionNotes(db: Queryable, bucket: number, id: bigint): Promise<ExceptionNote[]> {
  return db.query<ExceptionNote>(NOTES, [bucket, id])
}

export async function insertExceptionNote(
  db: Queryable,
  bucket: number,
  id: bigint,
  note: ExceptionNote,
): Promise<void> {
  await db.query(NOTE, [bucket, id, note.noted_at, note.occurrence, note.kind, note.actor, note.words])
}

/** Gives an exception to somebody; empty for nobody. */
export async function assignException(
  db: Queryable,
  bucket: number,
  id: bigint,
  owner: string,
): Promise<void> {
  await db.query(ASSIGN, [bucket, id, owner])
}

export async function acknowledgeException(
  db: Queryable,
  bucket: number,
  id: bigint,
  at: Date,
  actor: string,
): Promise<void> {
  await db.query(ACKNOWLEDGE, [bucket, id, at, actor])
}
