import { createHash } from 'node:crypto'
import { paypalValue } from './amount.ts'

/** Objects as PayPal's API shows them, made from a few words: for samples and the stand-in. No clock, no chance. */

export interface PaymentMade {
  readonly id: string
  readonly status: string
  readonly amount_minor: bigint
  readonly currency: string
  readonly order?: string | undefined
  readonly at_s: number
  /** Why it is pending or declined. */
  readonly reason?: string | undefined
}

export interface CaptureMade extends PaymentMade {
  /** The PayPal order that it belongs to. */
  readonly paypal_order: string
  readonly final?: boolean | undefined
}

export interface RefundMade extends PaymentMade {
  /** The capture that it gives back. */
  readonly payment: string
  /** What has been given back of that in all. */
  readonly total_minor: bigint
}

export interface OrderMade extends Omit<PaymentMade, 'reason'> {
  readonly captures?: readonly object[] | undefined
  readonly refunds?: readonly object[] | undefined
  readonly authorizations?: readonly object[] | undefined
}

export interface SaleMade extends PaymentMade {
  readonly subscription?: string | undefined
}

export interface SubscriptionMade {
  readonly id: string
  readonly status: string
  readonly order?: string | undefined
  readonly created_s: number
  readonly changed_s: number
  /** Last charge that succeeded. */
  readonly paid_s?: number | undefined
  /** Last charge that failed, while it has not been made up for. */
  readonly failed_s?: number | undefined
  readonly next_s?: number | undefined
}

export interface DisputeMade {
  readonly id: string
  readonly status: string
  readonly stage: string
  readonly payment: string
  readonly amount_minor: bigint
  readonly currency: string
  readonly outcome?: string | undefined
  readonly refunded_minor?: bigint | undefined
  readonly movements?: readonly MovementMade[] | undefined
  readonly created_s: number
  readonly changed_s: number
}

export interface MovementMade {
  readonly type: 'DEBIT' | 'CREDIT'
  readonly amount_minor: bigint
  readonly at_s: number
  readonly reason?: string | undefined
}

const API = 'https://api.sandbox.paypal.com'
const SELLER = { email_address: 'seller@shop.example', merchant_id: 'STANDINSELLER' }

/** An id in PayPal's form of 17 capitals and digits, the same for the same words. */
export function idFrom(...words: readonly (string | number | bigint)[]): string {
  const text = createHash('sha256')
    .update(JSON.stringify(words.map(String)))
    .digest('hex')
    .toUpperCase()
  return text.slice(0, 17)
}

export function isoTime(at_s: number): string {
  return new Date(at_s * 1000).toISOString().replace('.000Z', 'Z')
}

export function madeCapture(made: CaptureMade): object {
  const { id, paypal_order, status } = made
  return {
    id,
    amount: money(made.amount_minor, made.currency),
    final_capture: made.final ?? true,
    seller_protection: { status: 'ELIGIBLE', dispute_categories: ['ITEM_NOT_RECEIVED'] },
    ...references(made),
    status,
    ...(made.reason === undefined ? {} : { status_details: { reason: made.reason } }),
    supplementary_data: { related_ids: { order_id: paypal_order } },
    payee: SELLER,
    create_time: isoTime(made.at_s),
    update_time: isoTime(made.at_s),
    links: [
      link('self', `/v2/payments/captures/${id}`),
      link('refund', `/v2/payments/captures/${id}/refund`),
      link('up', `/v2/checkout/orders/${paypal_order}`),
    ],
  }
}

export function madeAuthorization(made: PaymentMade): object {
  return {
    id: made.id,
    status: made.status,
    amount: money(made.amount_minor, made.currency),
    ...references(made),
    payee: SELLER,
    create_time: isoTime(made.at_s),
    update_time: isoTime(made.at_s),
    links: [link('self', `/v2/payments/authorizations/${made.id}`)],
  }
}

export function madeRefund(made: RefundMade): object {
  return {
    id: made.id,
    amount: money(made.amount_minor, made.currency),
    seller_payable_breakdown: {
      gross_amount: money(made.amount_minor, made.currency),
      net_amount: money(made.amount_minor, made.currency),
      total_refunded_amount: money(made.total_minor, made.currency),
    },
    status: made.status,
    create_time: isoTime(made.at_s),
    update_time: isoTime(made.at_s),
    links: [
      link('self', `/v2/payments/refunds/${made.id}`),
      link('up', `/v2/payments/captures/${made.payment}`),
    ],
  }
}

export function madeOrder(made: OrderMade): object {
  const { captures, refunds, authorizations } = made
  return {
    id: made.id,
    intent: authorizations === undefined ? 'CAPTURE' : 'AUTHORIZE',
    status: made.status,
    purchase_units: [
      {
        reference_id: 'default',
        amount: money(made.amount_minor, made.currency),
        payee: SELLER,
        ...references(made),
        ...(captures || refunds || authorizations ? { payments: { captures, refunds, authorizations } } : {}),
      },
    ],
    payer: { payer_id: 'STANDINPAYER1' },
    create_time: isoTime(made.at_s),
    links: [link('self', `/v2/checkout/orders/${made.id}`)],
  }
}

export function madeSale(made: SaleMade): object {
  const { order, subscription } = made
  return {
    id: made.id,
    state: made.status,
    amount: {
      total: paypalValue(made.amount_minor, made.currency),
      currency: made.currency,
      details: { subtotal: paypalValue(made.amount_minor, made.currency) },
    },
    payment_mode: 'INSTANT_TRANSFER',
    ...(subscription === undefined ? {} : { billing_agreement_id: subscription }),
    ...(order === undefined
      ? {}
      : subscription === undefined
        ? { invoice_number: order }
        : { custom: order }),
    create_time: isoTime(made.at_s),
    update_time: isoTime(made.at_s),
    links: [link('self', `/v1/payments/sale/${made.id}`)],
  }
}

/** A refund, or with the same shape a reversal, of a sale. */
export function madeSaleRefund(made: Omit<RefundMade, 'total_minor'>): object {
  return {
    id: made.id,
    state: made.status,
    amount: { total: paypalValue(made.amount_minor, made.currency), currency: made.currency },
    sale_id: made.payment,
    create_time: isoTime(made.at_s),
    update_time: isoTime(made.at_s),
    links: [
      link('self', `/v1/payments/refund/${made.id}`),
      link('sale', `/v1/payments/sale/${made.payment}`),
    ],
  }
}

export function madeSubscription(made: SubscriptionMade): object {
  const { paid_s, failed_s, next_s } = made
  return {
    id: made.id,
    plan_id: 'P-STANDINPLAN0001',
    status: made.status,
    status_update_time: isoTime(made.changed_s),
    ...(made.order === undefined ? {} : { custom_id: made.order }),
    subscriber: { payer_id: 'STANDINPAYER1' },
    billing_info: {
      failed_payments_count: failed_s === undefined ? 0 : 1,
      ...(paid_s === undefined ? {} : { last_payment: { time: isoTime(paid_s) } }),
      ...(failed_s === undefined ? {} : { last_failed_payment: { time: isoTime(failed_s) } }),
      ...(next_s === undefined ? {} : { next_billing_time: isoTime(next_s) }),
    },
    create_time: isoTime(made.created_s),
    update_time: isoTime(made.changed_s),
    links: [link('self', `/v1/billing/subscriptions/${made.id}`)],
  }
}

export function madeDispute(made: DisputeMade): object {
  const { currency, outcome, refunded_minor, movements } = made
  return {
    dispute_id: made.id,
    create_time: isoTime(made.created_s),
    update_time: isoTime(made.changed_s),
    disputed_transactions: [
      {
        seller_transaction_id: made.payment,
        gross_amount: money(made.amount_minor, currency),
        seller: { merchant_id: SELLER.merchant_id },
      },
    ],
    reason: 'MERCHANDISE_OR_SERVICE_NOT_RECEIVED',
    status: made.status,
    dispute_amount: money(made.amount_minor, currency),
    dispute_life_cycle_stage: made.stage,
    dispute_channel: 'INTERNAL',
    ...(outcome === undefined
      ? {}
      : {
          dispute_outcome: {
            outcome_code: outcome,
            ...(refunded_minor === undefined ? {} : { amount_refunded: money(refunded_minor, currency) }),
          },
        }),
    ...(movements === undefined
      ? {}
      : {
          money_movements: movements.map(({ type, amount_minor, at_s, reason }) => ({
            affected_party: 'SELLER',
            type,
            amount: money(amount_minor, currency),
            initiated_time: isoTime(at_s),
            reason: reason ?? 'DISPUTE_SETTLEMENT',
          })),
        }),
    links: [link('self', `/v1/customer/disputes/${made.id}`)],
  }
}

export function madeInvoice(id: string, payments: readonly string[]): object {
  return {
    id,
    status: 'PAID',
    payments: { transactions: payments.map((payment_id) => ({ type: 'PAYPAL', payment_id })) },
  }
}

/** The body of an event about a resource; its id follows from type, resource and time. */
export function madeEvent(type: string, resource: object, at_s: number): string {
  const text = JSON.stringify(resource)
  const id = `WH-${idFrom(type, text, at_s)}-${idFrom(at_s, type)}`
  const version = /^(?:PAYMENT\.(?:SALE)|CUSTOMER)\./.test(type) ? {} : { resource_version: '2.0' }
  return JSON.stringify({
    id,
    event_version: '1.0',
    create_time: isoTime(at_s),
    resource_type: type.split('.')[1]?.toLowerCase(),
    ...version,
    event_type: type,
    summary: 'Made by PaidOnce',
    resource,
    links: [link('self', `/v1/notifications/webhooks-events/${id}`)],
  })
}

function money(amount_minor: bigint, currency: string) {
  return { currency_code: currency, value: paypalValue(amount_minor, currency) }
}

function references({ order }: { readonly order?: string | undefined }) {
  return order === undefined ? {} : { invoice_id: order, custom_id: order }
}

function link(rel: string, path: string) {
  return { href: API + path, rel, method: 'GET' }
}
