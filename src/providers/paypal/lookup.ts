import type { LookupRequest } from '../../facts/lookup.ts'
import { listIn, textIn } from '../field.ts'
import type { Lookup, LookupAnswer, LookupContext } from '../lookup.ts'
import { Unreadable, unreadableReason } from '../unreadable.ts'
import { moneyIn, totalIn } from './amount.ts'
import type { ApiAnswer, PaypalApi } from './api.ts'
import { readAuthorization, readCapture } from './capture.ts'
import { readDispute, takesMoney } from './dispute.ts'
import { listPaypal } from './list.ts'
import { readOrder } from './order.ts'
import { idOf, type PaypalSetup, type Reading } from './paypal-object.ts'
import { captureOf, readRefund, readSaleRefund, reversalFact, saleOf } from './refund.ts'
import { refundPaypal } from './refund-request.ts'
import { readSale } from './sale.ts'
import { readSubscription } from './subscription.ts'

export interface PaypalLookupSetup {
  readonly setup: PaypalSetup
  readonly api: PaypalApi
}

type Asked = (api: PaypalApi, id: string, context: LookupContext) => Promise<ApiAnswer>
type Read = (setup: PaypalSetup, body: unknown) => Reading

const capture: Asked = (api, captureId, context) =>
  api.call(context, (client, sdk) => new sdk.PaymentsController(client).getCapturedPayment({ captureId }))
const sale: Asked = (api, id, context) => api.get(`/v1/payments/sale/${id}`, context)
const refund: Asked = (api, refundId, context) =>
  api.call(context, (client, sdk) => new sdk.PaymentsController(client).getRefund({ refundId }))
const saleRefund: Asked = (api, id, context) => api.get(`/v1/payments/refund/${id}`, context)
const dispute: Asked = (api, id, context) => api.get(`/v1/customer/disputes/${id}`, context)
const authorization: Asked = (api, authorizationId, context) =>
  api.call(context, (client, sdk) =>
    new sdk.PaymentsController(client).getAuthorizedPayment({ authorizationId }),
  )
const order: Asked = (api, id, context) =>
  api.call(context, (client, sdk) => new sdk.OrdersController(client).getOrder({ id }))
const subscription: Asked = (api, id, context) =>
  api.call(context, (client, sdk) => new sdk.SubscriptionsController(client).getSubscription({ id }))
const invoice: Asked = (api, id, context) => api.get(`/v2/invoicing/invoices/${id}`, context)

/** How each kind of object is asked about: one way after the other until one knows the id. */
const WAYS: Readonly<Record<string, readonly (readonly [Asked, Read])[]>> = {
  // Captures and sales share their ids, and PayPal shows many through either door.
  capture: [
    [capture, readCapture],
    [sale, readSale],
  ],
  sale: [
    [sale, readSale],
    [capture, readCapture],
  ],
  payment: [
    [capture, readCapture],
    [sale, readSale],
  ],
  refund: [[refund, readRefund]],
  sale_refund: [
    [saleRefund, readSaleRefund],
    [refund, readRefund],
  ],
  authorization: [[authorization, readAuthorization]],
  order: [[order, readOrder]],
  subscription: [[subscription, readSubscription]],
  dispute: [[dispute, readDispute]],
  invoice: [[invoice, readInvoice]],
}

export function paypalLookup({ setup, api }: PaypalLookupSetup): Lookup {
  return {
    fetch: (request, _expected, context) => fetchObject(setup, api, request, context),
    list: (kind, window, context) => listPaypal(setup, api, kind, window, context),
    refund: (request, context) => refundPaypal(setup, api, request, context),
  }
}

async function fetchObject(
  setup: PaypalSetup,
  api: PaypalApi,
  { object, id }: LookupRequest,
  context: LookupContext,
): Promise<LookupAnswer> {
  if (idOf(id) === undefined) return { outcome: 'not_found' }
  if (object === 'reversal') return fetchReversal(setup, api, id, context, CAPTURE_REVERSAL)
  if (object === 'sale_reversal') return fetchReversal(setup, api, id, context, SALE_REVERSAL)
  const ways = Object.hasOwn(WAYS, object) ? WAYS[object]! : []
  for (const [ask, read] of ways) {
    const answer = await ask(api, id, context)
    if (answer.came === 'answer') return found(() => read(setup, about(id, answer.body)))
    if (answer.came !== 'nothing') return failed(answer)
  }
  return ways.length > 0
    ? { outcome: 'not_found' }
    : { outcome: 'unreadable', reason: `PayPal has no object that is called ${object}` }
}

interface ReversalShape {
  readonly ask: Asked
  readonly paymentOf: (body: unknown) => string
  readonly moneyOf: (body: unknown) => ReturnType<typeof moneyIn>
  readonly payment: string
}

const CAPTURE_REVERSAL: ReversalShape = {
  ask: refund,
  paymentOf: captureOf,
  moneyOf: (body) => moneyIn(body, 'amount'),
  payment: 'capture',
}

const SALE_REVERSAL: ReversalShape = {
  ask: saleRefund,
  paymentOf: saleOf,
  moneyOf: (body) => totalIn(body, 'amount'),
  payment: 'sale',
}

/**
 * Money that PayPal took back is mostly the money of a dispute, which tells it too. It is told as a reversal only where
 * no dispute explains it, so that it is counted once.
 */
async function fetchReversal(
  setup: PaypalSetup,
  api: PaypalApi,
  id: string,
  context: LookupContext,
  shape: ReversalShape,
): Promise<LookupAnswer> {
  const answer = await shape.ask(api, id, context)
  if (answer.came !== 'answer') return failed(answer)
  let payment: string
  try {
    payment = shape.paymentOf(about(id, answer.body))
  } catch (error) {
    return { outcome: 'unreadable', reason: unreadableReason(error) }
  }
  const listed = await api.get(`/v1/customer/disputes?disputed_transaction_id=${payment}`, context)
  if (listed.came !== 'answer' && listed.came !== 'nothing') return failed(listed)
  const disputes = listed.came === 'answer' ? listIn(listed.body, 'items').filter(takesMoney) : []
  return found(() => ({
    facts: disputes.length > 0 ? [] : [reversalFact(setup, payment, shape.moneyOf(answer.body))],
    lookups: [
      ...disputes.flatMap((one) => {
        const dispute_id = idOf(textIn(one, 'dispute_id'))
        return dispute_id === undefined ? [] : [{ object: 'dispute', id: dispute_id }]
      }),
      { object: shape.payment, id: payment },
    ],
  }))
}

/** `GET /v2/invoicing/invoices/{id}`: which payments paid it; the money is theirs to tell. */
function readInvoice(_setup: PaypalSetup, body: unknown): Reading {
  const transactions = listIn(body, 'payments', 'transactions')
  return {
    facts: [],
    lookups: transactions.flatMap((transaction) => {
      const id = idOf(textIn(transaction, 'payment_id'))
      return id === undefined ? [] : [{ object: 'payment', id }]
    }),
  }
}

/** An answer mixed up on its way would leave the object that was asked about untold. @throws Unreadable */
function about(id: string, body: unknown): unknown {
  if ((textIn(body, 'id') ?? textIn(body, 'dispute_id')) === id) return body
  throw new Unreadable('the answer is about another object')
}

function found(read: () => Reading): LookupAnswer {
  try {
    return { outcome: 'found', ...read() }
  } catch (error) {
    return { outcome: 'unreadable', reason: unreadableReason(error) }
  }
}

export function failed(
  answer: Exclude<ApiAnswer, { came: 'answer' }>,
): Exclude<LookupAnswer, { outcome: 'found' }> {
  switch (answer.came) {
    case 'nothing':
      return { outcome: 'not_found' }
    case 'unavailable':
      return { outcome: 'unavailable', reason: answer.reason, retry_after_ms: answer.retry_after_ms }
    case 'no':
      return { outcome: 'unreadable', reason: `PayPal answered ${answer.status} (${answer.code})` }
    default:
      return { outcome: answer.came, reason: answer.reason }
  }
}
