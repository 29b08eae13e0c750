import { Fault } from '../../../facts/fault.ts'
import { exponentOf } from '../../../money/currency.ts'
import { decimalText } from '../../../money/format.ts'
import { fieldIn, listIn, recordIn, textIn, utcTime } from '../../field.ts'
import type {
  ListedItem,
  ListedKind,
  Lookup,
  LookupAnswer,
  LookupContext,
  OperationAnswer,
  RefundRequest,
  Window,
} from '../../lookup.ts'
import { unreadableReason } from '../../unreadable.ts'
import type { Reading } from '../reading.ts'
import type { Called } from '../sdk.ts'
import { answerOf, callSdk, operationAnswerOf } from '../sdk.ts'
import { uuidFrom, uuidOf } from '../uuid.ts'
import { readChargeback } from './chargeback.ts'
import type { MintApi, MintClient } from './client.ts'
import { newMintClient } from './client.ts'
import type { MintSetup } from './payment.ts'
import { readPayment } from './payment.ts'
import { readPaymentIntent } from './payment-intent.ts'

const PAGE = 50

/** Look-ups and refunds of Circle Mint through Circle's own SDK. */
export function mintLookup(setup: MintSetup, api: MintApi): Lookup {
  let loaded: Promise<MintClient> | undefined
  const client = () => {
    loaded ??= newMintClient(api)
    return loaded
  }
  return {
    fetch: ({ object, id }, _expected, context) => fetchObject(setup, client, object, id, context),
    list: (kind, window, context) => listObjects(setup, client, kind, window, context),
    refund: (request, context) => refund(setup, api, client, request, context),
  }
}

type GetClient = () => Promise<MintClient>

async function fetchObject(
  setup: MintSetup,
  client: GetClient,
  object: string,
  id: string,
  context: LookupContext,
): Promise<LookupAnswer> {
  const reader = readerOf(setup, object)
  if (reader === null)
    return { outcome: 'refused', reason: `circle-mint: there is no look-up for a ${object}` }
  if (uuidOf(id) === null) return { outcome: 'not_found' }
  const got = await callSdk(context.limit_ms, client, (sdk) => sdk.get(object, id, context.limit_ms))
  if ('failure' in got) return answerOf(got.failure)
  if (textIn(got.value, 'id')?.toLowerCase() !== id.toLowerCase()) {
    return { outcome: 'unreadable', reason: 'data.id is not the one that was asked for' }
  }
  try {
    const reading = reader(got.value)
    return 'facts' in reading ? { outcome: 'found', ...reading } : { outcome: 'found', facts: [] }
  } catch (error) {
    return { outcome: 'unreadable', reason: unreadableReason(error) }
  }
}

function readerOf(setup: MintSetup, object: string): ((read: unknown) => Reading) | null {
  switch (object) {
    case 'payment':
      return (read) => readPayment(setup, read)
    case 'paymentIntent':
      return (read) => readPaymentIntent(setup, read)
    case 'chargeback':
      return (read) => readChargeback(setup, read, { at: null, event: undefined })
    default:
      return null
  }
}

/** Page after page, until one is empty. Payments and their refunds stand in one list, told apart by `type`. */
async function* listObjects(
  setup: MintSetup,
  client: GetClient,
  kind: ListedKind,
  window: Window,
  context: LookupContext,
): AsyncGenerator<readonly ListedItem[]> {
  let pageAfter: string | undefined
  for (;;) {
    const asked = {
      collection: kind === 'disputes' ? 'chargebacks' : 'payments',
      ...window,
      pageAfter,
      pageSize: PAGE,
    } as const
    const got = await callSdk(context.limit_ms, client, (sdk) => sdk.list(asked, context.limit_ms))
    if ('failure' in got) throw unlisted(got.failure.reason)
    // Taken for an empty page, it would say that nothing is there.
    if (!Array.isArray(got.value)) throw unlisted('an answer has no list')
    const page: readonly unknown[] = got.value
    if (page.length === 0) return
    const last = textIn(page.at(-1), 'id')
    if (last === undefined || last === pageAfter) throw unlisted('a page does not lead to the next')
    pageAfter = last
    yield page.flatMap((object) => itemOf(setup, kind, object, window) ?? [])
  }
}

function unlisted(reason: string): Fault {
  return new Fault('provider_unavailable', `circle-mint: the list was not finished: ${reason}.`, {
    retriable: true,
  })
}

function itemOf(setup: MintSetup, kind: ListedKind, object: unknown, window: Window): ListedItem | null {
  const id = textIn(object, 'id')
  const at = utcTime(textIn(object, 'createDate') ?? textIn(listIn(object, 'history').at(-1), 'createDate'))
  if (id === undefined || !isOf(kind, object) || outside(at, window)) return null
  const facts = readableFacts(setup, kind, object)
  const stated = facts.find((fact) => 'amount_minor' in fact.content)?.content as
    | { amount_minor?: bigint; currency?: string }
    | undefined
  return {
    kind,
    id,
    payment: paymentOf(kind, object, id),
    amount_minor: stated?.amount_minor ?? null,
    currency: stated?.currency ?? null,
    status: textIn(object, 'status') ?? '',
    at,
    facts,
  }
}

function isOf(kind: ListedKind, object: unknown): boolean {
  const type = textIn(object, 'type')
  if (kind === 'disputes') return true
  return kind === 'payments' ? type === 'payment' : type === 'refund'
}

function paymentOf(kind: ListedKind, object: unknown, id: string): string | null {
  if (kind === 'payments') return id
  return (
    textIn(
      object,
      kind === 'disputes' ? 'paymentId' : 'originalPayment',
      ...(kind === 'disputes' ? [] : ['id']),
    ) ?? null
  )
}

function outside(at: string | null, { from_ms, to_ms }: Window): boolean {
  const at_ms = at === null ? from_ms : Date.parse(at)
  return at_ms < from_ms || at_ms >= to_ms
}

/** What cannot be read is listed all the same, without facts. */
function readableFacts(setup: MintSetup, kind: ListedKind, object: unknown) {
  try {
    const reading = readerOf(setup, kind === 'disputes' ? 'chargeback' : 'payment')?.(object)
    return reading !== undefined && 'facts' in reading ? reading.facts : []
  } catch {
    return []
  }
}

/**
 * Gives money back. A payment by card or bank goes back the way it came; one on a chain needs an address, and goes to
 * its sender only where the configuration says so.
 */
async function refund(
  setup: MintSetup,
  api: MintApi,
  client: GetClient,
  request: RefundRequest,
  context: LookupContext,
): Promise<OperationAnswer> {
  if (uuidOf(request.payment) === null)
    return declined('not_a_payment', 'the payment has no id of Circle Mint')
  const exponent = exponentOf(request.currency, setup.tokens)
  if (exponent === null) return declined('currency', `${request.currency} is no currency of this endpoint`)
  const { limit_ms } = context
  const got = await callSdk(limit_ms, client, (sdk) => sdk.get('payment', request.payment, limit_ms))
  if ('failure' in got) return operationAnswerOf(got.failure)
  const idempotencyKey = uuidFrom(request.key)
  const money = { amount: decimalText(request.amount_minor, exponent), currency: request.currency }
  const intent = textIn(got.value, 'paymentIntentId')
  if (intent === undefined) {
    const body = { idempotencyKey, amount: money }
    return answered(
      setup,
      await callSdk(limit_ms, client, (sdk) => sdk.refundPayment(request.payment, body, limit_ms)),
    )
  }
  const destination = api.refundTo === 'sender' ? senderOf(got.value) : null
  if (destination === null) {
    return declined(
      'destination',
      'a payment on a chain is given back to an address: do it in the console, or set refundTo',
    )
  }
  const body = { idempotencyKey, destination, amount: { currency: request.currency }, toAmount: money }
  return answered(setup, await callSdk(limit_ms, client, (sdk) => sdk.refundIntent(intent, body, limit_ms)))
}

/** The one address that a payment came from; of several nobody knows which is the buyer's. */
function senderOf(payment: unknown): object | null {
  const chain = textIn(payment, 'fromAddresses', 'chain')
  const addresses = listIn(payment, 'fromAddresses', 'addresses')
  const [address] = addresses
  return chain !== undefined && addresses.length === 1 && typeof address === 'string'
    ? { address, chain }
    : null
}

function answered(setup: MintSetup, sent: Called<unknown>): OperationAnswer {
  if ('failure' in sent) return operationAnswerOf(sent.failure)
  const made = recordIn(sent.value)
  const provider_id = textIn(made, 'id')
  try {
    const reading = readPayment(setup, made)
    if (provider_id !== undefined && fieldIn(made, 'type') === 'refund' && 'facts' in reading) {
      return { outcome: 'accepted', provider_id, facts: reading.facts }
    }
  } catch {
    // The request was done, whatever the answer looks like.
  }
  return { outcome: 'unknown', reason: 'Circle took the request and answered in a shape that we do not know' }
}

function declined(code: string, reason: string): OperationAnswer {
  return { outcome: 'declined', code, reason }
}
