import type { Fact } from '../facts/fact.ts'
import type { SubscriptionStatusReached } from '../facts/subscription.ts'
import { type Conflict, conflictExceptions } from './conflict.ts'
import { compareInstants, compareNewestFirst, compareText, instantOf } from './instant.ts'
import { sortExceptions } from './raise.ts'
import { FINAL_SUBSCRIPTION_STATUSES, FIRST_SUBSCRIPTION_STATUS } from './rank.ts'
import type { SubscriptionState } from './subscription-state.ts'
import { told } from './told.ts'

/**
 * A subscription goes back and forth, so the provider's time decides: the newest statement is its state, and a return
 * to a former status is seen. Once it has ended it stays ended, whatever the times say.
 */
export function deriveSubscription(facts: readonly Fact[]): SubscriptionState {
  const contents = facts
    .flatMap((fact) => (fact.kind === 'subscription_status' ? [fact.content] : []))
    .sort(newestFirst)
  const deciding = decidingStatements(contents)
  const orders_named = told(contents, 'order').values
  const conflicts = conflictsAmong(deciding)
  const [leading] = deciding
  const line = currentLine(contents, deciding)
  return {
    status: leading === undefined ? 'unknown' : conflicts.length > 0 ? 'conflicted' : leading.status,
    at: leading?.at ?? null,
    period_end: latestPeriodEnd(line) ?? latestPeriodEnd(contents),
    cancel_at: told(deciding, 'cancel_at').value,
    order: orders_named.length === 1 ? orders_named[0]! : null,
    orders_named,
    orders_now: newestOrders(contents),
    since: line.at(-1)?.at ?? null,
    ended_from: endedFrom(contents, leading),
    product: newestTold(contents, 'product'),
    price: newestTold(contents, 'price'),
    conflicted: conflicts.length > 0,
    exceptions: sortExceptions(conflictExceptions(conflicts, 'subscription')),
  }
}

function newestFirst(a: SubscriptionStatusReached, b: SubscriptionStatusReached): number {
  return compareNewestFirst(a.at, b.at) || compareText(a.status, b.status)
}

/** Of the final statements, or where there are none of all, those of the newest instant. */
function decidingStatements(newest_first: readonly SubscriptionStatusReached[]): SubscriptionStatusReached[] {
  const final = newest_first.filter(isFinal)
  const candidates = final.length > 0 ? final : newest_first
  const newest = candidates.filter((content) => instantOf(content.at) === instantOf(candidates[0]!.at))
  const moved_on = newest.filter((content) => content.status !== FIRST_SUBSCRIPTION_STATUS)
  return moved_on.length > 0 ? moved_on : newest
}

/**
 * The unbroken run of the deciding status, newest first: renewals within it may be told late or twice, and the latest
 * period end among them holds.
 */
function currentLine(
  newest_first: readonly SubscriptionStatusReached[],
  deciding: readonly SubscriptionStatusReached[],
): SubscriptionStatusReached[] {
  const statuses = new Set(deciding.map((content) => content.status))
  const since = newest_first.slice(Math.max(newest_first.indexOf(deciding[0]!), 0))
  const end = since.findIndex((content) => !statuses.has(content.status))
  return end === -1 ? since : since.slice(0, end)
}

function latestPeriodEnd(contents: readonly SubscriptionStatusReached[]): string | null {
  const ends = contents.flatMap((content) => (content.period_end === undefined ? [] : [content.period_end]))
  return ends.sort((a, b) => compareInstants(b, a))[0] ?? null
}

function newestOrders(newest_first: readonly SubscriptionStatusReached[]): readonly string[] {
  const naming = newest_first.filter((content) => content.order !== undefined)
  return told(
    naming.filter((content) => instantOf(content.at) === instantOf(naming[0]!.at)),
    'order',
  ).values
}

function endedFrom(
  newest_first: readonly SubscriptionStatusReached[],
  leading: SubscriptionStatusReached | undefined,
): SubscriptionState['ended_from'] {
  if (leading === undefined || !isFinal(leading)) return null
  return newest_first.find((content) => !isFinal(content))?.status ?? null
}

function isFinal({ status }: SubscriptionStatusReached): boolean {
  return FINAL_SUBSCRIPTION_STATUSES.includes(status)
}

/** Plans change, so the newest statement that tells one holds; of one instant the lowest, since they then conflict. */
function newestTold(
  newest_first: readonly SubscriptionStatusReached[],
  field: 'product' | 'price',
): string | null {
  const telling = newest_first.filter((content) => content[field] !== undefined)
  return told(
    telling.filter((content) => instantOf(content.at) === instantOf(telling[0]!.at)),
    field,
  ).value
}

/** Two final statuses are one end; two others at one instant may each be the later one. */
function conflictsAmong(deciding: readonly SubscriptionStatusReached[]): Conflict[] {
  const at = deciding[0]?.at
  const conflicts: Conflict[] = []
  const statuses = told(deciding, 'status').values
  if (statuses.length > 1 && !statuses.every((status) => FINAL_SUBSCRIPTION_STATUSES.includes(status))) {
    conflicts.push({ cause: `status/${at}`, detail: `status is told as ${statuses.join(' and ')}` })
  }
  for (const field of ['order', 'price', 'product'] as const) {
    const { values } = told(deciding, field)
    if (values.length > 1) {
      conflicts.push({ cause: `${field}/${at}`, detail: `${field} is told as ${values.join(' and ')}` })
    }
  }
  return conflicts
}
