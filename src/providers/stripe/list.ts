import type { Fact } from '../../facts/fact.ts'
import { Fault } from '../../facts/fault.ts'
import type { JsonRecord } from '../field.ts'
import { booleanIn, fieldIn, idIn, listIn, textIn, unixTimeIn } from '../field.ts'
import type { ListedItem, ListedKind, LookupContext, Window } from '../lookup.ts'
import { moneyIn } from './amount.ts'
import type { ApiSetup, ClientSource, RequestOptions, StripeClient } from './client.ts'
import { request } from './client.ts'
import { failureOf } from './failure.ts'
import { chargeFacts, disputeFacts, recordOf, refundFacts } from './object-facts.ts'
import { orderReference } from './order-reference.ts'

const PAGE = 100

interface Listing {
  readonly send: (
    client: StripeClient,
    params: Readonly<Record<string, unknown>>,
    options: RequestOptions,
  ) => Promise<unknown>
  readonly expand: readonly string[]
  readonly item: (setup: ApiSetup, object: JsonRecord) => ListedItem | null
}

const LISTINGS: Readonly<Record<ListedKind, Listing>> = {
  // Charges, not intents: an intent stays in the window of its creation, however much later it is paid.
  payments: {
    send: (client, params, options) => client.charges.list(params, options),
    expand: [],
    item: paymentItem,
  },
  refunds: {
    send: (client, params, options) => client.refunds.list(params, options),
    expand: ['data.charge'],
    item: (setup, object) => itemOf('refunds', setup, object, refundFacts),
  },
  disputes: {
    send: (client, params, options) => client.disputes.list(params, options),
    expand: [],
    item: (setup, object) => itemOf('disputes', setup, object, disputeFacts),
  },
}

/**
 * Everything of one kind that Stripe created in the window. A payment is listed by its charge, under the time at which
 * its money moved; attempts that failed are left out, since a later one may have paid.
 * @throws Fault `provider_unavailable` when a page could not be had
 */
export async function* listAtStripe(
  setup: ApiSetup,
  source: ClientSource,
  kind: ListedKind,
  window: Window,
  context: LookupContext,
): AsyncIterable<readonly ListedItem[]> {
  const { send, expand, item } = LISTINGS[kind]
  const created = { gte: Math.ceil(window.from_ms / 1000), lt: Math.ceil(window.to_ms / 1000) }
  let starting_after: string | undefined
  do {
    const params = { created, limit: PAGE, expand, ...(starting_after ? { starting_after } : {}) }
    const page = await pageOf(source, context, (client, options) => send(client, params, options))
    const objects = listIn(page, 'data').map(recordOf)
    yield objects.flatMap((object) => item(setup, object) ?? [])
    starting_after = nextAfter(page, objects, starting_after)
  } while (starting_after !== undefined)
}

/** Undefined at the end, which only `has_more` tells: a page that leads nowhere is no end. */
function nextAfter(
  page: JsonRecord,
  objects: readonly JsonRecord[],
  before: string | undefined,
): string | undefined {
  const more = booleanIn(page, 'has_more')
  if (more === false) return undefined
  const last = textIn(objects.at(-1), 'id')
  if (more === true && last !== undefined && last !== before) return last
  throw new Fault('provider_unavailable', "A list of Stripe's broke off: a page does not lead to the next.", {
    retriable: true,
  })
}

async function pageOf(
  source: ClientSource,
  { limit_ms }: LookupContext,
  send: (client: StripeClient, options: RequestOptions) => Promise<unknown>,
): Promise<JsonRecord> {
  try {
    const page = recordOf(await request(source, limit_ms, send))
    if (Array.isArray(fieldIn(page, 'data'))) return page
    throw new Error('the answer is no list')
  } catch (cause) {
    throw new Fault('provider_unavailable', `A list of Stripe's broke off: ${failureOf(cause).reason}.`, {
      retriable: true,
      cause,
    })
  }
}

function paymentItem(setup: ApiSetup, charge: JsonRecord): ListedItem | null {
  if (textIn(charge, 'status') === 'failed') return null
  if (orderReference(setup.orderReference, [charge]).foreign) return null
  const item = itemOf('payments', setup, charge, chargeFacts)
  const payment = item.payment ?? item.id
  if (booleanIn(charge, 'captured') === false)
    return { ...item, id: payment, payment, status: 'requires_capture' }
  return { ...item, id: payment, payment, ...moneyOf(charge, 'amount_captured') }
}

function itemOf(
  kind: ListedKind,
  setup: ApiSetup,
  object: JsonRecord,
  read: (setup: ApiSetup, object: JsonRecord) => readonly Fact[],
): ListedItem {
  return {
    kind,
    id: idIn(object, 'id') ?? '',
    payment: idIn(object, 'payment_intent') ?? idIn(object, 'charge') ?? null,
    ...moneyOf(object, 'amount'),
    status: textIn(object, 'status') ?? '',
    at: unixTimeIn(object, 'created') ?? null,
    facts: readable(() => read(setup, object)) ?? [],
  }
}

function moneyOf(object: JsonRecord, field: string): Pick<ListedItem, 'amount_minor' | 'currency'> {
  const money = readable(() => moneyIn(object, field))
  return { amount_minor: money?.amount_minor ?? null, currency: money?.currency ?? null }
}

/** An item that cannot be read is listed all the same: that it exists is what a comparison needs. */
function readable<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
