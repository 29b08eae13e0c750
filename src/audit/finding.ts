import type { ExceptionDue } from '../facts/exception.ts'
import type { Queryable } from '../store/database.ts'
import { loadOpenExceptions } from '../store/queries/close-exceptions.ts'
import type { Difference } from './difference.ts'

/** What one subject's check came to. */
export interface Finding {
  /** The row to look at again before it is reported. */
  readonly id: bigint
  readonly differences: readonly Difference[]
}

/** What one page came to: how many rows of each table were compared, and the subjects where something differs. */
export interface Checked {
  readonly counts: Readonly<Record<string, number>>
  readonly findings: readonly Finding[]
}

export interface JudgedSubject {
  readonly tenant: string
  readonly subject_kind: 'payment' | 'order' | 'subscription'
  readonly subject_key: string
  readonly due: readonly ExceptionDue[]
}

/** Compares the open exceptions of the rules with those that the facts call for, by subject in the given order. */
export async function compareExceptions(
  db: Queryable,
  bucket: number,
  subjects: readonly JudgedSubject[],
): Promise<{ readonly open: number; readonly differences: readonly Difference[][] }> {
  const rows = subjects.length > 0 ? await loadOpenExceptions(db, bucket, 'rules', subjects) : []
  const open = new Map<string, Set<string>>()
  for (const row of rows) {
    const name = subjectName(row)
    open.set(name, (open.get(name) ?? new Set()).add(`${row.kind} ${row.cause}`))
  }
  const differences = subjects.map((subject) => {
    const stored = open.get(subjectName(subject)) ?? new Set<string>()
    const derived = new Set(subject.due.map(({ kind, cause }) => `${kind} ${cause}`))
    const row = `${subject.subject_kind} ${subject.subject_key}`
    const wrong = (name: string, is: string | null, should: string | null): Difference => ({
      table: 'exceptions',
      row: `${row} ${name}`,
      column: 'state',
      stored: is,
      derived: should,
    })
    return [
      ...[...derived].filter((name) => !stored.has(name)).map((name) => wrong(name, null, 'open')),
      ...[...stored].filter((name) => !derived.has(name)).map((name) => wrong(name, 'open', null)),
    ]
  })
  return { open: rows.length, differences }
}

function subjectName(subject: { tenant: string; subject_kind: string; subject_key: string }): string {
  return `${subject.tenant}\n${subject.subject_kind}\n${subject.subject_key}`
}
