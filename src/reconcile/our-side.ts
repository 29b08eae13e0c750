import { DISPUTE_STAGE_RANK } from '../rules/rank.ts'
import type { OurSide, ReconciledKind } from '../rules/reconcile.ts'
import type { Queryable } from '../store/database.ts'
import { findOurSides, type OurSideRow } from '../store/queries/find-our-sides.ts'
import type { ReconciledAccount } from '../store/queries/run-reconciliation.ts'

/** What we know of one object. */
export interface Known {
  /** The id under which we hold it. */
  readonly id: string
  readonly payment: string
  readonly side: OurSide
}

/** What we know of these objects, by the id that was asked about. */
export async function findKnown(
  db: Queryable,
  bucket: number,
  account: ReconciledAccount,
  kind: ReconciledKind,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Known>> {
  if (ids.length === 0) return new Map()
  const rows = await findOurSides(db, bucket, account, kind, [...new Set(ids)])
  const newest = new Map<string, OurSideRow>()
  for (const row of rows) {
    const known = newest.get(row.asked)
    if (!known || stageOf(row) > stageOf(known)) newest.set(row.asked, row)
  }
  return new Map([...newest].map(([asked, row]) => [asked, knownOf(kind, row)]))
}

/** Of these payments, those whose own money we know. */
export async function findKnownPayments(
  db: Queryable,
  bucket: number,
  account: ReconciledAccount,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const known = await findKnown(db, bucket, account, 'payments', ids)
  return new Set([...known].filter(([, { side }]) => side.status !== 'unknown').map(([asked]) => asked))
}

function knownOf(kind: ReconciledKind, row: OurSideRow): Known {
  const amount_minor = row.amount_minor === null ? null : BigInt(row.amount_minor)
  // Nothing collected is no amount that could differ.
  const moved = kind === 'payments' && amount_minor === 0n ? null : amount_minor
  const { item_id: id, payment, status, currency, updated_at } = row
  return { id, payment, side: { status, amount_minor: moved, currency, changed_at_ms: updated_at.getTime() } }
}

function stageOf({ stage }: OurSideRow): number {
  const ranks: Readonly<Record<string, number>> = DISPUTE_STAGE_RANK
  return stage === undefined ? 0 : (ranks[stage] ?? -1)
}
