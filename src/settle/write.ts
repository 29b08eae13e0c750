import { errorCode, movedOn } from '../store/driver-fault.ts'
import { completeOperations } from '../store/queries/complete-operations.ts'
import { deleteStaleDisputes } from '../store/queries/delete-stale-disputes.ts'
import { finishLookup } from '../store/queries/finish-lookup.ts'
import { finishOperation } from '../store/queries/finish-operation.ts'
import { insertEffects, type NewEffect } from '../store/queries/insert-effects.ts'
import { insertFacts } from '../store/queries/insert-facts.ts'
import { updateSubscriptions } from '../store/queries/lock-subscriptions.ts'
import { deleteUnsettled, type Mark, markUnsettled, noteUnsettled } from '../store/queries/mark-unsettled.ts'
import type { NewException } from '../store/queries/raise-exceptions.ts'
import { refileEvents } from '../store/queries/refile-events.ts'
import { requestLookups } from '../store/queries/request-lookups.ts'
import { updateEventStates } from '../store/queries/update-event-states.ts'
import { updateOrders } from '../store/queries/update-orders.ts'
import { updatePayments } from '../store/queries/update-payments.ts'
import { updateRights } from '../store/queries/update-rights.ts'
import { upsertDisputes } from '../store/queries/upsert-disputes.ts'
import { deleteRefunds, upsertRefunds } from '../store/queries/upsert-refunds.ts'
import { supersedeEffects, withdrawEffects } from '../store/queries/withdraw-effects.ts'
import { asChange } from './change.ts'
import type { Gathered } from './gather.ts'
import type { SettleItem } from './item.ts'
import type { OrderDraft } from './orders.ts'
import { type PaymentDraft, write } from './payments.ts'
import { type Judged, raiseJudged } from './raise.ts'
import type { Recorded } from './record-events.ts'
import { type RightDraft, writeRight } from './rights.ts'
import type { Intake } from './statement.ts'
import type { SubscriptionDraft } from './subscriptions.ts'
import { FAILING, toldOperations } from './told-operations.ts'
import { DormantFacts, invariant, type Work } from './work.ts'

/** Places of the items that are kept and not settled, each with the reason. */
export type Kept = Map<number, string>

/** Statements that are under way. */
export interface Writing {
  readonly running: readonly Promise<unknown>[]
  /** True when some of them start further ones once they are answered, so that nothing may be sent behind them yet. */
  readonly open_ended: boolean
}

export const NOTHING_WRITTEN: Writing = { running: [], open_ended: false }

/** Starts writing the difference. All statements share round trips; whoever calls awaits each of them. */
export async function startWriting(
  work: Work,
  recorded: readonly Recorded[],
  drafts: Gathered,
  rights: readonly RightDraft[],
  intake: Intake,
  kept: Kept,
): Promise<Writing> {
  const { tx, bucket, as_of } = work
  const fact_ids = await work.ids.facts.take(tx, intake.facts.length)
  const payments = [...drafts.payments.values()].filter((draft) => draft.state !== null)
  const orders = [...drafts.orders.values()].filter((draft) => draft.state !== null)
  const updated = payments.filter((draft) => !draft.complete)
  const subscriptions = [...drafts.subscriptions.values()].filter((draft) => draft.state !== null)
  const disputes = payments.flatMap((draft) =>
    draft.state!.disputes.map((state) => ({ ...draft.key, payment_id: draft.id, state })),
  )
  const running: Promise<unknown>[] = []
  const run = (work: Promise<unknown>) => running.push(work)

  if (intake.facts.length > 0 || intake.further.length > 0) run(writeFacts(work, intake, fact_ids))
  if (updated.length > 0) {
    const writes = updated.map((draft) => ({
      ...write(draft),
      id: draft.id,
      facts_rev: draft.row?.facts_rev ?? 1n,
    }))
    run(updatePayments(tx, bucket, as_of, writes).catch(orMovedOn('a payment')))
  }
  const { refunds, gone_refunds } = intake
  if (refunds.length > 0) run(upsertRefunds(tx, bucket, as_of, refunds).catch(orMovedOn('a refund')))
  if (gone_refunds.length > 0) run(deleteRefunds(tx, bucket, gone_refunds))
  if (disputes.length > 0) run(upsertDisputes(tx, bucket, as_of, disputes))
  if (orders.length > 0) for (const written of writeOrders(work, orders)) run(written)
  if (rights.length > 0) for (const written of writeRights(work, rights)) run(written)
  const replayed = recorded.some(({ item }) => item.replaces)
  if (replayed) run(deleteStaleDisputes(tx, bucket, payments.map(disputesOf)))
  const refiled = recorded.flatMap(({ item }, place) =>
    item.refiles && !kept.has(place) ? [item.refiles] : [],
  )
  if (refiled.length > 0) run(refileEvents(tx, bucket, refiled))
  const wanted = recorded.flatMap(({ item, source }) => (source ? item.lookups : []))
  if (wanted.length > 0) run(requestLookups(tx, bucket, as_of, wanted))
  for (const { item } of recorded) {
    if (item.answers) run(finishLookup(tx, bucket, as_of, item.answers))
    if (item.operation) run(finishOperation(tx, bucket, as_of, item.operation))
  }
  const told = payments.flatMap(({ subject, statements }) => toldOperations(subject, statements.facts()))
  if (told.length > 0) run(completeOperations(tx, bucket, as_of, told, FAILING))
  const closed_ended = running.length
  if (subscriptions.length > 0) run(writeSubscriptions(work, subscriptions))
  const judged = judge(payments, subscriptions, orders)
  const raised = raisedByItems(work, recorded, intake)
  if (judged.length > 0 || raised.length > 0) run(raiseJudged(work, judged, raised))
  for (const written of writeMarks(work, recorded, kept)) run(written)
  return { running, open_ended: running.length > closed_ended }
}

async function writeSubscriptions(work: Work, subscriptions: readonly SubscriptionDraft[]): Promise<void> {
  const writes = subscriptions.map((draft) => ({
    id: draft.row!.id,
    facts_rev: draft.row!.facts_rev,
    open_exceptions: draft.state!.exceptions.length,
    state: draft.state!,
    payment_ids: draft.payment_ids,
    order_refs: draft.order_refs,
  }))
  const count = await updateSubscriptions(work.tx, work.bucket, work.as_of, writes)
  invariant(count === writes.length, 'a subscription changed under its lock')
}

function orMovedOn(what: string): (error: unknown) => never {
  return (error) => {
    invariant(!movedOn(error), `${what} changed under its lock`)
    throw error
  }
}

/** The disputes of a payment now; rows of others are left from what a replay took back. */
function disputesOf({ id, state }: PaymentDraft) {
  return { payment_id: id, disputes: state!.disputes.map(({ dispute }) => dispute) }
}

function writeFacts(work: Work, intake: Intake, ids: readonly bigint[]): Promise<void> {
  const facts = intake.facts.map((fact, place) => ({ ...fact, id: ids[place]! }))
  const witnesses = facts.flatMap(({ id, sources }) => sources.map((source) => ({ fact_id: id, source })))
  return insertFacts(work.tx, work.bucket, work.as_of, facts, [...witnesses, ...intake.further]).catch(
    orDormant(work),
  )
}

function orDormant(work: Work): (error: unknown) => never {
  return (error) => {
    if (errorCode(error) !== UNIQUE_VIOLATION) throw error
    if (!work.with_dormant) throw new DormantFacts()
    invariant(false, 'facts were stored for a subject without its lock')
    throw error
  }
}

const UNIQUE_VIOLATION = '23505'

function writeOrders(work: Work, orders: readonly OrderDraft[]): Promise<unknown>[] {
  const { tx, bucket, as_of } = work
  const effects: NewEffect[] = []
  const writes = orders.map((order) => {
    let seq = order.row.effect_seq
    for (const effect of order.effects) {
      if (effect.type === 'level' || work.topics.has(effect.topic))
        effects.push(asEffect(work, order, effect, ++seq))
    }
    return {
      id: order.row.id,
      facts_rev: order.row.facts_rev,
      ...order.key,
      effect_seq: seq,
      open_exceptions: order.state!.exceptions.length,
      has_entitlements: order.before.length > 0 || order.entitlements.length > 0,
      payment_ids: order.payment_ids,
      subscription_ids: order.subscription_ids,
      book: order.book_changed ? order.book : null,
      terms: order.book.terms,
      state: order.state!,
    }
  })
  const rights = orders.flatMap((order) =>
    order.entitlements.map((entitlement) => ({
      ...entitlement,
      order_id: order.row.id,
      revision: BigInt(entitlement.revision),
    })),
  )
  const newer = effects.filter((effect) => effect.revision > 1n)
  const withdrawn = orders.flatMap((order) =>
    order.withdrawn.map((name) => ({ subject_id: order.row.id, item: '-', ...name })),
  )
  const running: Promise<unknown>[] = [
    updateOrders(tx, bucket, as_of, writes, rights).catch(orMovedOn('an order')),
  ]
  if (newer.length > 0) running.push(supersedeEffects(tx, bucket, as_of, newer))
  if (withdrawn.length > 0) running.push(withdrawEffects(tx, bucket, as_of, withdrawn))
  if (effects.length > 0) running.push(insertEffects(tx, bucket, as_of, effects))
  return running
}

function writeRights(work: Work, rights: readonly RightDraft[]): Promise<unknown>[] {
  const { tx, bucket, as_of } = work
  const writes = rights.map((right) => writeRight(work, right))
  const effects = writes.flatMap((write) => write.effects)
  const newer = effects.filter((effect) => effect.revision > 1n)
  const rows = writes.map((write) => write.row)
  const running: Promise<unknown>[] = [updateRights(tx, bucket, as_of, rows).catch(orMovedOn('a right'))]
  if (newer.length > 0) running.push(supersedeEffects(tx, bucket, as_of, newer))
  if (effects.length > 0) running.push(insertEffects(tx, bucket, as_of, effects))
  return running
}

function asEffect(
  work: Work,
  order: OrderDraft,
  effect: OrderDraft['effects'][number],
  seq: bigint,
): NewEffect {
  const subject = {
    tenant: order.key.tenant,
    subject_kind: 'order',
    subject_id: order.row.id,
    subject_key: order.key.reference,
    seq,
    topic: effect.topic,
    item: effect.item,
    lane: effect.lane,
  }
  if (effect.type === 'one_shot') {
    const available_at = new Date(work.as_of.getTime() + effect.delay_ms)
    return {
      ...subject,
      revision: 0n,
      cause: effect.cause,
      available_at,
      payload: JSON.stringify(effect.payload),
    }
  }
  const change = order.entitlements.find((entitlement) => entitlement.item === effect.item)!
  const { order: reference, holder, item, quantity, state, revision, epoch } = asChange(work, order, change)
  const told = { order: reference, holder, item, quantity, state, revision, epoch: String(epoch) }
  return {
    ...subject,
    revision: BigInt(revision),
    cause: `revision-${revision}`,
    available_at: work.as_of,
    payload: JSON.stringify(told),
  }
}

function judge(
  payments: readonly PaymentDraft[],
  subscriptions: readonly SubscriptionDraft[],
  orders: readonly OrderDraft[],
): Judged[] {
  return [
    ...payments.map((draft) => ({
      tenant: draft.key.tenant,
      subject_kind: 'payment' as const,
      subject_id: draft.id,
      subject_key: `${draft.key.namespace}/${draft.key.account}/${draft.key.provider_payment_id}`,
      due: draft.state!.exceptions,
      open_before: draft.row?.open_exceptions ?? 0,
    })),
    ...subscriptions.map((draft) => ({
      tenant: draft.key.tenant,
      subject_kind: 'subscription' as const,
      subject_id: draft.row!.id,
      subject_key: `${draft.key.namespace}/${draft.key.account}/${draft.key.provider_subscription_id}`,
      due: draft.state!.exceptions,
      open_before: draft.row!.open_exceptions,
    })),
    ...orders.map((draft) => ({
      tenant: draft.key.tenant,
      subject_kind: 'order' as const,
      subject_id: draft.row.id,
      subject_key: draft.key.reference,
      due: draft.state!.exceptions,
      open_before: draft.row.open_exceptions,
    })),
  ].filter((subject) => subject.due.length > 0 || subject.open_before > 0)
}

function raisedByItems(work: Work, recorded: readonly Recorded[], intake: Intake): NewException[] {
  return recorded.flatMap(({ item, source, content_changed }) => {
    if (!source) return []
    // Some providers render a body anew at each send; only a content that states something new concerns a person.
    // Whoever told a new fact first in this batch told something new.
    const contradicts = content_changed && intake.facts.some((fact) => fact.sources[0] === source)
    const raises = contradicts ? [...item.raises, contentChanged(item)] : item.raises
    return raises.map((raised) => ({
      ...raised,
      tenant: item.tenant,
      subject_id: 0n,
      origin: 'receive' as const,
      alert_at: work.as_of,
    }))
  })
}

function contentChanged({ event }: SettleItem) {
  return {
    subject_kind: 'event' as const,
    subject_key: `${event!.provider}/${event!.account}/${event!.event_key}`,
    kind: 'event_content_changed' as const,
    cause: '-',
    severity: 'warning' as const,
    message: `Event ${event!.event_key} came again with other content. Both contents are kept. Compare them with \`paidonce events show ${event!.event_key}\` and ask the provider which one is right.`,
  }
}

/** Marks the items that are kept, and deletes the marks that this settle answers. */
function writeMarks(work: Work, recorded: readonly Recorded[], kept: Kept): Promise<unknown>[] {
  const { tx, bucket, as_of } = work
  const running: Promise<unknown>[] = []
  const marks = new Map<string, Mark>()
  const answered: { id: bigint; times: number }[] = []
  const refiled = new Set(recorded.map(({ item }) => item.refiles?.id))
  for (const [place, { item, source }] of recorded.entries()) {
    const last_error = kept.get(place)
    if (last_error === undefined) answered.push(...item.marks)
    else if (item.marks.length > 0) running.push(noteUnsettled(tx, bucket, item.marks, last_error))
    else {
      const common = { tenant: item.tenant, reason: 'kept', last_error, next_attempt_at: as_of }
      if (source?.kind === 'event')
        marks.set(String(source.id), { ...common, event_id: source.id, order_ref: '' })
      else
        for (const order_ref of orderReferences(item))
          marks.set(order_ref, { ...common, event_id: 0n, order_ref })
    }
  }
  if (marks.size > 0) {
    running.push(markUnsettled(tx, bucket, as_of, [...marks.values()]))
    const events = [...marks.values()].map((mark) => mark.event_id).filter((id) => id !== 0n)
    if (events.length > 0) running.push(updateEventStates(tx, bucket, events, 'kept', 'to be settled later'))
  }
  if (answered.length > 0) {
    running.push(
      deleteUnsettled(tx, bucket, answered).then((events) => {
        const settled = events.filter((event) => !refiled.has(event))
        return settled.length > 0 ? updateEventStates(tx, bucket, settled, 'settled', '') : undefined
      }),
    )
  }
  return running
}

function orderReferences(item: SettleItem): string[] {
  const subjects = [...item.touches, ...item.facts.map((fact) => fact.subject)]
  return subjects.flatMap((subject) => (subject.kind === 'order' ? [subject.reference] : []))
}
