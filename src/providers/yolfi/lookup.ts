import { Fault } from '../../facts/fault.ts'
import { callApi } from '../api-call.ts'
import type { JsonRecord } from '../field.ts'
import { booleanIn, fieldIn, recordIn, textIn, utcTime } from '../field.ts'
import { parseJsonBody } from '../json-body.ts'
import type { ListedItem, Lookup, LookupAnswer, LookupContext, Window } from '../lookup.ts'
import { Unreadable, unreadableReason } from '../unreadable.ts'
import { paymentFacts, paymentId } from './payment.ts'
import type { YolfiSetup } from './yolfi-event.ts'
import { askedFor } from './yolfi-event.ts'

export interface Access {
  readonly baseUrl: string
  /** Not sent with the look-up of one payment, which needs none. */
  readonly apiKey: string | undefined
}

const PAGE_SIZE = 100

/** What can be asked of Yolfi: one payment, and with a key the list of them. It refunds nothing and charges nobody. */
export function newYolfiLookup(setup: YolfiSetup, access: Access): Lookup {
  const fetch: Lookup['fetch'] = ({ object, id }, _expected, context) =>
    object === 'payment'
      ? fetchPayment(setup, access, id, context)
      : Promise.resolve({ outcome: 'refused', reason: `Yolfi has no look-up of "${object}"` })
  const { apiKey, baseUrl } = access
  if (apiKey === undefined) return { fetch }
  return {
    fetch,
    list: (kind, window, context) =>
      kind === 'payments' ? listPayments(setup, { apiKey, baseUrl }, window, context) : nothing(),
  }
}

/** Yolfi knows neither refunds nor disputes. */
async function* nothing(): AsyncIterable<readonly ListedItem[]> {}

/** The answer's form is unconfirmed: the payment by itself or in `data`. */
async function fetchPayment(
  setup: YolfiSetup,
  { baseUrl }: Access,
  id: string,
  context: LookupContext,
): Promise<LookupAnswer> {
  const url = `${baseUrl}/public/payments/${encodeURIComponent(id)}`
  const called = await callApi(context, url, { headers: { accept: 'application/json' } })
  if (called.outcome !== 'answered') return called
  const { status, body } = called.answer
  if (status === 404) return { outcome: 'not_found' }
  if (status !== 200) return { outcome: 'refused', reason: `Yolfi answered with HTTP ${status}` }
  try {
    const answer = parseJsonBody(body)
    const payment = recordIn(answer, 'data') ?? recordIn({ answer }, 'answer')
    if (payment === undefined) throw new Unreadable('the answer is no object')
    if (paymentId(payment) !== id) throw new Unreadable('the answer is about another payment')
    return { outcome: 'found', facts: paymentFacts(setup, payment) }
  } catch (error) {
    return { outcome: 'unreadable', reason: unreadableReason(error) }
  }
}

/** Pages of the export by cursor. Its bounds are unconfirmed, so it is asked from a little earlier and sorted out here. */
async function* listPayments(
  setup: YolfiSetup,
  access: { readonly apiKey: string; readonly baseUrl: string },
  { from_ms, to_ms }: Window,
  context: LookupContext,
): AsyncIterable<readonly ListedItem[]> {
  const seen = new Set<string>()
  let cursor: string | undefined
  for (;;) {
    const page = await readPage(access, from_ms - 1_000, cursor, context)
    const data = fieldIn(page, 'data')
    // Taken for an empty page, it would say that nothing is there.
    if (!Array.isArray(data)) throw unlisted('a page has no data')
    const rows = data.map((row) => listedItem(setup, row))
    yield rows.filter(({ at }) => at === null || (Date.parse(at) >= from_ms && Date.parse(at) < to_ms))
    if (booleanIn(page, 'hasMore') === false) return
    cursor = textIn(page, 'nextCursor')
    if (cursor === undefined || seen.has(cursor)) throw unlisted('it has more, and no new cursor to go on')
    seen.add(cursor)
  }
}

async function readPage(
  { apiKey, baseUrl }: { readonly apiKey: string; readonly baseUrl: string },
  after_ms: number,
  cursor: string | undefined,
  context: LookupContext,
): Promise<unknown> {
  const query = new URLSearchParams({
    limit: `${PAGE_SIZE}`,
    createdAfter: new Date(after_ms).toISOString(),
    ...(cursor === undefined ? {} : { cursor }),
  })
  const headers = { accept: 'application/json', authorization: `Bearer ${apiKey}` }
  const called = await callApi(context, `${baseUrl}/private/transactions/export?${query}`, { headers })
  if (called.outcome !== 'answered') throw unlisted(called.reason)
  if (called.answer.status !== 200) throw unlisted(`HTTP ${called.answer.status}`)
  try {
    return parseJsonBody(called.answer.body)
  } catch (error) {
    throw unlisted(unreadableReason(error))
  }
}

function listedItem(setup: YolfiSetup, row: unknown): ListedItem {
  const payment = recordIn({ row }, 'row') ?? {}
  const id = textIn(payment, 'invoiceId') ?? textIn(payment, 'id')
  if (id === undefined) throw unlisted('a row has no id')
  const { money, facts } = readRow(setup, payment)
  return {
    kind: 'payments',
    id,
    payment: id,
    amount_minor: money?.amount_minor ?? null,
    currency: money?.currency ?? null,
    status: textIn(payment, 'status') ?? '',
    at: utcTime(textIn(payment, 'createdAt')),
    facts,
  }
}

/** A row that states nothing readable is still listed. */
function readRow(setup: YolfiSetup, payment: JsonRecord) {
  try {
    return { money: askedFor(setup, payment), facts: paymentFacts(setup, payment) }
  } catch {
    return { money: null, facts: [] }
  }
}

function unlisted(reason: string): Fault {
  return new Fault(
    'provider_unavailable',
    `yolfi: the list of payments could not be read (${reason}). It is read again later.`,
    { retriable: true },
  )
}
