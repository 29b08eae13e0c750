import { Fault } from '../../facts/fault.ts'
import type { LookupRequest } from '../../facts/lookup.ts'
import { parseMinor } from '../../money/amount.ts'
import type { JsonRecord } from '../field.ts'
import { fieldIn, recordIn, textIn, utcTime } from '../field.ts'
import type { ListedItem, ListedKind, Lookup, LookupAnswer, LookupContext, Window } from '../lookup.ts'
import { Unreadable, unreadableReason } from '../unreadable.ts'
import type { Access, Client } from './client.ts'
import { request, unanswered } from './client.ts'
import { disputeFact } from './dispute.ts'
import type { DodoSetup, Reading } from './dodo-event.ts'
import { requiredId } from './dodo-event.ts'
import { newDodoCharge, newDodoRefund } from './operations.ts'
import { paymentFacts } from './payment.ts'
import { refundFact } from './refund.ts'
import { subscriptionFact } from './subscription.ts'

const PAGE_SIZE = 100

/** What can be asked of Dodo's API. Metadata cannot be searched, so nothing is found by our reference. */
export function newDodoLookup(setup: DodoSetup, access: Access): Lookup {
  return {
    fetch: (wanted, _expected, context) => fetchObject(setup, access, wanted, context),
    list: (kind, window, context) => listWindow(setup, access, kind, window, context),
    refund: newDodoRefund(setup, access),
    charge: newDodoCharge(setup, access),
  }
}

async function fetchObject(
  setup: DodoSetup,
  access: Access,
  wanted: LookupRequest,
  context: LookupContext,
): Promise<LookupAnswer> {
  const retrieve = Object.hasOwn(RETRIEVERS, wanted.object) ? RETRIEVERS[wanted.object] : undefined
  if (retrieve === undefined) {
    return { outcome: 'refused', reason: `Dodo Payments has no look-up of "${wanted.object}"` }
  }
  const answer = await request(access, context, (client) => retrieve(client, wanted.id))
  if ('failed' in answer) return unanswered(answer.failed)
  try {
    const object = recordIn(answer, 'ok')
    if (object === undefined) throw new Unreadable('the answer is no object')
    return wanted.object === 'checkout' ? readCheckout(object) : answerOf(readObject(setup, wanted, object))
  } catch (error) {
    return { outcome: 'unreadable', reason: unreadableReason(error) }
  }
}

const RETRIEVERS: Readonly<Record<string, (client: Client, id: string) => PromiseLike<unknown>>> = {
  payment: ({ api, each }, id) => api.payments.retrieve(id, each),
  refund: ({ api, each }, id) => api.refunds.retrieve(id, each),
  dispute: ({ api, each }, id) => api.disputes.retrieve(id, each),
  subscription: ({ api, each }, id) => api.subscriptions.retrieve(id, each),
  checkout: ({ api, each }, id) => api.checkoutSessions.retrieve(id, each),
}

function readObject(setup: DodoSetup, wanted: LookupRequest, object: JsonRecord): Reading {
  if (textIn(object, `${wanted.object}_id`) !== wanted.id)
    throw new Unreadable(`the answer is about another ${wanted.object}`)
  switch (wanted.object) {
    case 'payment':
      return paymentFacts(setup, object)
    case 'refund': {
      const fact = refundFact(setup, object)
      // Without an amount its payment is asked, which lists it; a payment that tells none either is not asked again.
      const lookups =
        fact.content.amount_minor === undefined
          ? [{ object: 'payment', id: requiredId(object, 'payment_id') }]
          : []
      return { facts: [fact], lookups }
    }
    case 'dispute':
      return { facts: [disputeFact(setup, object, createdAt(object))] }
    default:
      return { facts: [subscriptionNow(setup, object)] }
  }
}

/** A session names its payment once there is one. */
function readCheckout(session: JsonRecord): LookupAnswer {
  const id = textIn(session, 'payment_id')
  if (id === undefined) return { outcome: 'not_found' }
  return { outcome: 'found', facts: [], lookups: [{ object: 'payment', id }] }
}

/**
 * Of a subscription's state no time is told but when it was last billed; that stands behind every later event, so a
 * look-up never takes one of them back.
 */
function subscriptionNow(setup: DodoSetup, object: JsonRecord) {
  const billed = utcTime(textIn(object, 'previous_billing_date')) ?? createdAt(object)
  const ended = utcTime(textIn(object, 'cancelled_at'))
  return subscriptionFact(setup, object, textIn(object, 'status') ?? '', ended ?? billed)
}

function createdAt(object: JsonRecord): string {
  const at = utcTime(textIn(object, 'created_at'))
  if (at === null) throw new Unreadable('created_at is missing or no time')
  return at
}

function answerOf(reading: Reading): LookupAnswer {
  if ('facts' in reading) return { outcome: 'found', ...reading }
  return { outcome: 'found', facts: [] }
}

const ROWS: Readonly<Record<ListedKind, (client: Client, query: Query) => PromiseLike<unknown>>> = {
  payments: ({ api, each }, query) => api.payments.list(query, each),
  refunds: ({ api, each }, query) => api.refunds.list(query, each),
  disputes: ({ api, each }, query) => api.disputes.list(query, each),
}

interface Query {
  readonly created_at_gte: string
  readonly created_at_lte: string
  readonly page_size: number
  readonly page_number: number
}

/**
 * The window is by creation. Pages are counted from 0 here: the SDK's own paging would ask for 0, then 2. An answer
 * says nothing of a next page, so pages are read until one is empty.
 */
async function* listWindow(
  setup: DodoSetup,
  access: Access,
  kind: ListedKind,
  window: Window,
  context: LookupContext,
): AsyncIterable<readonly ListedItem[]> {
  let before: string | undefined
  for (let page_number = 0; ; page_number += 1) {
    const query = {
      created_at_gte: new Date(window.from_ms).toISOString(),
      created_at_lte: new Date(window.to_ms).toISOString(),
      page_size: PAGE_SIZE,
      page_number,
    }
    // As it came: the SDK makes an empty list of an answer that has none.
    const answer = await request(access, context, async (client) =>
      fieldIn(await ROWS[kind](client, query), 'body', 'items'),
    )
    if ('failed' in answer) throw unlisted(kind, answer.failed.reason)
    // Taken for an empty page, it would say that nothing is there.
    if (!Array.isArray(answer.ok)) throw unlisted(kind, 'a page has no items')
    if (answer.ok.length === 0) return
    const first = textIn(answer.ok[0], SHAPES[kind].id)
    if (first !== undefined && first === before) throw unlisted(kind, 'a page came again')
    before = first
    yield answer.ok.map((row) => listedItem(setup, kind, row)).filter((item) => isIn(window, item.at))
  }
}

function isIn({ from_ms, to_ms }: Window, at: string | null): boolean {
  return at === null || (Date.parse(at) >= from_ms && Date.parse(at) < to_ms)
}

function listedItem(setup: DodoSetup, kind: ListedKind, row: unknown): ListedItem {
  const shape = SHAPES[kind]
  const id = textIn(row, shape.id)
  if (id === undefined) throw unlisted(kind, `a row has no ${shape.id}`)
  const amount = parseMinor(fieldIn(row, shape.amount))
  return {
    kind,
    id,
    payment: textIn(row, 'payment_id') ?? null,
    amount_minor: amount.ok && shape.exact ? amount.amount_minor : null,
    currency: textIn(row, 'currency') ?? null,
    status: textIn(row, shape.status) ?? '',
    at: utcTime(textIn(row, 'created_at')),
    facts: rowFacts(setup, kind, row),
  }
}

const SHAPES = {
  payments: { id: 'payment_id', amount: 'total_amount', status: 'status', exact: true },
  refunds: { id: 'refund_id', amount: 'amount', status: 'status', exact: true },
  // The unit of a dispute's amount is unconfirmed.
  disputes: { id: 'dispute_id', amount: 'amount', status: 'dispute_status', exact: false },
} as const

/** A row that states nothing readable is still listed, and looked up by whoever compares. */
function rowFacts(setup: DodoSetup, kind: ListedKind, row: unknown): ListedItem['facts'] {
  try {
    const object = recordIn({ row }, 'row') ?? {}
    if (kind === 'refunds') return [refundFact(setup, object)]
    if (kind === 'disputes') return [disputeFact(setup, object, createdAt(object))]
    const reading = paymentFacts(setup, object)
    return 'facts' in reading ? reading.facts : []
  } catch {
    return []
  }
}

function unlisted(kind: ListedKind, reason: string): Fault {
  return new Fault(
    'provider_unavailable',
    `dodo-payments: the list of ${kind} could not be read (${reason}). It is read again later.`,
    { retriable: true },
  )
}
