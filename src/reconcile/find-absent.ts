import { isBreak, type Judgement, judgeAbsence, type ReconciledKind } from '../rules/reconcile.ts'
import { inTransaction } from '../store/in-transaction.ts'
import { findListedTwins, listUnlisted, type UnlistedRow } from '../store/queries/list-unlisted.ts'
import { noteListedItems } from '../store/queries/note-listed-items.ts'
import { type NewBreak, recordBreaks, resolveBreaks } from '../store/queries/record-breaks.ts'
import type { RunWork } from './run-work.ts'

/** Two clocks and two ways of telling one time may differ by so much at the beginning of a window. */
const EDGE_MS = 300_000

export interface ListedWindow {
  readonly from_at: Date
  readonly to_at: Date
  readonly listed_at: Date
  /** The provider lists by when money moved, as we keep it. */
  readonly listed_by_moved: boolean
}

/**
 * The other direction: what we know of the window, and the list, which came to its end, did not hold. Before absence is
 * believed the provider is asked about the very object, where it can be.
 */
export async function findAbsent(work: RunWork, kind: ReconciledKind, window: ListedWindow): Promise<void> {
  const from_at = new Date(window.from_at.getTime() + EDGE_MS)
  const run = { id: work.run.id, from_at, to_at: window.to_at }
  for (let after: bigint | null = 0n; after !== null; ) {
    const page = await listUnlisted(work.database, work.bucket, work.run, run, kind, after)
    for (let start = 0; start < page.rows.length; start += PART) {
      await work.keepLease()
      await judgeAbsent(work, kind, page.rows.slice(start, start + PART), window)
    }
    await work.keepLease()
    after = page.next
  }
}

const PART = 50

async function judgeAbsent(
  work: RunWork,
  kind: ReconciledKind,
  rows: readonly UnlistedRow[],
  window: ListedWindow,
): Promise<void> {
  const { database, bucket, run, now } = work
  const ids = kind === 'payments' ? rows.map((row) => row.item_id) : []
  const twins =
    ids.length === 0 ? new Set<string>() : await findListedTwins(database, bucket, run, run.id, ids)
  const judged: { readonly row: UnlistedRow; readonly judgement: Judgement }[] = []
  for (const row of rows)
    judged.push({ row, judgement: await judge(work, kind, row, window, twins.has(row.item_id)) })
  const breaks = judged.flatMap(({ row, judgement }) => breakOf(kind, row, judgement))
  const present = judged.filter(({ judgement }) => !isBreak(judgement.class)).map(({ row }) => row.item_id)
  await inTransaction(database, async (tx) => {
    await noteListedItems(
      tx,
      bucket,
      run.id,
      kind,
      judged.map(({ row, judgement }) => ({
        item_id: row.item_id,
        class: judgement.class,
        digest: Buffer.alloc(16),
      })),
    )
    if (present.length > 0) await resolveBreaks(tx, bucket, now, run, kind, present)
    if (breaks.length > 0) await recordBreaks(tx, bucket, now, run, breaks)
  })
}

async function judge(
  work: RunWork,
  kind: ReconciledKind,
  row: UnlistedRow,
  { listed_at, listed_by_moved }: ListedWindow,
  twin_listed: boolean,
): Promise<Judgement> {
  const absence = {
    covered: true,
    moved_at_ms: row.moved_at?.getTime() ?? null,
    listed_at_ms: listed_at.getTime(),
    lag_ms: work.lag_ms,
    listed_by_moved,
    twin_listed,
  }
  const unasked = judgeAbsence({ ...absence, asked: null })
  if (unasked.class === 'timing_difference') return unasked
  const answer = await work.askAbout(kind, row.item_id)
  if (answer?.outcome === 'found') await work.settle([answer.facts])
  const asked = answer?.outcome === 'found' || answer?.outcome === 'not_found' ? answer.outcome : null
  return judgeAbsence({ ...absence, asked })
}

/** Of what cannot be judged there is only a count: nothing differs that anybody could explain. */
function breakOf(
  kind: ReconciledKind,
  row: UnlistedRow,
  { class: found, expires_at_ms }: Judgement,
): NewBreak[] {
  if (!isBreak(found) || found === 'unverifiable') return []
  return [
    {
      kind,
      item_id: row.item_id,
      payment: row.payment ?? '',
      class: found,
      state: 'open',
      expires_at: expires_at_ms === null ? null : new Date(expires_at_ms),
      our_status: row.status,
      their_status: '',
      our_minor: row.amount_minor === null ? null : BigInt(row.amount_minor),
      their_minor: null,
      our_currency: row.currency ?? '',
      their_currency: '',
      place: '',
      reason: '',
    },
  ]
}
