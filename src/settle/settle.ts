import type { PolicyOptions } from '../rules/policy.ts'
import { paidOrders } from '../rules/settled-orders.ts'
import { lostRace } from '../store/driver-fault.ts'
import { deleteEventWitnesses } from '../store/queries/delete-event-witnesses.ts'
import type { Ids } from '../store/queries/take-ids.ts'
import { useSearchPath } from '../store/queries/use-search-path.ts'
import { allOf } from './all-of.ts'
import { type Claim, claim } from './claim.ts'
import type { Gathered } from './gather.ts'
import { type FindOrders, HookTimeout, runHook } from './hook.ts'
import type { SettleItem, SettleOutcome } from './item.ts'
import { type HookContext, OrderHookTimeout, ownSearchPath, runHooks, whyItFailed } from './order-hooks.ts'
import {
  adoptTerms,
  deriveDraft,
  loadOrderDrafts,
  lockOrderDrafts,
  type OrderDraft,
  type OrderDrafts,
  orderDraft,
} from './orders.ts'
import { changesOrder, settlePayments } from './payments.ts'
import { adoptPrices } from './prices.ts'
import type { Recorded } from './record-events.ts'
import { type RightDraft, settleRights } from './rights.ts'
import { emptyIntake, type Intake } from './statement.ts'
import { changesSettled, settleSubscriptions, subscriptionNamed } from './subscriptions.ts'
import { type Catalogue, DormantFacts, type Work } from './work.ts'
import { type Kept, NOTHING_WRITTEN, startWriting, type Writing } from './write.ts'

/** What settling needs besides the items. */
export interface SettleContext extends HookContext {
  readonly epoch: bigint
  readonly ids: Ids
  /** One-shot topics that somebody is told of. */
  readonly topics: ReadonlySet<string>
  /** The installation's own policy, pinned to each order when it is registered. Default: the defaults of the rules. */
  readonly policy?: PolicyOptions | undefined
  /** What each price gives now; pinned to an order when its subscription first has that price. */
  readonly catalogue?: Catalogue | undefined
  readonly findOrders: FindOrders | null
  /** Hears of each commit that may have left effects. */
  readonly onCommitted?: (() => void) | undefined
}

export interface SettleOptions {
  /** Longest wait for a lock that another transaction holds, milliseconds. */
  readonly lock_timeout_ms: number
  /**
   * How far to go. `full`: everything. `payments`: events, facts and payments, but no order is locked; `event`: the
   * event alone. Whatever is left out is marked, and settled later.
   */
  readonly depth: 'full' | 'payments' | 'event'
  /** Why it does not go all the way; stands on the mark. */
  readonly reason: string
  /** Orders (by lock) not to be settled now, with the reason: their events are kept and marked. */
  readonly keep: ReadonlyMap<string, string>
  /** Start the hooks of a batch side by side; false after one of them ran out of time, to find out which. */
  readonly hooks_together: boolean
  /**
   * Hears what would be written, before against after; then everything is rolled back instead of committed. For a
   * replay's dry run.
   */
  readonly rehearse?: ((drafts: Gathered) => void) | undefined
  /** Called before each transaction boundary with its name; tests crash or interleave there. */
  readonly onBoundary?: ((boundary: Boundary) => Promise<void> | void) | undefined
}

export type Boundary = 'begun' | 'recorded' | 'locked' | 'derived' | 'written' | 'committed'

export const SETTLE_DEFAULTS: SettleOptions = {
  lock_timeout_ms: 500,
  depth: 'full',
  reason: '',
  keep: new Map(),
  hooks_together: true,
}

/**
 * Settles a batch in one transaction and gives the outcome of each item in its place. All or nothing: when it throws,
 * nothing was written, except after a lost connection at COMMIT, where nobody knows and repeating is harmless.
 */
export async function settle(
  context: SettleContext,
  bucket: number,
  items: readonly SettleItem[],
  options: SettleOptions = SETTLE_DEFAULTS,
): Promise<SettleOutcome[]> {
  try {
    return await attempt(context, bucket, items, options, false)
  } catch (error) {
    if (error instanceof DormantFacts) return attempt(context, bucket, items, options, true)
    throw error
  }
}

const NO_CATALOGUE: Catalogue = new Map()

async function attempt(
  context: SettleContext,
  bucket: number,
  items: readonly SettleItem[],
  options: SettleOptions,
  with_dormant: boolean,
): Promise<SettleOutcome[]> {
  const tx = await context.database.begin({ lock_timeout_ms: options.lock_timeout_ms })
  const reached = async (boundary: Boundary) => options.onBoundary?.(boundary)
  try {
    await reached('begun')
    const claimed = await claim(tx, context.ids, bucket, items, options.depth)
    const { as_of, recorded } = claimed
    await reached('recorded')
    const work: Work = {
      tx,
      bucket,
      as_of,
      epoch: context.epoch,
      ids: context.ids,
      topics: context.topics,
      policy: context.policy ?? {},
      catalogue: context.catalogue ?? NO_CATALOGUE,
      with_dormant,
    }
    const { kept, writing } = await settleClaimed(context, work, claimed, options, reached)
    const written = allOf(writing.running)
    // Whatever happens before it is awaited, what it throws has a listener.
    written.catch(() => undefined)
    // Behind statements that start no others, COMMIT shares their round trip: should one fail, the transaction is aborted
    // and COMMIT comes back as ROLLBACK.
    if (writing.open_ended || options.rehearse) await written
    options.rehearse?.(claimed.drafts)
    if (writing.running.length > 0) await reached('written')
    await allOf([written, options.rehearse ? tx.rollback() : tx.commit()])
    if (recorded.some((entry) => entry.source !== null)) context.onCommitted?.()
    await reached('committed')
    return recorded.map((entry, place) => outcome(entry, kept.has(place)))
  } catch (error) {
    await tx.rollback()
    throw error
  }
}

function outcome({ item, source }: Recorded, kept: boolean): SettleOutcome {
  if (!source && item.event) return 'duplicate'
  if (kept) return 'kept'
  return item.event && item.event.state !== 'settled' ? 'stored' : 'settled'
}

/** Everything between the event locks and COMMIT. */
async function settleClaimed(
  context: SettleContext,
  work: Work,
  { recorded, drafts, payments, orders }: Claim,
  options: SettleOptions,
  reached: (boundary: Boundary) => Promise<void>,
): Promise<Settled> {
  const kept: Kept = new Map()
  if (recorded.every((entry) => entry.source === null && entry.item.touches.length === 0))
    return { kept, writing: NOTHING_WRITTEN }
  await takeBack(work, recorded)
  const intake = emptyIntake()
  let rights: readonly RightDraft[] = []
  await settlePayments(work, drafts.payments, payments, intake)
  await settleSubscriptions(work, drafts.subscriptions, drafts.payments, intake)
  if (options.depth === 'full') {
    nameOrders(drafts)
    if (drafts.orders.size > 0) {
      await lockOrderDrafts(work, drafts.orders, orders)
      await reached('locked')
      const failed = new Map<OrderDraft, string>()
      await deriveOrders(context, work, drafts.orders, intake, options, failed)
      const derived = [...drafts.orders.values()].filter((order) => !failed.has(order))
      rights = await settleRights(work, derived)
      await runHooks(context, work, derived, rights, failed, options.hooks_together)
      rights = rights.filter((right) => !right.orders.some((order) => failed.has(order)))
      for (const [order, reason] of failed) {
        order.state = null
        for (const place of placesOf(order)) kept.set(place, reason)
      }
    }
  } else {
    for (const [place, { source }] of recorded.entries()) if (source) kept.set(place, options.reason)
  }
  await reached('derived')
  return { kept, writing: await startWriting(work, recorded, drafts, rights, intake, kept) }
}

interface Settled {
  /** The places of the items that are kept, with the reason. */
  readonly kept: Kept
  readonly writing: Writing
}

/** Replay: what these events have told before is taken back under the same locks under which they tell it anew. */
async function takeBack(work: Work, recorded: readonly Recorded[]): Promise<void> {
  const ids = recorded
    .filter(({ item, source }) => item.replaces && source?.kind === 'event')
    .map(({ source }) => source!.id)
  if (ids.length > 0) await deleteEventWitnesses(work.tx, work.bucket, ids)
}

/** The orders of payments and subscriptions that changed: those that they concern now and those that they did before. */
function nameOrders({ payments, subscriptions, orders }: Gathered): void {
  for (const payment of payments.values()) {
    if (!payment.rederive && !changesOrder(payment)) continue
    const { row, state, key } = payment
    const settling = (ids: readonly string[]) =>
      ids.flatMap((id) => subscriptionNamed(subscriptions, payment, id) ?? [])
    const before = paidOrders(
      row?.order_refs ?? [],
      settling(row?.subscription_refs ?? []).map((subscription) => subscription.row!.order_refs),
    )
    payment.paid_orders = paidOrders(
      state ? state.orders_named : (row?.order_refs ?? []),
      settling(state ? state.subscriptions_named : (row?.subscription_refs ?? [])).map(
        (subscription) => subscription.order_refs,
      ),
    )
    for (const reference of new Set([...before, ...payment.paid_orders])) {
      const order = orderDraft(orders, { tenant: key.tenant, reference })
      order.payments.add(payment)
      order.refold ||= payment.rederive
    }
  }
  for (const subscription of subscriptions.values()) {
    if (!subscription.rederive && !changesSettled(subscription)) continue
    for (const reference of new Set([...subscription.row!.order_refs, ...subscription.order_refs])) {
      const order = orderDraft(orders, { tenant: subscription.key.tenant, reference })
      order.subscriptions.add(subscription)
      order.refold ||= subscription.rederive
    }
  }
}

function placesOf(order: OrderDraft): Set<number> {
  const parts = [...order.payments, ...order.subscriptions]
  return new Set([...order.items, ...parts.flatMap((part) => [...part.items])])
}

async function deriveOrders(
  context: SettleContext,
  work: Work,
  orders: OrderDrafts,
  intake: Intake,
  options: SettleOptions,
  failed: Map<OrderDraft, string>,
): Promise<void> {
  const siblings = await loadOrderDrafts(work, orders, intake)
  for (const order of orders.values()) {
    const reason = options.keep.get(order.lock)
    if (reason !== undefined) failed.set(order, reason)
  }
  if (context.findOrders) await findTerms(context, context.findOrders, work, orders, intake, failed)
  const deriving = [...orders.values()].filter((order) => !failed.has(order))
  if (work.catalogue.size > 0) await adoptPrices(work, deriving, siblings, intake)
  for (const order of deriving) deriveDraft(work, order, siblings)
}

/** Asks the merchant's own tables for the terms of placeholders, all of one tenant in one call. */
async function findTerms(
  context: SettleContext,
  findOrders: FindOrders,
  work: Work,
  orders: OrderDrafts,
  intake: Intake,
  failed: Map<OrderDraft, string>,
): Promise<void> {
  const unknown = new Map<string, OrderDraft[]>()
  for (const order of orders.values()) {
    if (order.book.terms !== null || order.book.conflicted || failed.has(order)) continue
    unknown.set(order.key.tenant, [...(unknown.get(order.key.tenant) ?? []), order])
  }
  if (unknown.size === 0) return
  await useSearchPath(work.tx, context.database.user_search_path)
  for (const [tenant, asked] of unknown) {
    try {
      const references = asked.map((order) => order.key.reference)
      const found = await runHook(work.tx, context.hook_limit_ms, (tx) => findOrders(references, tx, tenant))
      for (const order of asked) {
        const terms = found.get(order.key.reference)
        if (terms) adoptTerms(work, order, terms, intake)
      }
    } catch (error) {
      if (lostRace(error)) throw error
      if (error instanceof HookTimeout) {
        throw new OrderHookTimeout(
          asked.map((order) => order.lock),
          error.message,
        )
      }
      for (const order of asked) failed.set(order, whyItFailed(error))
    }
  }
  await useSearchPath(work.tx, ownSearchPath(context.database))
}
