import { createHash } from 'node:crypto'
import { compareItem, isBreak, type Judgement, type ReconciledKind } from '../rules/reconcile.ts'
import { inTransaction } from '../store/in-transaction.ts'
import { type ListedNote, noteListedItems } from '../store/queries/note-listed-items.ts'
import { type NewBreak, recordBreaks, resolveBreaks } from '../store/queries/record-breaks.ts'
import { requestLookups, wantedLookup } from '../store/queries/request-lookups.ts'
import type { ComparedItem } from './compared-item.ts'
import { findKnown, findKnownPayments, type Known } from './our-side.ts'
import type { RunWork } from './run-work.ts'

interface Compared {
  readonly item: ComparedItem
  readonly ours: Known | undefined
  readonly judgement: Judgement
}

const OBJECTS = { payments: 'payment', refunds: 'refund', disputes: 'dispute' } as const

/**
 * Compares one page of what the provider says with what we know. What only the provider knows is settled and compared
 * again; differences become breaks, and breaks of what agrees now are over.
 */
export async function comparePage(
  work: RunWork,
  kind: ReconciledKind,
  items: readonly ComparedItem[],
): Promise<void> {
  if (items.length === 0) return
  const first = await compareAll(work, kind, items, false)
  const settling = first.filter(({ item, judgement }) => judgement.settles && item.facts.length > 0)
  const failures = await work.settle(settling.map(({ item }) => item.facts))
  const again =
    settling.length === 0
      ? []
      : await compareAll(
          work,
          kind,
          settling.map(({ item }) => item),
          true,
        )
  const settled = new Map(
    settling.map((one, place) => [one, { after: again[place]!, failure: failures[place]! }]),
  )
  await write(
    work,
    kind,
    first.map((before) => {
      const { after, failure } = settled.get(before) ?? { after: before, failure: null }
      return { ...after, found: before.judgement.class, settled: settled.has(before), failure }
    }),
  )
  await askAfter(
    work,
    first.filter((one) => one.judgement.settles && one.item.facts.length === 0).map(({ item }) => item),
  )
}

async function compareAll(
  work: RunWork,
  kind: ReconciledKind,
  items: readonly ComparedItem[],
  settled: boolean,
): Promise<Compared[]> {
  const { database, bucket, run, lag_ms, tolerance_minor } = work
  const known = await findKnown(
    database,
    bucket,
    run,
    kind,
    items.map(({ id }) => id),
  )
  const about = kind === 'refunds' ? items.flatMap(({ payment }) => payment ?? []) : []
  const payments = await findKnownPayments(database, bucket, run, about)
  const basis = { now_ms: work.tools.now_ms(), lag_ms, tolerance_minor, settled }
  return items.map((item) => {
    const ours = known.get(item.id)
    const payment_known =
      kind !== 'refunds' || (item.payment === null ? ours !== undefined : payments.has(item.payment))
    const judgement = compareItem(kind, { ...item.side, payment_known }, ours?.side ?? null, basis)
    return { item, ours, judgement }
  })
}

interface Outcome extends Compared {
  /** The class before anything was settled. */
  readonly found: Judgement['class']
  readonly settled: boolean
  readonly failure: string | null
}

async function write(work: RunWork, kind: ReconciledKind, outcomes: readonly Outcome[]): Promise<void> {
  const { database, bucket, run, now } = work
  const { once, repeated } = distinct(outcomes)
  await inTransaction(database, async (tx) => {
    const noted = await noteListedItems(
      tx,
      bucket,
      run.id,
      kind,
      once.map((outcome) => note(outcome)),
    )
    const fresh = once.filter((outcome) => noted.has(idOf(outcome)))
    const doubled = [...repeated, ...once.filter((outcome) => !noted.has(idOf(outcome)))]
    const breaks = [...fresh.flatMap((outcome) => breakOf(work, outcome)), ...doubled.map(doubledBreak)]
    const matched = fresh.filter(({ judgement }) => !isBreak(judgement.class)).map(idOf)
    // What was settled just now is recorded as found and over, so the order matters.
    if (matched.length > 0) await resolveBreaks(tx, bucket, now, run, kind, matched)
    if (breaks.length > 0) await recordBreaks(tx, bucket, now, run, breaks)
    if (doubled.length > 0) {
      const again = distinct(doubled).once.map((outcome) => ({
        item_id: `${idOf(outcome)}${AGAIN}`,
        class: 'duplicate_external',
        digest: digestOf(outcome.item),
      }))
      await noteListedItems(tx, bucket, run.id, kind, again)
    }
  })
}

/** Stands behind the id of what is listed a second time, so that the first keeps its own. */
const AGAIN = ' (again)'

/** The id under which we hold it, or else the provider's. */
function idOf({ item, ours }: Pick<Compared, 'item' | 'ours'>): string {
  return ours?.id ?? item.id
}

function note(outcome: Outcome): ListedNote {
  const { found, judgement, item } = outcome
  // A page that was settled shows as what it was found to be.
  const shown = outcome.settled && !isBreak(judgement.class) ? found : judgement.class
  return { item_id: idOf(outcome), class: shown, digest: digestOf(item) }
}

/** What must not differ between two listings of one object. Two lines of a file are never one. */
function digestOf({ side, place }: ComparedItem): Buffer {
  return createHash('sha256')
    .update(JSON.stringify([String(side.amount_minor), side.currency, place]))
    .digest()
    .subarray(0, 16)
}

/** Pages may overlap, so the same content again is nothing; another content, or another line of a file, is. */
function distinct(outcomes: readonly Outcome[]) {
  const once = new Map<string, Outcome>()
  const repeated: Outcome[] = []
  for (const outcome of outcomes) {
    const known = once.get(idOf(outcome))
    if (!known) once.set(idOf(outcome), outcome)
    else if (!digestOf(known.item).equals(digestOf(outcome.item))) repeated.push(outcome)
  }
  return { once: [...once.values()], repeated }
}

function breakOf(work: RunWork, outcome: Outcome): NewBreak[] {
  const { judgement, found, settled, failure } = outcome
  if (isBreak(judgement.class)) {
    const explained = judgement.class === 'fee_or_fx_difference'
    const reason =
      failure !== null
        ? `it could not be settled: ${failure}`
        : explained
          ? 'the fee or the exchange that the provider states accounts for all of it'
          : ''
    const state = explained ? ('explained' as const) : ('open' as const)
    return [{ ...difference(outcome), class: judgement.class, state, reason }]
  }
  if (!settled || !isBreak(found)) return []
  const reason = `settled by run ${work.run.id}`
  return [{ ...difference(outcome), class: found, state: 'resolved', expires_at: null, reason }]
}

function doubledBreak(outcome: Outcome): NewBreak {
  return {
    ...difference(outcome),
    item_id: `${idOf(outcome)}${AGAIN}`,
    class: 'duplicate_external',
    state: 'open',
    expires_at: null,
    reason: '',
  }
}

function difference(outcome: Outcome) {
  const { item, ours, judgement } = outcome
  const { side } = item
  return {
    kind: item.kind,
    item_id: idOf(outcome),
    payment: item.payment ?? ours?.payment ?? '',
    expires_at: judgement.expires_at_ms === null ? null : new Date(judgement.expires_at_ms),
    our_status: ours?.side.status ?? '',
    their_status: side.status ?? '',
    our_minor: ours?.side.amount_minor ?? null,
    their_minor: side.amount_minor,
    our_currency: ours?.side.currency ?? '',
    their_currency: side.currency ?? '',
    place: item.place,
  }
}

/** What a list or a file names without stating facts is asked about, where the provider can be asked. */
async function askAfter(work: RunWork, items: readonly ComparedItem[]): Promise<void> {
  const { endpoint, bucket, database, now } = work
  if (items.length === 0 || !endpoint.provider.lookup) return
  const wanted = items.map(({ kind, id }) =>
    wantedLookup(endpoint, { object: OBJECTS[kind], id }, 'sweep', now),
  )
  await requestLookups(database, bucket, now, wanted)
}
