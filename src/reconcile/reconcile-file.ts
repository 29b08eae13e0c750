import type { ListedKind } from '../providers/lookup.ts'
import { recordCoverage } from '../store/queries/record-coverage.ts'
import { comparePage } from './compare-page.ts'
import { findAbsent } from './find-absent.ts'
import type { RunWork } from './run-work.ts'
import type { SettlementFile } from './settlement-file.ts'

export type { SettlementFile } from './settlement-file.ts'

const KINDS: readonly ListedKind[] = ['payments', 'refunds', 'disputes']

/**
 * Compares a settlement file with what we know. The other direction only where somebody says which window the file covers,
 * and only for the kinds that it speaks of.
 * Throws Fault `config_invalid` for a file that cannot be read, `lease_lost`.
 */
export async function reconcileFile(
  work: RunWork,
  file: SettlementFile,
  onProgress: ((kind: ListedKind, listed: number) => void) | undefined,
): Promise<void> {
  const { from_at, to_at } = work.run
  const listed_at = work.now
  const listed = new Map<ListedKind, number>()
  for await (const { items } of file.pages()) {
    await work.keepLease()
    for (const kind of KINDS) {
      const own = items.filter((item) => item.kind === kind)
      if (own.length === 0) continue
      await comparePage(work, kind, own)
      listed.set(kind, (listed.get(kind) ?? 0) + own.length)
      onProgress?.(kind, listed.get(kind)!)
    }
  }
  if (from_at === null || to_at === null) return
  for (const [kind, count] of listed) {
    await findAbsent(work, kind, { from_at, to_at, listed_at, listed_by_moved: true })
    await recordCoverage(work.database, work.bucket, work.run, {
      kind,
      criterion: 'moved',
      from_at,
      to_at,
      listed_at,
      lag_ms: BigInt(work.lag_ms),
      listed: BigInt(count),
    })
  }
}
