import type { FakeAnswer, FakeRequest, FakeServer, Faults } from '../fake-server.ts'
import { startFakeServer } from '../fake-server.ts'
import { fieldIn, listIn, recordIn, textIn } from '../field.ts'
import type { DisputeWish, PaymentWish, RefundWish, SubscriptionWish } from './objects.ts'
import {
  disputeObject,
  disputeRow,
  messageBody,
  partOf,
  paymentObject,
  refundObject,
  refundRow,
  subscriptionObject,
} from './objects.ts'

/** A message that the state implies. Its body is rendered when it is asked for, as Dodo renders it when it sends. */
export interface FakeMessage {
  /** The `webhook-id`, the same at every attempt. */
  readonly id: string
  readonly type: string
  body(): string
}

/** A stand-in for Dodo's API with state. */
export interface FakeDodo extends FakeServer {
  /** Everything that happened so far, oldest first. */
  readonly messages: readonly FakeMessage[]
  /** Puts a payment into a state, and tells of it unless that state has no event. */
  setPayment(wish: Omit<PaymentWish, 'created_at' | 'refunds' | 'disputes' | 'refund_status'>): void
  setRefund(wish: Omit<RefundWish, 'created_at'>): void
  setDispute(wish: Omit<DisputeWish, 'created_at'>): void
  setSubscription(type: string, wish: Omit<SubscriptionWish, 'created_at'>): void
}

export interface FakeDodoOptions {
  /** Accepted bearer key. Default `dodo_test_key`. */
  readonly apiKey?: string
  /** The clock, Unix milliseconds. Default the machine's. */
  readonly now_ms?: () => number
  /** What a refund is when it is made. Default `succeeded`; Dodo also answers `pending` and `review`. */
  readonly refund_status?: string
}

type Kind = 'payment' | 'refund' | 'dispute' | 'subscription'
type Wish = PaymentWish | RefundWish | DisputeWish | SubscriptionWish
interface Version {
  readonly from_ms: number
  readonly wish: Wish
}

const PAYMENT_EVENTS: Readonly<Record<string, string>> = {
  succeeded: 'payment.succeeded',
  failed: 'payment.failed',
  cancelled: 'payment.cancelled',
  processing: 'payment.processing',
}

/** Starts the stand-in: payments, refunds, disputes, subscriptions and checkouts, as `dodopayments` 2.52.0 asks for them. */
export async function startFakeDodo(options: FakeDodoOptions = {}): Promise<FakeDodo> {
  const state = new State(options.now_ms ?? Date.now)
  const authorization = `Bearer ${options.apiKey ?? 'dodo_test_key'}`
  const server = await startFakeServer((request, faults) => {
    if (faults.locked_out || request.headers.authorization !== authorization)
      return refuse(401, 'UNAUTHORIZED')
    return request.method === 'POST'
      ? post(state, request, options.refund_status ?? 'succeeded')
      : get(state, request, faults)
  })
  return {
    ...server,
    messages: state.messages,
    setPayment: (wish) => state.set('payment', wish.payment, wish, PAYMENT_EVENTS[wish.status]),
    setRefund: (wish) => state.set('refund', wish.refund, wish, refundEvent(wish.status)),
    setDispute: (wish) =>
      state.set('dispute', wish.dispute, wish, wish.status.replace('dispute_', 'dispute.')),
    setSubscription: (type, wish) => state.set('subscription', wish.subscription, wish, type),
  }
}

function refundEvent(status: string): string | undefined {
  return status === 'succeeded' || status === 'failed' ? `refund.${status}` : undefined
}

/** Every object with all its versions, so that reads can lag behind. */
class State {
  readonly messages: FakeMessage[] = []
  readonly now_ms: () => number
  readonly #objects: Readonly<Record<Kind, Map<string, Version[]>>> = {
    payment: new Map(),
    refund: new Map(),
    dispute: new Map(),
    subscription: new Map(),
  }

  constructor(now_ms: () => number) {
    this.now_ms = now_ms
  }

  set(kind: Kind, id: string, wish: object, type: string | undefined): void {
    const versions = this.#objects[kind].get(id) ?? []
    this.#objects[kind].set(id, versions)
    const at_ms = this.now_ms()
    const created_at = versions[0]?.wish.created_at ?? isoOf(at_ms)
    versions.push({ from_ms: at_ms, wish: { ...wish, created_at } as Wish })
    if (type === undefined) return
    this.messages.push({
      id: `msg_fake${this.messages.length + 1}`,
      type,
      body: () => messageBody(type, isoOf(at_ms), this.full(kind, id, 0)!),
    })
  }

  ids(kind: Kind): readonly string[] {
    return [...this.#objects[kind].keys()]
  }

  /** The wish as it was so long ago; undefined before it was made. */
  wish<W extends Wish>(kind: Kind, id: string, lag_ms: number): W | undefined {
    const seen = this.#objects[kind].get(id)?.filter((version) => version.from_ms <= this.now_ms() - lag_ms)
    return seen?.at(-1)?.wish as W | undefined
  }

  /** The whole object as the API shows it. */
  full(kind: Kind, id: string, lag_ms: number): object | undefined {
    const wish = this.wish(kind, id, lag_ms)
    if (wish === undefined) return undefined
    if (kind === 'refund') return refundObject(wish as RefundWish)
    if (kind === 'dispute') return disputeObject(wish as DisputeWish)
    if (kind === 'subscription') return subscriptionObject(wish as SubscriptionWish)
    const refunds = this.of<RefundWish>('refund', id, lag_ms)
    const disputes = this.of<DisputeWish>('dispute', id, lag_ms)
    const done = refunds.filter((refund) => refund.status === 'succeeded')
    const whole = done.reduce((sum, refund) => sum + refund.amount, 0) >= (wish as PaymentWish).amount
    return paymentObject({
      ...(wish as PaymentWish),
      refunds: refunds.map(refundRow),
      disputes: disputes.map(disputeRow),
      refund_status: done.length === 0 ? null : whole ? 'full' : 'partial',
    })
  }

  /** What belongs to a payment. */
  of<W extends RefundWish | DisputeWish>(kind: 'refund' | 'dispute', payment: string, lag_ms: number): W[] {
    return this.ids(kind).flatMap((id) => {
      const wish = this.wish<W>(kind, id, lag_ms)
      return wish?.payment === payment ? [wish] : []
    })
  }
}

function get(state: State, { path, query }: FakeRequest, faults: Faults): FakeAnswer {
  const [, plural = '', id, part] = path.split('/')
  if (plural === 'checkouts') return checkout(state, id ?? '', faults.lag_ms)
  const kind = KINDS[plural]
  if (kind === undefined) return refuse(404, 'NOT_FOUND')
  if (id === undefined) return list(state, kind, query, faults)
  if (kind === 'payment' && part === 'line-items') return lineItems(state, id, faults.lag_ms)
  const object = state.full(kind, id, faults.lag_ms)
  return object === undefined ? refuse(404, 'NOT_FOUND') : { status: 200, body: object }
}

const KINDS: Readonly<Record<string, Kind>> = {
  payments: 'payment',
  refunds: 'refund',
  disputes: 'dispute',
  subscriptions: 'subscription',
}

function checkout(state: State, id: string, lag_ms: number): FakeAnswer {
  const payment = partOf(id, 'pay')
  const wish = state.wish<PaymentWish>('payment', payment, lag_ms)
  const told = { payment_id: wish ? payment : null, payment_status: wish?.status ?? null }
  return { status: 200, body: { id, created_at: wish?.created_at ?? isoOf(state.now_ms()), ...told } }
}

/** Fields of the full payment that rows do not have. */
const NOT_IN_ROWS = [
  'billing',
  'checkout_session_id',
  'disputes',
  'error_code',
  'error_message',
  'is_update_payment_method',
  'product_cart',
  'refunds',
  'retry_attempt',
  'settlement_amount',
  'settlement_currency',
  'settlement_tax',
  'tax',
]

/** Newest first, pages from 0, and no word about further ones. */
function list(state: State, kind: Kind, query: URLSearchParams, faults: Faults): FakeAnswer {
  const page = Number(query.get('page_number') ?? 0)
  if (faults.list_breaks && page > 0) return { status: 500, body: {} }
  const size = Math.min(Number(query.get('page_size') ?? 10), 100)
  const from = Date.parse(query.get('created_at_gte') ?? '1970-01-01T00:00:00Z')
  const to = Date.parse(query.get('created_at_lte') ?? '9999-01-01T00:00:00Z')
  const subscription = query.get('subscription_id')
  const rows = state.ids(kind).flatMap((id) => {
    const object = state.full(kind, id, faults.lag_ms)
    const created = Date.parse(textIn(object, 'created_at') ?? '')
    if (object === undefined || !(created >= from && created <= to)) return []
    if (subscription !== null && textIn(object, 'subscription_id') !== subscription) return []
    return [Object.fromEntries(Object.entries(object).filter(([name]) => !NOT_IN_ROWS.includes(name)))]
  })
  return { status: 200, body: { items: rows.reverse().slice(page * size, (page + 1) * size) } }
}

function lineItems(state: State, id: string, lag_ms: number): FakeAnswer {
  const wish = state.wish<PaymentWish>('payment', id, lag_ms)
  if (wish === undefined) return refuse(404, 'NOT_FOUND')
  const line = { amount: wish.amount, items_id: wish.product ?? 'pdt_QxBook01', tax: wish.tax ?? 0 }
  const refundable_amount = wish.amount - refundedMinor(state, id)
  return { status: 200, body: { currency: wish.currency, items: [{ ...line, refundable_amount }] } }
}

function refundedMinor(state: State, payment: string): number {
  return state
    .of<RefundWish>('refund', payment, 0)
    .filter((refund) => refund.status !== 'failed')
    .reduce((sum, refund) => sum + refund.amount, 0)
}

function post(state: State, { path, body }: FakeRequest, refund_status: string): FakeAnswer {
  const fields: unknown = JSON.parse(body.toString('utf8'))
  if (path === '/refunds') return makeRefund(state, fields, refund_status)
  const subscription = /^\/subscriptions\/([^/]+)\/charge$/.exec(path)?.[1]
  return subscription === undefined ? refuse(404, 'NOT_FOUND') : makeCharge(state, subscription, fields)
}

function makeRefund(state: State, fields: unknown, status: string): FakeAnswer {
  const payment = textIn(fields, 'payment_id') ?? ''
  const wish = state.wish<PaymentWish>('payment', payment, 0)
  if (wish === undefined) return refuse(404, 'PAYMENT_NOT_FOUND')
  if (wish.status !== 'succeeded') return refuse(400, 'PAYMENT_NOT_SUCCEEDED')
  const left = wish.amount - refundedMinor(state, payment)
  if (left === 0) return refuse(400, 'PAYMENT_ALREADY_REFUNDED')
  const items = listIn(fields, 'items')
  const amount =
    items.length === 0 ? left : items.reduce<number>((sum, item) => sum + Number(fieldIn(item, 'amount')), 0)
  if (amount > left) return refuse(400, 'REFUND_AMOUNT_EXCEEDS_PAID_AMOUNT')
  const refund = `ref_fake${state.ids('refund').length + 1}`
  const metadata = (recordIn(fields, 'metadata') ?? {}) as Readonly<Record<string, string>>
  const { currency } = wish
  const made = { refund, payment, amount, currency, partial: amount < wish.amount, status, metadata }
  state.set('refund', refund, made, refundEvent(status))
  return { status: 200, body: state.full('refund', refund, 0)! }
}

function makeCharge(state: State, subscription: string, fields: unknown): FakeAnswer {
  const wish = state.wish<SubscriptionWish>('subscription', subscription, 0)
  if (wish === undefined) return refuse(404, 'SUBSCRIPTION_NOT_FOUND')
  if (wish.on_demand !== true) return refuse(400, 'SUBSCRIPTION_NOT_ON_DEMAND')
  const payment = `pay_fake${state.ids('payment').length + 1}`
  const made: Omit<PaymentWish, 'created_at'> = {
    payment,
    amount: Number(fieldIn(fields, 'product_price')),
    currency: textIn(fields, 'product_currency') ?? wish.currency,
    metadata: (recordIn(fields, 'metadata') ?? {}) as Readonly<Record<string, string>>,
    status: 'succeeded',
    subscription,
    checkout: null,
  }
  state.set('payment', payment, made, 'payment.succeeded')
  return { status: 200, body: { payment_id: payment } }
}

function refuse(status: number, code: string): FakeAnswer {
  return { status, body: { code, message: 'The stand-in refuses this.' } }
}

/** As Dodo writes times: microseconds. */
function isoOf(at_ms: number): string {
  return new Date(at_ms).toISOString().replace('Z', '000Z')
}
