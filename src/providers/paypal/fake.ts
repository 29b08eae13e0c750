import type { FakeAnswer, FakeRequest, FakeServer, Faults } from '../fake-server.ts'
import { startFakeServer } from '../fake-server.ts'
import { answerPaypal } from './fake-api.ts'
import { FakeStore } from './fake-store.ts'
import {
  idFrom,
  type MovementMade,
  madeAuthorization,
  madeCapture,
  madeDispute,
  madeInvoice,
  madeOrder,
  madeRefund,
  madeSale,
  madeSaleRefund,
  madeSubscription,
  type SubscriptionMade,
} from './made-up.ts'
import { STAND_IN_PATH, signPaypal, standInCertificates } from './stand-in-signer.ts'

/** What is sold at the stand-in. */
export interface FakeSale {
  /** Any word; the same one names the same payment. */
  readonly seed: string
  readonly amount_minor: bigint
  readonly currency: string
  readonly order?: string | undefined
  /** The payment's id, where it has to be a certain one. */
  readonly payment?: string | undefined
}

/** A stand-in for PayPal's API and certificates with money in it. What it does, it tells by events, as PayPal does. */
export interface FakePaypal extends FakeServer {
  /** A buyer approves an order; its PayPal order id. */
  approve(sale: FakeSale): string
  /** The approved order is captured; the capture's id. */
  capture(order: string, status?: 'COMPLETED' | 'PENDING' | 'DECLINED'): string
  /** A pending capture clears or is declined. */
  clear(capture: string, status?: 'COMPLETED' | 'DECLINED'): void
  /** Money is held and not captured; the authorisation's id. */
  authorize(sale: FakeSale): string
  /** Approves and captures at once; the capture's id. */
  pay(sale: FakeSale): string
  /** Somebody refunds in the dashboard; the refund's id. */
  refund(capture: string, amount_minor: bigint, status?: string): string
  /** PayPal takes money back without a dispute; the reversal's id. */
  reverse(payment: string, amount_minor: bigint): string
  /** A buyer opens a dispute; its id. */
  dispute(payment: string, amount_minor: bigint, stage?: string): string
  /** A dispute is decided. */
  decide(dispute: string, outcome: string, movements?: readonly MovementMade[]): void
  /** A subscription reaches a state; its id. */
  subscribe(subscription: Omit<SubscriptionMade, 'created_s' | 'changed_s'>, event?: string): string
  /** A subscription is charged by a sale; the sale's id. */
  charge(sale: FakeSale & { readonly subscription?: string | undefined }, state?: string): string
  /** A sale is given back; the refund's id. */
  refundSale(sale: string, amount_minor: bigint): string
  /** An invoice that payments have paid; its id. */
  invoice(seed: string, payments: readonly string[]): string
  /** Bodies of all events so far, oldest first, each with the state of its object at this moment. */
  events(): readonly string[]
  /** The headers with which a body is sent to a webhook. */
  sign(body: string, webhookId: string): Record<string, string>
}

/** @param now_ms the clock of its objects; the platform's by default */
export async function startFakePaypal(now_ms: () => number = Date.now): Promise<FakePaypal> {
  const store = new FakeStore(now_ms)
  const server = await startFakeServer((request, faults) => answer(store, request, faults))
  return Object.assign(server, actions(store), {
    events: () => store.events(),
    sign: (body: string, webhookId: string) =>
      signPaypal(body, webhookId, now_ms(), `${idFrom('transmission', body)}`),
  })
}

function answer(store: FakeStore, request: FakeRequest, faults: Faults): FakeAnswer {
  if (request.path === STAND_IN_PATH) return { status: 200, body: standInCertificates }
  return answerPaypal(store, request, faults)
}

type Actions = Omit<FakePaypal, keyof FakeServer | 'events' | 'sign'>

function actions(store: FakeStore): Actions {
  return { ...checkout(store), ...moneyBack(store), ...recurring(store) }
}

function checkout(store: FakeStore): Pick<Actions, 'approve' | 'capture' | 'clear' | 'authorize' | 'pay'> {
  const approve = (sale: FakeSale): string => {
    const id = idFrom('order', sale.seed)
    store.sell(id, sale)
    const { seed: _seed, ...made } = sale
    store.put('order', id, madeOrder({ ...made, id, status: 'APPROVED', at_s: store.now_s() }))
    store.tell('CHECKOUT.ORDER.APPROVED', 'order', id)
    return id
  }
  const capture: Actions['capture'] = (paypal_order, status = 'COMPLETED') => {
    const { seed, payment, ...made } = store.sold(paypal_order)
    const id = payment ?? idFrom('payment', seed)
    store.sell(id, { seed, ...made })
    store.put('capture', id, madeCapture({ ...made, id, paypal_order, status, at_s: store.now_s() }))
    store.renewOrder(paypal_order)
    store.tell(`PAYMENT.CAPTURE.${status}`, 'capture', id)
    return id
  }
  return {
    approve,
    capture,
    pay: (sale) => capture(approve(sale)),
    clear(id, status = 'COMPLETED') {
      store.change('capture', id, { status })
      store.tell(`PAYMENT.CAPTURE.${status}`, 'capture', id)
    },
    authorize(sale) {
      const { seed, ...made } = sale
      const id = idFrom('authorization', seed)
      store.put(
        'authorization',
        id,
        madeAuthorization({ ...made, id, status: 'CREATED', at_s: store.now_s() }),
      )
      store.tell('PAYMENT.AUTHORIZATION.CREATED', 'authorization', id)
      return id
    },
  }
}

interface Given {
  readonly payment: string
  readonly amount_minor: bigint
  readonly status: string
}

function moneyBack(store: FakeStore): Pick<Actions, 'refund' | 'reverse' | 'dispute' | 'decide'> {
  const giveBack = (kind: 'refund' | 'reversal', event: string, given: Given): string => {
    const { payment, amount_minor, status } = given
    const { currency } = store.sold(payment)
    const id = idFrom(kind, payment, store.count(kind))
    const total_minor =
      status === 'COMPLETED' && kind === 'refund'
        ? store.giveBack(payment, amount_minor)
        : store.givenBack(payment)
    const made = { id, status, amount_minor, currency, total_minor, payment, at_s: store.now_s() }
    store.put(kind, id, madeRefund(made))
    store.tell(event, kind, id)
    return id
  }
  return {
    refund(payment, amount_minor, status = 'COMPLETED') {
      const event = status === 'COMPLETED' ? 'PAYMENT.CAPTURE.REFUNDED' : `PAYMENT.REFUND.${status}`
      const id = giveBack('refund', event, { payment, amount_minor, status })
      store.markRefunded(payment)
      return id
    },
    reverse: (payment, amount_minor) =>
      giveBack('reversal', 'PAYMENT.CAPTURE.REVERSED', { payment, amount_minor, status: 'COMPLETED' }),
    dispute(payment, amount_minor, stage = 'CHARGEBACK') {
      const { currency } = store.sold(payment)
      const id = `PP-D-${idFrom('dispute', payment).slice(0, 8)}`
      const times = { created_s: store.now_s(), changed_s: store.now_s() }
      const status = 'WAITING_FOR_SELLER_RESPONSE'
      store.put('dispute', id, madeDispute({ id, status, stage, payment, amount_minor, currency, ...times }))
      store.tell('CUSTOMER.DISPUTE.CREATED', 'dispute', id)
      return id
    },
    decide(id, outcome, movements) {
      const before = store.disputed(id)
      const decided = { ...before, status: 'RESOLVED', outcome, movements, changed_s: store.now_s() }
      const refunded_minor = outcome === 'RESOLVED_BUYER_FAVOUR' ? before.amount_minor : undefined
      store.put('dispute', id, madeDispute({ ...decided, refunded_minor }))
      store.tell('CUSTOMER.DISPUTE.RESOLVED', 'dispute', id)
    },
  }
}

function recurring(store: FakeStore): Pick<Actions, 'subscribe' | 'charge' | 'refundSale' | 'invoice'> {
  return {
    subscribe(subscription, event = 'ACTIVATED') {
      const times = { created_s: store.firstSeen(subscription.id), changed_s: store.now_s() }
      store.put('subscription', subscription.id, madeSubscription({ ...subscription, ...times }))
      store.tell(`BILLING.SUBSCRIPTION.${event}`, 'subscription', subscription.id)
      return subscription.id
    },
    charge(sale, state = 'completed') {
      const { seed, ...made } = sale
      const id = idFrom('payment', seed)
      store.sell(id, sale)
      store.put('sale', id, madeSale({ ...made, id, status: state, at_s: store.now_s() }))
      store.tell(`PAYMENT.SALE.${state.toUpperCase()}`, 'sale', id)
      return id
    },
    refundSale(payment, amount_minor) {
      const { currency } = store.sold(payment)
      const id = idFrom('refund', payment, store.count('sale_refund'))
      const made = { id, status: 'completed', amount_minor, currency, payment, at_s: store.now_s() }
      store.put('sale_refund', id, madeSaleRefund(made))
      store.tell('PAYMENT.SALE.REFUNDED', 'sale_refund', id)
      return id
    },
    invoice(seed, payments) {
      const id = `INV2-${idFrom('invoice', seed)}`
      store.put('invoice', id, madeInvoice(id, payments))
      store.tell('INVOICING.INVOICE.PAID', 'invoice', id)
      return id
    },
  }
}
