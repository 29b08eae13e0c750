import { changeOf, type EntitlementChange } from '../rules/plan-effects.ts'
import { foldRight, type RightSource } from '../rules/right.ts'
import type { NewEffect } from '../store/queries/insert-effects.ts'
import { loadRightSources } from '../store/queries/load-right-sources.ts'
import { lockRights } from '../store/queries/lock-rights.ts'
import { type RightKey, type RightRow, rightLock } from '../store/queries/right-row.ts'
import { allOf } from './all-of.ts'
import type { RightChanged } from './hook.ts'
import type { OrderDraft } from './orders.ts'
import { invariant, type Work } from './work.ts'

/** What a holder has of one item, where an order of the batch changes something about it. */
export interface RightDraft {
  readonly row: RightRow
  /** The orders of the batch that give or gave it. */
  readonly orders: readonly OrderDraft[]
  /** What it becomes; null where it stays as it is. */
  readonly change: EntitlementChange | null
}

/**
 * Locks the rights that these orders give and folds each anew from all orders of its holder. Locked after the orders, in
 * key order; what other orders give is read in a statement after the lock, and what these give is taken from their drafts.
 * Costs nothing where no order names a holder.
 */
export async function settleRights(work: Work, orders: Iterable<OrderDraft>): Promise<RightDraft[]> {
  const feeding = new Map<string, { key: RightKey; orders: OrderDraft[] }>()
  for (const order of orders) {
    const holder = order.book.terms?.holder
    if (holder === undefined) continue
    for (const { item } of order.entitlements) {
      const key = { tenant: order.key.tenant, holder, item }
      const known = feeding.get(rightLock(key))
      if (known) known.orders.push(order)
      else feeding.set(rightLock(key), { key, orders: [order] })
    }
  }
  if (feeding.size === 0) return []
  const sorted = [...feeding].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, fed]) => fed)
  const keys = sorted.map(({ key }) => key)
  const [rows, stored] = await allOf([
    lockRights(work.tx, work.bucket, work.as_of, keys),
    loadRightSources(work.tx, work.bucket, keys),
  ])
  invariant(rows.length === keys.length, 'rights locked are not the rights asked for')
  const sources = new Map<string, Map<bigint, RightSource>>(keys.map((key) => [rightLock(key), new Map()]))
  for (const source of stored) sources.get(rightLock(source))!.set(source.order_id, source)
  return rows.map((row) => {
    const fed = feeding.get(rightLock(row))!
    const given = sources.get(rightLock(row))!
    for (const order of fed.orders) {
      given.set(order.row.id, order.entitlements.find(({ item }) => item === row.item)!)
    }
    return { row, orders: fed.orders, change: changeOfRight(row, [...given.values()]) }
  })
}

function changeOfRight(row: RightRow, sources: readonly RightSource[]): EntitlementChange | null {
  const { item, state } = row
  const before = { item, state, quantity: Number(row.quantity), revision: Number(row.revision) }
  return changeOf(before, { item, ...foldRight(sources) })[0] ?? null
}

/** A change of a right, as hooks and receivers are told it. */
export function asRightChange(work: Work, { row, change }: RightDraft): RightChanged {
  const { quantity, state, revision } = change!
  return {
    tenant: row.tenant,
    holder: row.holder,
    item: row.item,
    quantity,
    previous_quantity: Number(row.quantity),
    state,
    previous: row.state,
    revision,
    epoch: work.epoch,
  }
}

/** The row as it is to be written, and what the outside must be told. */
export function writeRight(work: Work, right: RightDraft): { row: RightRow; effects: NewEffect[] } {
  const { row, change } = right
  if (!change) return { row, effects: [] }
  const revision = BigInt(change.revision)
  const { changed } = change
  const effect_seq = changed ? row.effect_seq + 1n : row.effect_seq
  const written = { ...row, state: change.state, quantity: BigInt(change.quantity), revision, effect_seq }
  if (!changed) return { row: written, effects: [] }
  const { holder, item, quantity, state, epoch } = asRightChange(work, right)
  const payload = JSON.stringify({
    holder,
    item,
    quantity,
    state,
    revision: change.revision,
    epoch: String(epoch),
  })
  const effect: NewEffect = {
    tenant: row.tenant,
    subject_kind: 'right',
    subject_id: row.id,
    subject_key: holder,
    seq: effect_seq,
    revision,
    topic: 'right.changed',
    item,
    cause: `revision-${revision}`,
    lane: 'access',
    available_at: work.as_of,
    payload,
  }
  return { row: written, effects: [effect] }
}
