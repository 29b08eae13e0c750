import { compareItem, isBreak } from '../rules/reconcile.ts'
import { type BreakRow, listOpenBreaks } from '../store/queries/list-breaks.ts'
import { type NewBreak, recordBreaks, resolveBreaks } from '../store/queries/record-breaks.ts'
import { sideOf } from './compared-item.ts'
import { findKnown, findKnownPayments } from './our-side.ts'
import type { RunWork } from './run-work.ts'

const PAGE = 200

/**
 * Open breaks that this run's window did not hold: perhaps the sides agree by now. A difference in timing whose time is up
 * is something missing.
 */
export async function lookAgain(work: RunWork): Promise<void> {
  for (let after: bigint | null = 0n; after !== null; ) {
    await work.keepLease()
    const open: BreakRow[] = await listOpenBreaks(work.database, work.bucket, work.run, after, PAGE)
    for (const one of open) {
      if (one.reconciliation_id !== work.run.id) await lookAgainAt(work, one)
    }
    after = open.length < PAGE ? null : open.at(-1)!.id
  }
}

async function lookAgainAt(work: RunWork, broken: BreakRow): Promise<void> {
  const { database, bucket, run, now } = work
  const { kind, item_id } = broken
  if (broken.class === 'duplicate_external' || broken.class === 'duplicate_internal') return
  const stored =
    broken.their_status === '' && broken.their_minor === null
      ? null
      : {
          status: broken.their_status === '' ? null : broken.their_status,
          amount_minor: broken.their_minor === null ? null : BigInt(broken.their_minor),
          currency: broken.their_currency === '' ? null : broken.their_currency,
        }
  if (stored !== null && (await agrees(work, broken, stored))) {
    await resolveBreaks(database, bucket, now, run, kind, [item_id])
    return
  }
  const answer = await work.askAbout(kind, item_id)
  if (answer?.outcome === 'found' && answer.facts.length > 0) {
    await work.settle([answer.facts])
    const told = sideOf(kind, item_id, answer.facts)
    if (told && (await agrees(work, broken, told))) {
      await resolveBreaks(database, bucket, now, run, kind, [item_id])
      return
    }
  }
  const over = broken.expires_at !== null && broken.expires_at.getTime() <= work.tools.now_ms()
  if (broken.class !== 'timing_difference' || !over) return
  await recordBreaks(database, bucket, now, run, [expired(broken)])
}

interface Told {
  readonly status: string | null
  readonly amount_minor: bigint | null
  readonly currency: string | null
}

async function agrees(work: RunWork, { kind, item_id, payment }: BreakRow, told: Told): Promise<boolean> {
  const { database, bucket, run, lag_ms, tolerance_minor } = work
  const ours = (await findKnown(database, bucket, run, kind, [item_id])).get(item_id)
  if (!ours) return false
  const payment_known =
    kind !== 'refunds' || (await findKnownPayments(database, bucket, run, [payment || ours.payment])).size > 0
  const theirs = { ...told, payment_known, fee_minor: null, original: null, foreign: false }
  const basis = { now_ms: work.tools.now_ms(), lag_ms, tolerance_minor, settled: true }
  return !isBreak(compareItem(kind, theirs, ours.side, basis).class)
}

function expired(broken: BreakRow): NewBreak {
  return {
    ...broken,
    class: broken.their_status === '' ? 'missing_external' : 'status_mismatch',
    state: 'open',
    expires_at: null,
    our_minor: broken.our_minor === null ? null : BigInt(broken.our_minor),
    their_minor: broken.their_minor === null ? null : BigInt(broken.their_minor),
    reason: 'it was more than a difference in timing',
  }
}
