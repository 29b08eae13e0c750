import type { ListedKind } from '../providers/lookup.ts'
import { forgetListedItems } from '../store/queries/note-listed-items.ts'
import { listCoverageOf, recordCoverage } from '../store/queries/record-coverage.ts'
import { comparePage } from './compare-page.ts'
import { comparedItem } from './compared-item.ts'
import { findAbsent } from './find-absent.ts'
import type { RunWork } from './run-work.ts'

/**
 * Lists one kind over the run's window and compares it both ways, page by page. Only once the list has come to its end is
 * the window covered. A kind that an earlier attempt covered is left alone; one that it did not begins anew.
 * Throws Fault `provider_unavailable` when the list broke off, `lease_lost`.
 */
export async function reconcileList(
  work: RunWork,
  kind: ListedKind,
  onProgress: ((kind: ListedKind, listed: number) => void) | undefined,
): Promise<void> {
  const { database, bucket, run, endpoint, tools } = work
  const { lookup } = endpoint.provider
  const { from_at, to_at } = run
  if (!lookup?.list || from_at === null || to_at === null) return
  const covered = await listCoverageOf(database, bucket, run.id)
  if (covered.some((one) => one.kind === kind)) return
  if (run.attempt > 1) await forgetListedItems(database, bucket, run.id, kind)
  const listed_at = work.now
  const window = { from_ms: from_at.getTime(), to_ms: to_at.getTime() }
  const context = { now_ms: tools.now_ms(), ask: tools.ask, limit_ms: tools.limit_ms }
  let listed = 0
  for await (const page of lookup.list(kind, window, context)) {
    await work.keepLease()
    await comparePage(work, kind, page.map(comparedItem))
    listed += page.length
    onProgress?.(kind, listed)
  }
  const criterion = lookup.listed_by?.[kind] ?? 'unknown'
  await findAbsent(work, kind, { from_at, to_at, listed_at, listed_by_moved: criterion === 'moved' })
  await recordCoverage(database, bucket, run, {
    kind,
    criterion,
    from_at,
    to_at,
    listed_at,
    lag_ms: BigInt(work.lag_ms),
    listed: BigInt(listed),
  })
}
