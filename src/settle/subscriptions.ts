import type { SubscriptionSubject } from '../facts/subject.ts'
import { deriveSubscription } from '../rules/derive-subscription.ts'
import type { SubscriptionState } from '../rules/subscription-state.ts'
import { asFact, loadFacts } from '../store/queries/load-facts.ts'
import {
  lockSubscriptions,
  type SubscriptionKey,
  type SubscriptionRow,
  subscriptionLock,
} from '../store/queries/lock-subscriptions.ts'
import { bySubject } from './payments.ts'
import { type Intake, Statements, takeIn } from './statement.ts'
import { invariant, type Work } from './work.ts'

/** One subscription of the batch. */
export interface SubscriptionDraft {
  readonly key: SubscriptionKey
  readonly lock: string
  readonly subject: SubscriptionSubject
  readonly statements: Statements
  touched: boolean
  row: SubscriptionRow | null
  /** Derived state; null while nothing about it has changed. */
  state: SubscriptionState | null
}

export type SubscriptionDrafts = Map<string, SubscriptionDraft>

export function subscriptionDraft(
  drafts: SubscriptionDrafts,
  tenant: string,
  subject: SubscriptionSubject,
): SubscriptionDraft {
  const key = {
    tenant,
    namespace: subject.namespace,
    account: subject.account,
    provider_subscription_id: subject.id,
  }
  const lock = subscriptionLock(key)
  let draft = drafts.get(lock)
  if (!draft) {
    draft = { key, lock, subject, statements: new Statements(), touched: false, row: null, state: null }
    drafts.set(lock, draft)
  }
  return draft
}

/** Locks the subscriptions of the batch in key order, takes in what is new about them and derives their states. */
export async function settleSubscriptions(
  work: Work,
  drafts: SubscriptionDrafts,
  intake: Intake,
): Promise<void> {
  if (drafts.size === 0) return
  const sorted = [...drafts.values()].sort((a, b) => (a.lock < b.lock ? -1 : 1))
  const rows = await lockSubscriptions(
    work.tx,
    work.bucket,
    work.as_of,
    sorted.map((draft) => draft.key),
  )
  invariant(rows.length === sorted.length, 'subscriptions locked are not the subscriptions asked for')
  for (const row of rows) drafts.get(subscriptionLock(row))!.row = row
  const stored = bySubject(
    await loadFacts(
      work.tx,
      work.bucket,
      rows.map((row) => row.id),
    ),
  )
  for (const draft of sorted) {
    const known = stored.get(draft.row!.id) ?? []
    const fresh = takeIn(intake, draft.row!.id, draft.statements, known)
    if (fresh.length === 0 && !draft.touched) continue
    draft.state = deriveSubscription([...known.map((fact) => asFact(draft.subject, fact)), ...fresh])
  }
}
