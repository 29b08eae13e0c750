import type { Adjustment, AdjustmentAction, Paddle, Transaction } from '@paddle/paddle-node-sdk'
import type { Fact } from '../../facts/fact.ts'
import { Fault } from '../../facts/fault.ts'
import { refundTotal } from '../../facts/refund.ts'
import type { JsonRecord } from '../field.ts'
import { fieldIn, listIn, textIn } from '../field.ts'
import type { ListedItem, ListedKind, Lookup, LookupAnswer, LookupContext, Window } from '../lookup.ts'
import { unreadableReason } from '../unreadable.ts'
import { readAdjustment } from './adjustment.ts'
import type { PaddleMoney } from './amount.ts'
import { adjustmentMoney, minorIn, transactionMoney } from './amount.ts'
import type { PaddleApi, Problem } from './api.ts'
import type { PaddleEvent, PaddleSetup, Reading } from './paddle-event.ts'
import { paymentSubject, timeIn } from './paddle-event.ts'
import { refundAtPaddle } from './refund.ts'
import { readSubscription } from './subscription.ts'
import { movedAt, readTransaction } from './transaction.ts'
import { toWire } from './wire.ts'

/** What can be asked of Paddle. It has no search by our reference, and no charge that would name its payment. */
export function newPaddleLookup(setup: PaddleSetup, api: PaddleApi): Lookup {
  return {
    fetch: ({ object, id }, _expected, context) => fetchObject(setup, api, object, id, context),
    list: (kind, window, context) =>
      kind === 'payments'
        ? listPayments(setup, api, window, context)
        : listAdjustments(setup, api, kind, window, context),
    refund: (request, context) => refundAtPaddle(setup, api, request, context),
  }
}

/** Ids go into the address as they are, so nothing but an id may. */
const IDS: Readonly<Record<string, RegExp>> = {
  transaction: /^txn_[a-z0-9]{1,64}$/,
  payment: /^txn_[a-z0-9]{1,64}$/,
  adjustment: /^adj_[a-z0-9]{1,64}$/,
  subscription: /^sub_[a-z0-9]{1,64}$/,
}

async function fetchObject(
  setup: PaddleSetup,
  api: PaddleApi,
  object: string,
  id: string,
  context: LookupContext,
): Promise<LookupAnswer> {
  if (!Object.hasOwn(IDS, object))
    return { outcome: 'unreadable', reason: `Paddle has no ${object} that can be looked up` }
  if (!IDS[object]!.test(id)) return { outcome: 'not_found' }
  const answer = await api.call(context.limit_ms, (sdk) => readObject(sdk, object, id))
  if (!answer.ok) return unanswered(answer.problem)
  if (answer.value === undefined) return { outcome: 'not_found' }
  if (textIn(answer.value, 'id') !== id)
    return { outcome: 'unreadable', reason: `the answer is about another ${object}` }
  try {
    return { outcome: 'found', facts: factsOf(setup, object, toWire(answer.value), context.now_ms) }
  } catch (error) {
    return { outcome: 'unreadable', reason: unreadableReason(error) }
  }
}

async function readObject(sdk: Paddle, object: string, id: string): Promise<object | undefined> {
  if (object === 'transaction' || object === 'payment') return getTransaction(sdk, id)
  if (object === 'subscription') return sdk.subscriptions.get(id)
  // There is no address of a single adjustment.
  return (await sdk.adjustments.list({ id: [id] }).next())[0]
}

/** With everything that was given back, so that one answer tells the whole payment. */
function getTransaction(sdk: Paddle, id: string): Promise<Transaction> {
  return sdk.transactions.get(id, { include: ['adjustment', 'adjustments_totals'] })
}

function unanswered(problem: Problem): LookupAnswer {
  const { kind, reason, retry_after_ms } = problem
  if (kind === 'not_found') return { outcome: 'not_found' }
  if (kind === 'unavailable') return { outcome: 'unavailable', reason, retry_after_ms }
  return { outcome: 'refused', reason }
}

/** @throws Unreadable when the object has a shape that we do not know */
function factsOf(setup: PaddleSetup, object: string, data: JsonRecord, now_ms: number): readonly Fact[] {
  const event = eventOf(setup, data, now_ms)
  if (object === 'subscription') return stated(readSubscription(event))
  if (object === 'adjustment') return stated(readAdjustment(event))
  return [...stated(readTransaction(event)), ...goneBack(setup, data, now_ms)]
}

function goneBack(setup: PaddleSetup, transaction: JsonRecord, now_ms: number): readonly Fact[] {
  const adjustments = listIn(transaction, 'adjustments').flatMap((entry) =>
    stated(readAdjustment(eventOf(setup, entry as JsonRecord, now_ms))),
  )
  return [...adjustments, ...totalRefunded(setup, transaction)]
}

/** The running total has no net form. */
function totalRefunded(setup: PaddleSetup, transaction: JsonRecord): readonly Fact[] {
  const totals = fieldIn(transaction, 'adjustments_totals')
  const [payment, currency] = [textIn(transaction, 'id'), textIn(totals, 'currency_code')]
  if (setup.amounts === 'net' || payment === undefined || currency === undefined) return []
  if (textIn(totals, 'breakdown', 'refund') === undefined) return []
  const total_minor = minorIn(fieldIn(totals, 'breakdown'), 'refund', 'adjustments_totals.breakdown')
  return total_minor === 0n ? [] : [refundTotal(paymentSubject(setup, payment), { total_minor, currency })]
}

function eventOf(setup: PaddleSetup, data: JsonRecord, now_ms: number): PaddleEvent {
  return { id: undefined, type: '', told_at: new Date(now_ms).toISOString(), data, setup }
}

function stated(reading: Reading): readonly Fact[] {
  return 'facts' in reading ? reading.facts : []
}

/** Larger pages are refused. */
const TRANSACTIONS_PER_PAGE = 30
const ADJUSTMENTS_PER_PAGE = 50

/**
 * Payments whose money moved in the window. Money that moved then was changed then or later, so the list is asked for
 * by `updated_at` without an end and cut by when the money moved: what was changed since is not missed.
 */
async function* listPayments(
  setup: PaddleSetup,
  api: PaddleApi,
  window: Window,
  context: LookupContext,
): AsyncIterable<readonly ListedItem[]> {
  const pages = pagesOf<Transaction>(api, context, (sdk) =>
    sdk.transactions.list({
      status: ['paid', 'completed'],
      'updatedAt[GTE]': new Date(window.from_ms).toISOString(),
      orderBy: 'id[ASC]',
      perPage: TRANSACTIONS_PER_PAGE,
    }),
  )
  for await (const page of pages) {
    const items = page.map((entity) => {
      const data = toWire(entity)
      const id = textIn(data, 'id') ?? ''
      const money = () => transactionMoney(data, setup.amounts)
      const facts = () => stated(readTransaction(eventOf(setup, data, context.now_ms)))
      return itemOf({ kind: 'payments', id, payment: id, at: movedAt(data), data, money, facts })
    })
    yield items.filter(inside(window))
  }
}

const ACTIONS: Readonly<Record<'refunds' | 'disputes', readonly AdjustmentAction[]>> = {
  refunds: ['refund'],
  disputes: ['chargeback', 'chargeback_reverse', 'chargeback_warning', 'chargeback_warning_reverse'],
}

/** Adjustments by when they were created: Paddle cannot list them by time, so they are read newest first. */
async function* listAdjustments(
  setup: PaddleSetup,
  api: PaddleApi,
  kind: 'refunds' | 'disputes',
  window: Window,
  context: LookupContext,
): AsyncIterable<readonly ListedItem[]> {
  for (const action of ACTIONS[kind]) {
    const pages = pagesOf<Adjustment>(api, context, (sdk) =>
      sdk.adjustments.list({ action, orderBy: 'id[DESC]', perPage: ADJUSTMENTS_PER_PAGE }),
    )
    for await (const page of pages) {
      const items = page.map((entity) => adjustmentItem(setup, kind, toWire(entity), context))
      yield items.filter(inside(window))
      // A whole page from before the window: ids are made in the order of time.
      const over = items.every(({ at }) => at !== null && Date.parse(at) < window.from_ms)
      if (items.length > 0 && over) break
    }
  }
}

function adjustmentItem(
  setup: PaddleSetup,
  kind: ListedKind,
  data: JsonRecord,
  context: LookupContext,
): ListedItem {
  return itemOf({
    kind,
    id: textIn(data, 'id') ?? '',
    payment: textIn(data, 'transaction_id') ?? null,
    at: timeIn(data, 'created_at'),
    data,
    money: () => adjustmentMoney(data, setup.amounts),
    facts: () => stated(readAdjustment(eventOf(setup, data, context.now_ms))),
  })
}

/** One object that cannot be read does not end the list: it stands there without what could not be read. */
function itemOf(found: {
  readonly kind: ListedKind
  readonly id: string
  readonly payment: string | null
  readonly at: string | undefined
  readonly data: JsonRecord
  readonly money: () => PaddleMoney
  readonly facts: () => readonly Fact[]
}): ListedItem {
  const money = readable(found.money)
  return {
    kind: found.kind,
    id: found.id,
    payment: found.payment,
    amount_minor: money?.amount_minor ?? null,
    currency: money?.currency ?? null,
    status: textIn(found.data, 'status') ?? '',
    at: found.at ?? null,
    facts: readable(found.facts) ?? [],
  }
}

function readable<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

/** An object without a time cannot be shown to lie outside. */
function inside(window: Window): (item: ListedItem) => boolean {
  return ({ at }) => at === null || (Date.parse(at) >= window.from_ms && Date.parse(at) < window.to_ms)
}

interface Collection<T> {
  readonly hasMore: boolean
  next(): Promise<T[]>
}

async function* pagesOf<T>(
  api: PaddleApi,
  context: LookupContext,
  list: (sdk: Paddle) => Collection<T>,
): AsyncIterable<readonly T[]> {
  let collection: Collection<T> | undefined
  do {
    const page = await api.call(context.limit_ms, (sdk) => {
      collection ??= list(sdk)
      return collection.next()
    })
    if (!page.ok) {
      throw new Fault('provider_unavailable', `paddle: the list broke off. ${page.problem.reason}`, {
        retriable: page.problem.kind === 'unavailable',
      })
    }
    yield page.value
  } while (collection?.hasMore === true)
}
