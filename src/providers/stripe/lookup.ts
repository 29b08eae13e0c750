import type { LookupRequest } from '../../facts/lookup.ts'
import type { JsonRecord } from '../field.ts'
import { booleanIn, idIn, listIn, recordIn } from '../field.ts'
import type { Lookup, LookupAnswer, LookupContext } from '../lookup.ts'
import type { ApiSetup, ClientSource, RequestOptions, StripeClient } from './client.ts'
import { newClientSource, request } from './client.ts'
import { lookupFailure } from './failure.ts'
import { findAtStripe } from './find.ts'
import { listAtStripe } from './list.ts'
import {
  behindSession,
  chargeFacts,
  disputeFacts,
  intentFacts,
  invoiceFacts,
  recordOf,
  refundFacts,
  sessionFacts,
  subscriptionFacts,
} from './object-facts.ts'
import { chargeAtStripe, refundAtStripe } from './operation.ts'

/** What can be asked of Stripe, through its official SDK. */
export function newStripeLookup(setup: ApiSetup): Lookup {
  const source = newClientSource(setup)
  return {
    fetch: (request, _expected, context) => fetchAtStripe(setup, source, request, context),
    find: (reference, expected, context) => findAtStripe(setup, source, reference, expected, context),
    list: (kind, window, context) => listAtStripe(setup, source, kind, window, context),
    listed_by: { payments: 'moved', refunds: 'moved', disputes: 'created' },
    refund: (request, context) => refundAtStripe(setup, source, request, context),
    charge: (request, context) => chargeAtStripe(setup, source, request, context),
  }
}

type Read = (reading: ReadingOf) => Promise<LookupAnswer>

interface ReadingOf {
  readonly setup: ApiSetup
  readonly id: string
  readonly client: StripeClient
  readonly options: RequestOptions
  readonly now_ms: number
}

/** Readers by the kind of object, in Stripe's own words. */
const READERS: Readonly<Record<string, Read>> = {
  payment_intent: readIntent,
  charge: async ({ setup, client, id, options }) => {
    const charge = recordOf(await client.charges.retrieve(id, { expand: ['refunds'] }, options))
    return found(chargeFacts(setup, charge), asked('payment_intent', idIn(charge, 'payment_intent')))
  },
  refund: async ({ setup, client, id, options }) =>
    found(refundFacts(setup, recordOf(await client.refunds.retrieve(id, { expand: ['charge'] }, options)))),
  dispute: async ({ setup, client, id, options }) =>
    found(disputeFacts(setup, recordOf(await client.disputes.retrieve(id, {}, options)))),
  invoice: async ({ setup, client, id, options }) => {
    const invoice = recordOf(await client.invoices.retrieve(id, { expand: ['payments'] }, options))
    return found(
      invoiceFacts(setup, invoice),
      ...paymentsOf(invoice).map((one) => asked('payment_intent', one)),
    )
  },
  subscription: async ({ setup, client, id, options, now_ms }) =>
    found(subscriptionFacts(setup, recordOf(await client.subscriptions.retrieve(id, {}, options)), now_ms)),
  'checkout.session': async ({ setup, client, id, options }) => {
    const session = recordOf(await client.checkout.sessions.retrieve(id, {}, options))
    return found(sessionFacts(setup, session), ...behindSession(session))
  },
}

/** Objects that can stand for a payment, by the beginning of their ids. */
const PAYMENT_IDS: readonly (readonly [RegExp, string])[] = [
  [/^pi_/, 'payment_intent'],
  [/^(?:ch|py)_/, 'charge'],
  [/^in_/, 'invoice'],
  [/^cs_/, 'checkout.session'],
]

async function fetchAtStripe(
  setup: ApiSetup,
  source: ClientSource,
  { object, id }: LookupRequest,
  { now_ms, limit_ms }: LookupContext,
): Promise<LookupAnswer> {
  const kind = object === 'payment' ? PAYMENT_IDS.find(([pattern]) => pattern.test(id))?.[1] : object
  const read = kind !== undefined && Object.hasOwn(READERS, kind) ? READERS[kind] : undefined
  if (read === undefined) {
    return { outcome: 'unreadable', reason: `Stripe has no ${object} with such an id that can be looked up` }
  }
  try {
    return await request(source, limit_ms, (client, options) => read({ setup, id, client, options, now_ms }))
  } catch (error) {
    return lookupFailure(error)
  }
}

/** The payment with all that became of it: its charge, what was given back of it, and its disputes. */
async function readIntent({ setup, id, client, options }: ReadingOf): Promise<LookupAnswer> {
  const expand = ['latest_charge', 'latest_charge.refunds']
  const intent = recordOf(await client.paymentIntents.retrieve(id, { expand }, options))
  const facts = intentFacts(setup, intent)
  if (booleanIn(intent, 'latest_charge', 'disputed') !== true) return found(facts)
  const disputes = recordOf(await client.disputes.list({ payment_intent: id, limit: 100 }, options))
  const told = listIn(disputes, 'data').flatMap((dispute) => disputeFacts(setup, recordOf(dispute)))
  return found([...facts, ...told])
}

function paymentsOf(invoice: JsonRecord): readonly string[] {
  const direct = idIn(invoice, 'payment_intent')
  const listed = listIn(invoice, 'payments', 'data').flatMap(
    (entry) => idIn(recordIn(entry, 'payment'), 'payment_intent') ?? [],
  )
  return direct === undefined ? listed : [direct]
}

function asked(object: string, id: string | undefined): LookupRequest | undefined {
  return id === undefined ? undefined : { object, id }
}

function found(
  facts: Extract<LookupAnswer, { outcome: 'found' }>['facts'],
  ...further: readonly (LookupRequest | undefined)[]
): LookupAnswer {
  const lookups = further.filter((one) => one !== undefined)
  return lookups.length === 0 ? { outcome: 'found', facts } : { outcome: 'found', facts, lookups }
}
