import type { Fact } from '../../facts/fact.ts'
import type { LookupRequest } from '../../facts/lookup.ts'
import type { JsonRecord } from '../field.ts'
import { booleanIn, fieldIn, listIn, textIn } from '../field.ts'
import type { Expected, LookupAnswer, LookupContext } from '../lookup.ts'
import type { ApiSetup, ClientSource, RequestOptions, StripeClient } from './client.ts'
import { request } from './client.ts'
import { failureOf, lookupFailure } from './failure.ts'
import { behindSession, intentFacts, recordOf, sessionFacts } from './object-facts.ts'
import { orderReference } from './order-reference.ts'

const PAGE = 100
const MOST_PAGES = 20
const DAY_MS = 86_400_000
/** A session lives for a day, so one that belongs to an order was made within days of it. */
const DAYS = 7

interface Asking {
  readonly setup: ApiSetup
  readonly source: ClientSource
  readonly reference: string
  readonly context: LookupContext
}

/**
 * What belongs to an order reference: payments whose metadata holds it, by Stripe's search. Search lags and is not
 * offered everywhere, and a session's own reference is not in its payment; so where search finds nothing, the sessions
 * of the days round the order's start are looked through.
 */
export async function findAtStripe(
  setup: ApiSetup,
  source: ClientSource,
  reference: string,
  expected: Expected | null,
  context: LookupContext,
): Promise<LookupAnswer> {
  const asking = { setup, source, reference, context }
  try {
    const payments = await searchPayments(asking)
    if (payments.length > 0)
      return { outcome: 'found', facts: payments.flatMap((one) => intentFacts(setup, one)) }
    return await throughSessions(asking, expected)
  } catch (error) {
    return lookupFailure(error)
  }
}

async function searchPayments({ setup, source, reference, context }: Asking): Promise<readonly JsonRecord[]> {
  const key = quoted(setup.orderReference.metadataKey ?? 'order_id')
  const query = `metadata[${key}]:${quoted(reference)}`
  const search = (client: StripeClient, options: RequestOptions) =>
    client.paymentIntents.search({ query, limit: PAGE, expand: ['data.latest_charge'] }, options)
  try {
    const answer = recordOf(await request(source, context.limit_ms, search))
    // The quoting cannot be undone by what it quotes, but an answer is only believed for what it says.
    return listIn(answer, 'data')
      .map(recordOf)
      .filter((intent) => names(setup, intent, reference))
  } catch (error) {
    // Not offered to this account.
    if (failureOf(error).status === 400) return []
    throw error
  }
}

function quoted(text: string): string {
  return `'${text.replace(/['\\]/g, '\\$&')}'`
}

async function throughSessions(asking: Asking, expected: Expected | null): Promise<LookupAnswer> {
  const { setup, reference, context } = asking
  const start_ms = expected?.started_at_ms ?? context.now_ms - DAYS * DAY_MS
  const created = {
    gte: Math.floor((start_ms - DAY_MS) / 1000),
    lte: Math.ceil(Math.min(context.now_ms + DAY_MS, start_ms + DAYS * DAY_MS) / 1000),
  }
  const facts: Fact[] = []
  const lookups: LookupRequest[] = []
  let matches = 0
  let starting_after: string | undefined
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const answer = await pageOfSessions(asking, {
      created,
      limit: PAGE,
      ...(starting_after ? { starting_after } : {}),
    })
    const sessions = listIn(answer, 'data').map(recordOf)
    for (const session of sessions.filter((one) => names(setup, one, reference))) {
      matches += 1
      facts.push(...sessionFacts(setup, session))
      lookups.push(...behindSession(session))
    }
    starting_after = textIn(sessions.at(-1), 'id')
    if (booleanIn(answer, 'has_more') !== true || starting_after === undefined) {
      return matches === 0 ? { outcome: 'not_found' } : { outcome: 'found', facts, lookups }
    }
  }
  return {
    outcome: 'refused',
    reason: `more than ${MOST_PAGES * PAGE} sessions to look through: set payment_intent_data.metadata, so that search can find the order`,
  }
}

async function pageOfSessions(
  { source, context }: Asking,
  params: Readonly<Record<string, unknown>>,
): Promise<JsonRecord> {
  const page = await request(source, context.limit_ms, (client, options) =>
    client.checkout.sessions.list(params, options),
  )
  return recordOf(page)
}

function names(setup: ApiSetup, object: JsonRecord, reference: string): boolean {
  const option = setup.orderReference
  return orderReference(option, [object], fieldIn(object, 'client_reference_id')).order === reference
}
