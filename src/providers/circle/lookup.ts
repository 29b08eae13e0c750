import { Fault } from '../../facts/fault.ts'
import { decimalText } from '../../money/format.ts'
import { fieldIn, recordIn, textIn, utcTime } from '../field.ts'
import type {
  ListedItem,
  ListedKind,
  Lookup,
  LookupAnswer,
  LookupContext,
  OperationAnswer,
  RefundRequest,
  Window,
} from '../lookup.ts'
import { unreadableReason } from '../unreadable.ts'
import type { Reading } from './reading.ts'
import { answerOf, callSdk, loadSdk, operationAnswerOf } from './sdk.ts'
import { tokenOf } from './token-amount.ts'
import type { WalletsSetup } from './transaction.ts'
import { readTransaction, refundedPayment, refundReference } from './transaction.ts'
import { uuidFrom, uuidOf } from './uuid.ts'

export interface WalletsApi {
  readonly apiKey: string
  readonly baseUrl: string
  readonly custodyType: 'DEVELOPER' | 'ENDUSER'
  /** Needed to send anything; undefined when this endpoint only reads. */
  readonly refunds: WalletsRefunds | undefined
}

export interface WalletsRefunds {
  /** The 32-byte entity secret in hex. Circle's SDK encrypts it anew for each request. */
  readonly entitySecret: string
  /** How much the chain is paid for being quick. Default `MEDIUM`. */
  readonly feeLevel?: 'LOW' | 'MEDIUM' | 'HIGH' | undefined
}

/** What we use of `@circle-fin/developer-controlled-wallets`. It sends each request once. */
interface Client {
  getTransaction(input: object): Promise<{ data?: unknown }>
  listTransactions(input: object): Promise<{ data?: unknown }>
  createTransaction(input: object): Promise<{ data?: unknown }>
}

const PACKAGE = '@circle-fin/developer-controlled-wallets'
const PAGE = 50

/** Look-ups and refunds of Circle Wallets through Circle's own SDK. */
export function walletsLookup(setup: WalletsSetup, api: WalletsApi): Lookup {
  let loaded: Promise<Client> | undefined
  const client = () => {
    loaded ??= newClient(api)
    return loaded
  }
  const lookup: Lookup = {
    fetch: async ({ object, id }, _expected, context) => {
      if (object !== 'transaction')
        return { outcome: 'refused', reason: 'circle: only a transaction can be looked up' }
      if (uuidOf(id) === null) return { outcome: 'not_found' }
      const got = await callSdk(context.limit_ms, client, (api) => api.getTransaction({ id }))
      return 'failure' in got ? answerOf(got.failure) : fetched(setup, got.value.data, id)
    },
    list: (kind, window, context) => listTransactions(setup, api, client, kind, window, context),
  }
  const { refunds } = api
  if (refunds === undefined) return lookup
  return { ...lookup, refund: (request, context) => refund(setup, refunds, client, request, context) }
}

async function newClient({ apiKey, baseUrl, refunds }: WalletsApi): Promise<Client> {
  const sdk = await loadSdk(PACKAGE, () => import('@circle-fin/developer-controlled-wallets'))
  const make = sdk.initiateDeveloperControlledWalletsClient as (config: object) => Client
  return make({ apiKey, baseUrl, entitySecret: refunds?.entitySecret ?? '' })
}

function fetched(setup: WalletsSetup, data: unknown, id: string): LookupAnswer {
  const transaction = recordIn(data, 'transaction')
  if (textIn(transaction, 'id')?.toLowerCase() !== id.toLowerCase()) {
    return { outcome: 'unreadable', reason: 'transaction.id is not the one that was asked for' }
  }
  try {
    return { outcome: 'found', facts: factsOf(readTransaction(setup, transaction)) }
  } catch (error) {
    return { outcome: 'unreadable', reason: unreadableReason(error) }
  }
}

function factsOf(reading: Reading) {
  return 'facts' in reading ? reading.facts : []
}

/** Oldest first, page after page, until a page is empty. There are no disputes on a chain. */
async function* listTransactions(
  setup: WalletsSetup,
  api: WalletsApi,
  client: () => Promise<Client>,
  kind: ListedKind,
  { from_ms, to_ms }: Window,
  context: LookupContext,
): AsyncGenerator<readonly ListedItem[]> {
  if (kind === 'disputes') return
  let pageAfter: string | undefined
  for (;;) {
    const input = {
      txType: kind === 'payments' ? 'INBOUND' : 'OUTBOUND',
      custodyType: api.custodyType,
      includeAll: true,
      from: new Date(from_ms),
      to: new Date(to_ms),
      order: 'ASC',
      pageSize: PAGE,
      ...(pageAfter === undefined ? {} : { pageAfter }),
    }
    const got = await callSdk(context.limit_ms, client, (api) => api.listTransactions(input))
    if ('failure' in got) throw unlisted(got.failure.reason)
    const page = fieldIn(got.value.data, 'transactions')
    // Taken for an empty page, it would say that nothing is there.
    if (!Array.isArray(page)) throw unlisted('an answer has no list of transactions')
    const last = textIn(page.at(-1), 'id')
    if (page.length === 0) return
    if (last === undefined || last === pageAfter)
      throw unlisted('a page of transactions does not lead to the next')
    pageAfter = last
    yield page.flatMap((transaction) => itemOf(setup, kind, transaction, { from_ms, to_ms }) ?? [])
  }
}

function unlisted(reason: string): Fault {
  return new Fault('provider_unavailable', `circle: the list was not finished: ${reason}.`, {
    retriable: true,
  })
}

function itemOf(
  setup: WalletsSetup,
  kind: ListedKind,
  transaction: unknown,
  window: Window,
): ListedItem | null {
  const id = textIn(transaction, 'id')
  const at = utcTime(textIn(transaction, 'createDate'))
  const payment = kind === 'payments' ? id : ownRefund(setup, transaction)
  if (id === undefined || payment === undefined || outside(at, window)) return null
  if (typeof tokenOf(setup.tokens, transaction) === 'string') return null
  const facts = readableFacts(setup, transaction)
  const stated = facts[0]?.content as { amount_minor?: bigint; currency?: string } | undefined
  return {
    kind,
    id,
    payment,
    amount_minor: stated?.amount_minor ?? null,
    currency: stated?.currency ?? null,
    status: textIn(transaction, 'state') ?? '',
    at,
    facts,
  }
}

function ownRefund(setup: WalletsSetup, transaction: unknown): string | undefined {
  try {
    return refundedPayment(setup, transaction)
  } catch {
    return undefined
  }
}

function outside(at: string | null, { from_ms, to_ms }: Window): boolean {
  const at_ms = at === null ? from_ms : Date.parse(at)
  return at_ms < from_ms || at_ms >= to_ms
}

/** What cannot be read is listed all the same, without facts. */
function readableFacts(setup: WalletsSetup, transaction: unknown) {
  try {
    return factsOf(readTransaction(setup, transaction))
  } catch {
    return []
  }
}

/** A transfer back to the address that the payment came from, which carries the payment's id as its `refId`. */
async function refund(
  setup: WalletsSetup,
  { entitySecret: _, feeLevel = 'MEDIUM' }: WalletsRefunds,
  client: () => Promise<Client>,
  request: RefundRequest,
  context: LookupContext,
): Promise<OperationAnswer> {
  if (uuidOf(request.payment) === null)
    return declined('not_a_transaction', 'the payment is no Circle transaction')
  const got = await callSdk(context.limit_ms, client, (api) => api.getTransaction({ id: request.payment }))
  if ('failure' in got) return operationAnswerOf(got.failure)
  const paid = recordIn(got.value.data, 'transaction')
  const token = tokenOf(setup.tokens, paid)
  if (typeof token === 'string') return declined('token', token)
  if (token.code !== request.currency) return declined('currency', `the payment was made in ${token.code}`)
  const destinationAddress = textIn(paid, 'sourceAddress')
  const walletId = textIn(paid, 'walletId')
  if (destinationAddress === undefined || walletId === undefined) {
    return declined('no_sender', 'the payment names no address to send back to')
  }
  const amounts = [decimalText(request.amount_minor, token.decimals)]
  const refId = refundReference(request.payment)
  const input = {
    idempotencyKey: uuidFrom(request.key),
    walletId,
    tokenId: token.tokenId,
    destinationAddress,
    amount: amounts,
    refId,
    fee: { type: 'level', config: { feeLevel } },
  }
  const sent = await callSdk(context.limit_ms, client, (api) => api.createTransaction(input))
  if ('failure' in sent) return operationAnswerOf(sent.failure)
  const { tokenId, blockchain } = token
  const made = { transactionType: 'OUTBOUND', operation: 'TRANSFER', tokenId, blockchain, amounts, refId }
  return accepted(setup, {
    ...made,
    id: textIn(sent.value.data, 'id'),
    state: textIn(sent.value.data, 'state'),
  })
}

function accepted(
  setup: WalletsSetup,
  transfer: { readonly id: string | undefined; readonly state: string | undefined },
): OperationAnswer {
  try {
    const facts = factsOf(readTransaction(setup, transfer))
    if (transfer.id !== undefined) return { outcome: 'accepted', provider_id: transfer.id, facts }
  } catch {
    // The request was done, whatever the answer looks like.
  }
  return { outcome: 'unknown', reason: 'Circle took the request and answered in a shape that we do not know' }
}

function declined(code: string, reason: string): OperationAnswer {
  return { outcome: 'declined', code, reason }
}
