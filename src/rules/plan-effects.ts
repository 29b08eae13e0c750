import type { EffectDue } from '../facts/effect.ts'
import type { EntitlementState } from '../facts/entitlement.ts'
import { isUntried, type OneShotBefore, type OneShotName, planRefunds } from './one-shots.ts'
import type { OrderState } from './order-state.ts'

/** One entitlement row as stored before this settle. Revision 0 means that the outside was never told of it. */
export interface EntitlementBefore {
  readonly item: string
  readonly quantity: number
  readonly state: EntitlementState
  readonly revision: number
}

export interface EntitlementChange {
  readonly item: string
  readonly quantity: number
  readonly state: EntitlementState
  readonly revision: number
  /** The outside sees a change: the revision is one higher and a level effect is due. */
  readonly changed: boolean
}

export interface EffectPlan {
  /** Rows whose stored state must change. */
  readonly entitlements: readonly EntitlementChange[]
  /** A level effect for each visible change, the receipt when it is due, and refunds that a policy makes. */
  readonly effects: readonly EffectDue[]
  /** One-shots that were never attempted and have lost their cause: they must not go out. Taken back before `effects` are written. */
  readonly withdrawn: readonly OneShotName[]
}

/** Compares what was stored with what holds now: what must be written, and what the outside must be told. */
export function planEffects(
  order: {
    readonly reference: string
    readonly before: readonly EntitlementBefore[]
    /** Its one-shots in the outbox. */
    readonly sent?: readonly OneShotBefore[]
  },
  target: OrderState,
): EffectPlan {
  const before = new Map(order.before.map((row) => [row.item, row]))
  const entitlements = [...wantedRows(before, target)].flatMap((wanted) =>
    changeOf(before.get(wanted.item), wanted),
  )
  const after = new Map([...before, ...entitlements.map((row) => [row.item, row] as const)])
  const was_fulfilled = isFulfilled(before, target)
  const is_fulfilled = isFulfilled(after, target)
  const effects: EffectDue[] = entitlements
    .filter((change) => change.changed)
    .map(({ item }) => ({ type: 'level', topic: 'entitlement.changed', item, lane: 'access' }))
  if (is_fulfilled && !was_fulfilled) effects.push(receipt(order.reference, target))
  const { sent = [] } = order
  const refunds = planRefunds(order.reference, sent, target)
  const stays = is_fulfilled || target.rest === 'granted' || target.rest === 'held'
  const receipts = stays ? [] : sent.filter((row) => row.topic === 'receipt.due' && isUntried(row))
  return {
    entitlements,
    effects: [...effects, ...refunds.effects],
    withdrawn: [
      ...receipts.map(({ cause }): OneShotName => ({ topic: 'receipt.due', cause })),
      ...refunds.withdrawn,
    ],
  }
}

interface WantedRow {
  readonly item: string
  readonly quantity: number
  readonly state: EntitlementState
}

/** The targets that say something, and for rows that corrected terms no longer name: no right. */
function* wantedRows(
  before: ReadonlyMap<string, EntitlementBefore>,
  target: OrderState,
): Generator<WantedRow> {
  const named = new Set<string>()
  for (const { item, quantity, state } of target.entitlements) {
    named.add(item)
    if (state !== 'held') yield { item, quantity, state }
  }
  if (target.rest !== undefined) {
    yield* followingRows(before, named, target.rest)
    return
  }
  if (named.size === 0 || target.entitlements.some(({ state }) => state === 'held')) return
  for (const { item, quantity, state } of before.values()) {
    if (!named.has(item) && state !== 'none') yield { item, quantity, state: 'revoked' }
  }
}

/** Rights that stand follow; what is over does not come back. */
function* followingRows(
  before: ReadonlyMap<string, EntitlementBefore>,
  named: ReadonlySet<string>,
  rest: NonNullable<OrderState['rest']>,
): Generator<WantedRow> {
  if (rest === 'held') return
  for (const { item, quantity, state } of before.values())
    if (!named.has(item) && stands(state)) yield { item, quantity, state: rest }
}

/** It is given, or may come back. */
export function stands(state: EntitlementState): boolean {
  return state === 'granted' || state === 'suspended'
}

/** How a stored right becomes the wanted one; empty where it is that already. */
export function changeOf(stored: EntitlementBefore | undefined, wanted: WantedRow): EntitlementChange[] {
  const { state, quantity, revision } = stored ?? { state: 'none', quantity: wanted.quantity, revision: 0 }
  if (state === wanted.state && quantity === wanted.quantity) return []
  const was = seen(state, revision)
  const is = seen(wanted.state, revision)
  const changed = was !== is || (is !== 'none' && quantity !== wanted.quantity)
  return [{ ...wanted, revision: changed ? revision + 1 : revision, changed }]
}

/** What the outside sees. A right that it was never told of cannot be taken from it. */
function seen(state: EntitlementState, revision: number): EntitlementState {
  return revision === 0 && state !== 'granted' ? 'none' : state
}

/** Every item of the order is granted; an order without items gives nothing to confirm. */
function isFulfilled(
  rows: ReadonlyMap<string, { readonly state: EntitlementState }>,
  target: OrderState,
): boolean {
  const { entitlements } = target
  return entitlements.length > 0 && entitlements.every(({ item }) => rows.get(item)?.state === 'granted')
}

function receipt(reference: string, target: OrderState): EffectDue {
  const payload = {
    order: reference,
    amount_minor: `${target.due_minor}`,
    currency: target.currency,
    // Less than that only where a policy grants for a part.
    paid_minor: `${target.paid_minor}`,
  }
  return {
    type: 'one_shot',
    topic: 'receipt.due',
    item: '-',
    cause: 'order',
    lane: 'messages',
    payload,
    delay_ms: 0,
  }
}
