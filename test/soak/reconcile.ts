// npm run soak:reconcile [items, default 100000]: all webhooks of a day are lost, then 20 differences of each class are put
// among what matches. Both runs must find and class all of them, and no other. Time and peak memory are printed.
import { audit } from '../../src/audit/audit.ts'
import { reconcileWithBreaks } from '../injected-breaks.ts'
import { openPlace } from './place.ts'

const items = Number(process.argv[2] ?? 100_000)
const EACH = 20
const place = await openPlace()
let peak_mb = 0
const watch = setInterval(() => {
  peak_mb = Math.max(peak_mb, Math.round(process.memoryUsage().rss / 1_048_576))
}, 200)
try {
  const began_ms = performance.now()
  let told = 0
  const { lost, found, injected } = await reconcileWithBreaks(place.database, items, EACH, (listed) => {
    if (listed - told < 10_000 && listed > told) return
    told = listed
    const took_s = ((performance.now() - began_ms) / 1_000).toFixed(1)
    process.stderr.write(`${listed} listed, ${took_s} s, ${peak_mb} MB\n`)
  })
  const silent = new Set(['not_ours', 'matched_within_tolerance'])
  const expected = [...injected].filter(([, one]) => !silent.has(one)).map(([id, one]) => `${id} ${one}`)
  const seen = new Set(found.breaks.map((one) => `${one.item_id} ${one.class}`))
  const missed = expected.filter((one) => !seen.has(one))
  const report = {
    items,
    settled: lost.counts.payments?.missing_internal,
    matched: found.counts.payments?.matched,
    injected: expected.length,
    missed: missed.length,
    false_ones: found.breaks.length - (expected.length - missed.length),
    differences: (await audit(place.database)).differences_total,
    listed: listedBy(lost.coverage, found.coverage),
    total_s: Math.round((performance.now() - began_ms) / 1_000),
    peak_mb,
  }
  process.stdout.write(`${JSON.stringify(report, null, 2)}\n`)
  if (missed.length > 0 || report.false_ones !== 0 || report.differences > 0) process.exitCode = 1
} finally {
  clearInterval(watch)
  await place.remove()
}

/** Items that each run listed. */
function listedBy(...runs: readonly (readonly { readonly listed: bigint }[])[]): number[] {
  return runs.map((coverage) => Number(coverage.reduce((sum, { listed }) => sum + listed, 0n)))
}
