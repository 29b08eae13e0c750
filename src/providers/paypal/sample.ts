import type { SampleMaker, SampleWish } from '../sample-maker.ts'
import {
  idFrom,
  madeAuthorization,
  madeCapture,
  madeDispute,
  madeEvent,
  madeOrder,
  madeRefund,
  madeSale,
  madeSaleRefund,
  madeSubscription,
} from './made-up.ts'
import { signPaypal } from './stand-in-signer.ts'

export { signPaypal, standInRoot } from './stand-in-signer.ts'

/** The resource of each event that can be made. */
const RESOURCES: Readonly<Record<string, (wish: SampleWish) => object>> = {
  'PAYMENT.CAPTURE.COMPLETED': (wish) => capture(wish, 'COMPLETED'),
  'PAYMENT.CAPTURE.PENDING': (wish) => capture(wish, 'PENDING', 'ECHECK'),
  'PAYMENT.CAPTURE.DENIED': (wish) => capture(wish, 'DECLINED', 'DENIED'),
  'PAYMENT.CAPTURE.DECLINED': (wish) => capture(wish, 'DECLINED', 'DECLINED_BY_RISK_FRAUD_FILTERS'),
  'PAYMENT.CAPTURE.REFUNDED': (wish) => refund(wish, 'COMPLETED'),
  'PAYMENT.CAPTURE.REVERSED': (wish) => refund(wish, 'COMPLETED'),
  'PAYMENT.REFUND.PENDING': (wish) => refund(wish, 'PENDING'),
  'PAYMENT.REFUND.FAILED': (wish) => refund(wish, 'FAILED'),
  'CHECKOUT.ORDER.APPROVED': (wish) => order(wish, 'APPROVED'),
  'CHECKOUT.ORDER.COMPLETED': (wish) => order(wish, 'COMPLETED', [capture(wish, 'COMPLETED')]),
  'CHECKOUT.ORDER.SAVED': (wish) => order(wish, 'SAVED'),
  'CHECKOUT.ORDER.VOIDED': (wish) => order(wish, 'VOIDED'),
  'CHECKOUT.ORDER.DECLINED': (wish) => order(wish, 'VOIDED'),
  'CHECKOUT.PAYMENT-APPROVAL.REVERSED': (wish) => ({ order_id: orderOf(wish) }),
  'PAYMENT.AUTHORIZATION.CREATED': (wish) => authorization(wish, 'CREATED'),
  'PAYMENT.AUTHORIZATION.VOIDED': (wish) => authorization(wish, 'VOIDED'),
  'PAYMENT.SALE.COMPLETED': (wish) => sale(wish, 'completed'),
  'PAYMENT.SALE.PENDING': (wish) => sale(wish, 'pending'),
  'PAYMENT.SALE.DENIED': (wish) => sale(wish, 'denied'),
  'PAYMENT.SALE.REFUNDED': saleRefund,
  'PAYMENT.SALE.REVERSED': saleRefund,
  'BILLING.SUBSCRIPTION.CREATED': (wish) => subscription(wish, 'APPROVAL_PENDING'),
  'BILLING.SUBSCRIPTION.ACTIVATED': (wish) => subscription(wish, 'ACTIVE'),
  'BILLING.SUBSCRIPTION.UPDATED': (wish) => subscription(wish, 'ACTIVE'),
  'BILLING.SUBSCRIPTION.RE-ACTIVATED': (wish) => subscription(wish, 'ACTIVE'),
  'BILLING.SUBSCRIPTION.PAYMENT.FAILED': (wish) => subscription(wish, 'ACTIVE', wish.at_s),
  'BILLING.SUBSCRIPTION.SUSPENDED': (wish) => subscription(wish, 'SUSPENDED'),
  'BILLING.SUBSCRIPTION.CANCELLED': (wish) => subscription(wish, 'CANCELLED'),
  'BILLING.SUBSCRIPTION.EXPIRED': (wish) => subscription(wish, 'EXPIRED'),
  'CUSTOMER.DISPUTE.CREATED': (wish) => dispute(wish, 'WAITING_FOR_SELLER_RESPONSE'),
  'CUSTOMER.DISPUTE.UPDATED': (wish) => dispute(wish, 'UNDER_REVIEW'),
  'CUSTOMER.DISPUTE.RESOLVED': (wish) => dispute(wish, 'RESOLVED', 'RESOLVED_BUYER_FAVOUR'),
  'INVOICING.INVOICE.PAID': (wish) => ({ invoice: { id: `INV2-${idFrom('invoice', wish.payment)}` } }),
}

/**
 * Messages of PayPal's sandbox, signed with the key of the stand-in: an endpoint accepts them when it trusts
 * `standInRoot` and asks the stand-in. None of them grants anything until a look-up confirms it.
 */
export const samples: SampleMaker = {
  events: Object.keys(RESOURCES),
  steps: {
    paid: ['PAYMENT.CAPTURE.COMPLETED'],
    failed: ['PAYMENT.CAPTURE.DECLINED'],
    refunded: ['PAYMENT.CAPTURE.REFUNDED'],
    dispute_opened: ['CUSTOMER.DISPUTE.CREATED'],
    dispute_lost: ['CUSTOMER.DISPUTE.RESOLVED'],
  },
  currency: 'EUR',
  payment: (seed) => idFrom('payment', seed),
  make(wish, secret, now_ms) {
    const type = wish.event ?? 'PAYMENT.CAPTURE.COMPLETED'
    const make = Object.hasOwn(RESOURCES, type) ? RESOURCES[type] : undefined
    if (make === undefined) throw new RangeError(`There is no PayPal sample called ${type}.`)
    const body = madeEvent(type, make(wish), wish.at_s)
    return { method: 'POST', query: '', headers: signPaypal(body, secret, now_ms), body }
  },
}

function orderOf({ payment }: SampleWish): string {
  return idFrom('order', payment)
}

function payment(wish: SampleWish, status: string) {
  const { amount_minor, currency, order: reference, at_s } = wish
  return { id: wish.payment, status, amount_minor, currency, order: reference, at_s }
}

function capture(wish: SampleWish, status: string, reason?: string): object {
  return madeCapture({ ...payment(wish, status), paypal_order: orderOf(wish), reason })
}

function refund(wish: SampleWish, status: string): object {
  const id = idFrom('refund', wish.payment, wish.amount_minor)
  const total_minor = wish.amount_minor
  return madeRefund({ ...payment(wish, status), id, payment: wish.payment, total_minor })
}

function order(wish: SampleWish, status: string, captures?: readonly object[]): object {
  return madeOrder({ ...payment(wish, status), id: orderOf(wish), captures })
}

function authorization(wish: SampleWish, status: string): object {
  return madeAuthorization({ ...payment(wish, status), id: idFrom('authorization', wish.payment) })
}

function sale(wish: SampleWish, status: string): object {
  return madeSale({ ...payment(wish, status), subscription: subscriptionOf(wish) })
}

function saleRefund(wish: SampleWish): object {
  const id = idFrom('refund', wish.payment, wish.amount_minor)
  return madeSaleRefund({ ...payment(wish, 'completed'), id, payment: wish.payment })
}

function subscriptionOf({ payment: id }: SampleWish): string {
  return `I-${idFrom('subscription', id).slice(0, 12)}`
}

function subscription(wish: SampleWish, status: string, failed_s?: number): object {
  const { at_s, order: reference } = wish
  const times = { created_s: at_s, changed_s: at_s, next_s: at_s + 30 * 86_400, failed_s }
  return madeSubscription({ id: subscriptionOf(wish), status, order: reference, ...times })
}

function dispute(wish: SampleWish, status: string, outcome?: string): object {
  const { amount_minor, currency, at_s } = wish
  return madeDispute({
    id: `PP-D-${idFrom('dispute', wish.payment).slice(0, 8)}`,
    status,
    stage: 'CHARGEBACK',
    payment: wish.payment,
    amount_minor,
    currency,
    outcome,
    refunded_minor: outcome === undefined ? undefined : amount_minor,
    created_s: at_s,
    changed_s: at_s,
  })
}
