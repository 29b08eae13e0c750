import { Fault } from '../facts/fault.ts'
import type { Database } from '../store/database.ts'
import { lostRace } from '../store/driver-fault.ts'
import { useSearchPath } from '../store/queries/use-search-path.ts'
import { asChange } from './change.ts'
import { HookTimeout, type HookTransaction, type OnEntitlement, type OnRight, runHook } from './hook.ts'
import type { OrderDraft } from './orders.ts'
import { asRightChange, type RightDraft } from './rights.ts'
import type { Work } from './work.ts'

/** The merchant's hooks, and how long they may take. */
export interface HookContext {
  readonly database: Database
  readonly onEntitlement: OnEntitlement | null
  readonly onRight?: OnRight | null | undefined
  readonly hook_limit_ms: number
  /** Hears how each run of the hooks ended: null when well, else why it failed. */
  readonly onHook?: ((failure: string | null) => void) | undefined
}

/** One of several hooks ran out of time; the transaction is gone. */
export class HooksTimeout extends HookTimeout {}

/** A hook ran out of time for these orders (by lock); the transaction is gone. */
export class OrderHookTimeout extends HookTimeout {
  readonly orders: readonly string[]
  constructor(orders: readonly string[], message: string) {
    super(message)
    this.orders = orders
  }
}

/** Orders that succeed or fail together, since they give the same rights; most are alone. */
interface HookGroup {
  readonly orders: readonly OrderDraft[]
  readonly rights: readonly RightDraft[]
}

/**
 * Runs the merchant's hooks for every visible change. The hooks of a batch start together, in key order, on one
 * savepoint, so that their statements share round trips; only when one of them fails are they run again, one savepoint
 * for each group, to find out which.
 * @param failed hears of the orders that must not be settled now, with the reason
 */
export async function runHooks(
  context: HookContext,
  work: Work,
  orders: readonly OrderDraft[],
  rights: readonly RightDraft[],
  failed: Map<OrderDraft, string>,
  hooks_together: boolean,
): Promise<void> {
  const { onEntitlement, onRight } = context
  if (!onEntitlement && !onRight) return
  const changed = groupsOf(orders, rights).filter(
    (group) =>
      (onEntitlement && group.orders.some((order) => order.entitlements.some(({ changed }) => changed))) ||
      (onRight && group.rights.some(({ change }) => change?.changed)),
  )
  if (changed.length === 0) return
  await useSearchPath(work.tx, context.database.user_search_path)
  const run = async (group: HookGroup, tx: HookTransaction) => {
    for (const order of group.orders) {
      for (const change of order.entitlements)
        if (change.changed) await onEntitlement?.(asChange(work, order, change), tx)
    }
    for (const right of group.rights)
      if (right.change?.changed) await onRight?.(asRightChange(work, right), tx)
  }
  const together = hooks_together && changed.length > 1 && (await runTogether(context, work, changed, run))
  if (!together) await runOneByOne(context, work, changed, run, failed)
  await useSearchPath(work.tx, ownSearchPath(context.database))
}

/** In key order, of the groups and within them. */
function groupsOf(orders: readonly OrderDraft[], rights: readonly RightDraft[]): HookGroup[] {
  const sorted = [...orders].sort((a, b) => (a.lock < b.lock ? -1 : 1))
  const groups = new Map<OrderDraft, { orders: OrderDraft[]; rights: RightDraft[] }>(
    sorted.map((order) => [order, { orders: [order], rights: [] }]),
  )
  for (const right of rights) {
    const [first, ...others] = right.orders
    const group = groups.get(first!)!
    for (const other of others) {
      const joined = groups.get(other)!
      if (joined === group) continue
      group.orders.push(...joined.orders)
      group.rights.push(...joined.rights)
      for (const order of joined.orders) groups.set(order, group)
    }
    group.rights.push(right)
  }
  const whole = [...new Set(groups.values())]
  for (const group of whole) group.orders.sort((a, b) => (a.lock < b.lock ? -1 : 1))
  return whole
}

type RunHook = (group: HookGroup, tx: HookTransaction) => Promise<void>

/** False when one failed; the savepoint is rolled back then, so nothing of any of them stands. */
async function runTogether(
  context: HookContext,
  work: Work,
  changed: readonly HookGroup[],
  run: RunHook,
): Promise<boolean> {
  const all = async (tx: HookTransaction) => {
    const ended = await Promise.allSettled(changed.map((group) => run(group, tx)))
    const failure = ended.find((end) => end.status === 'rejected')
    if (failure) throw failure.reason
  }
  try {
    await runHook(work.tx, context.hook_limit_ms, all, false)
    context.onHook?.(null)
    return true
  } catch (error) {
    if (lostRace(error)) throw error
    if (error instanceof HookTimeout) throw new HooksTimeout(error.message)
    return false
  }
}

async function runOneByOne(
  context: HookContext,
  work: Work,
  changed: readonly HookGroup[],
  run: RunHook,
  failed: Map<OrderDraft, string>,
): Promise<void> {
  for (const group of changed) {
    try {
      await runHook(work.tx, context.hook_limit_ms, (tx) => run(group, tx))
      context.onHook?.(null)
    } catch (error) {
      if (lostRace(error)) throw error
      const why = whyItFailed(error)
      context.onHook?.(why)
      const locks = group.orders.map((order) => order.lock)
      if (error instanceof HookTimeout) throw new OrderHookTimeout(locks, error.message)
      for (const order of group.orders) failed.set(order, why)
    }
  }
}

/** The schema that our statements mean; a merchant's table of the same name must not shadow it, nor be shadowed in a hook. */
export function ownSearchPath(database: Database): string {
  return `${database.schema}, ${database.user_search_path}`
}

export function whyItFailed(error: unknown): string {
  const cause = error instanceof Fault && error.cause instanceof Error ? error.cause : error
  return cause instanceof Error ? cause.message.slice(0, 500) : 'unknown error'
}
