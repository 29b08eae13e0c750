import { foldRight } from '../rules/right.ts'
import type { Queryable } from '../store/database.ts'
import { listAnnouncedRights } from '../store/queries/list-rights.ts'
import { loadRightSources } from '../store/queries/load-right-sources.ts'
import { type RightRow, rightLock } from '../store/queries/right-row.ts'
import { compare, naturalKey } from './difference.ts'
import type { Checked } from './finding.ts'

/** Compares what holders have with what their orders give, which is itself compared with the facts, and with what was announced. */
export async function checkRights(
  db: Queryable,
  bucket: number,
  rows: readonly RightRow[],
): Promise<Checked> {
  const ids = rows.map((row) => row.id)
  const [sources, announced] = await Promise.all([
    loadRightSources(db, bucket, rows),
    listAnnouncedRights(db, bucket, ids),
  ])
  const revisions = new Map(announced.map((row) => [row.subject_id, row.revision]))
  const findings = rows.flatMap((row) => {
    const given = sources.filter((source) => rightLock(source) === rightLock(row))
    const key = naturalKey(row.tenant, row.holder, row.item)
    const { state, quantity } = foldRight(given)
    const differences = [
      ...compare('rights', key, { state: row.state, quantity: row.quantity }, { state, quantity }),
      ...compare(
        'effects',
        `right.changed ${key}`,
        { revision: revisions.get(row.id) ?? 0n },
        { revision: row.revision },
      ),
    ]
    return differences.length > 0 ? [{ id: row.id, differences }] : []
  })
  return { counts: { rights: rows.length }, findings }
}
