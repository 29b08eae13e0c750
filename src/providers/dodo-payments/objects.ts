/** Dodo's objects as its API and its messages show them, for samples and the stand-in. Nothing comes from a clock or chance. */

export interface PaymentWish {
  readonly payment: string
  /** Smallest unit of `currency`, tax included. */
  readonly amount: number
  readonly currency: string
  /** Default null: none was levied. */
  readonly tax?: number | null
  readonly order?: string | undefined
  readonly metadata?: Readonly<Record<string, string | number | boolean>>
  readonly status: string
  /** When the payment object was made, ISO 8601 UTC. */
  readonly created_at: string
  readonly error_code?: string | null
  readonly subscription?: string | null
  /** Null for what did not come through a checkout. Default: made of the payment's id. */
  readonly checkout?: string | null
  readonly product?: string | null
  readonly settlement?: { readonly amount: number; readonly currency: string; readonly tax: number }
  readonly refunds?: readonly object[]
  readonly disputes?: readonly object[]
  readonly refund_status?: string | null
}

const BUSINESS = 'bus_QxBusiness01'
const BRAND = 'brnd_QxBrand01'
const CUSTOMER = {
  customer_id: 'cus_QxMira01',
  email: 'mira.lind@example.org',
  name: 'Mira Lind',
  metadata: {},
  phone_number: null,
}
const BILLING = {
  city: 'Harbourton',
  country: 'US',
  state: 'CA',
  street: '7 Quince Street, Flat 3',
  zipcode: '90210',
}

export function paymentObject(wish: PaymentWish) {
  const { amount, currency, tax = null } = wish
  const settled = wish.settlement ?? { amount, currency, tax }
  const failed = wish.status === 'failed'
  return {
    billing: BILLING,
    brand_id: BRAND,
    business_id: BUSINESS,
    card_holder_name: 'Mira Lind',
    card_issuing_country: 'US',
    card_last_four: '4242',
    card_network: 'VISA',
    card_type: 'CREDIT',
    checkout_session_id: wish.checkout === undefined ? partOf(wish.payment, 'cks') : wish.checkout,
    created_at: wish.created_at,
    currency,
    custom_field_responses: null,
    customer: CUSTOMER,
    digital_products_delivered: false,
    discount_id: null,
    discounts: null,
    disputes: wish.disputes ?? [],
    error_code: failed ? (wish.error_code ?? 'INSUFFICIENT_FUNDS') : null,
    error_message: failed ? 'Ask Mira Lind for another payment method.' : null,
    invoice_id: null,
    invoice_url: null,
    is_multi_subscription: false,
    is_update_payment_method: false,
    metadata: { ...(wish.order === undefined ? {} : { order_id: wish.order }), ...wish.metadata },
    payment_id: wish.payment,
    payment_link: null,
    payment_method: 'card',
    payment_method_id: null,
    payment_method_type: 'credit',
    payment_provider: 'dodo',
    product_cart: wish.subscription ? null : [{ product_id: wish.product ?? 'pdt_QxBook01', quantity: 1 }],
    refund_status: wish.refund_status ?? null,
    refunds: wish.refunds ?? [],
    retry_attempt: 0,
    settlement_amount: settled.amount,
    settlement_currency: settled.currency,
    settlement_tax: settled.tax,
    status: wish.status,
    subscription_id: wish.subscription ?? null,
    subscription_ids: wish.subscription ? [wish.subscription] : [],
    tax,
    total_amount: amount,
    updated_at: null,
  }
}

export interface RefundWish {
  readonly refund: string
  readonly payment: string
  readonly amount: number
  readonly currency: string
  readonly partial: boolean
  readonly status: string
  readonly created_at: string
  readonly metadata?: Readonly<Record<string, string | number | boolean>>
}

export function refundObject(wish: RefundWish) {
  return {
    ...refundRow(wish),
    brand_id: BRAND,
    customer: CUSTOMER,
    metadata: { ...wish.metadata },
  }
}

/** A refund as lists and payments show it. */
export function refundRow(wish: RefundWish) {
  return {
    amount: wish.amount,
    business_id: BUSINESS,
    created_at: wish.created_at,
    currency: wish.currency,
    is_partial: wish.partial,
    payment_id: wish.payment,
    reason: 'Mira Lind asked for it',
    refund_id: wish.refund,
    status: wish.status,
  }
}

export interface DisputeWish {
  readonly dispute: string
  readonly payment: string
  /** Text of digits in the smallest unit, as Dodo's examples look. */
  readonly amount: string
  readonly currency: string
  readonly stage: string
  readonly status: string
  readonly created_at: string
  readonly rapid?: boolean | null
}

export function disputeObject(wish: DisputeWish) {
  return { ...disputeRow(wish), brand_id: BRAND, customer: CUSTOMER, reason: 'product_not_received' }
}

/** A dispute as lists and payments show it. */
export function disputeRow(wish: DisputeWish) {
  return {
    amount: wish.amount,
    business_id: BUSINESS,
    created_at: wish.created_at,
    currency: wish.currency,
    dispute_id: wish.dispute,
    dispute_stage: wish.stage,
    dispute_status: wish.status,
    is_resolved_by_rdr: wish.rapid ?? null,
    payment_id: wish.payment,
    payment_provider: 'dodo',
    remarks: null,
  }
}

export interface SubscriptionWish {
  readonly subscription: string
  readonly amount: number
  readonly currency: string
  readonly order?: string | undefined
  readonly status: string
  readonly created_at: string
  readonly next_billing_date: string
  readonly cancel_at_next_billing_date?: boolean
  readonly on_demand?: boolean
}

export function subscriptionObject(wish: SubscriptionWish) {
  return {
    addons: [],
    billing: BILLING,
    brand_id: BRAND,
    cancel_at_next_billing_date: wish.cancel_at_next_billing_date ?? false,
    cancelled_at: null,
    created_at: wish.created_at,
    credit_entitlement_cart: [],
    currency: wish.currency,
    customer: CUSTOMER,
    expires_at: null,
    has_payment_method: true,
    metadata: wish.order === undefined ? {} : { order_id: wish.order },
    meter_credit_entitlement_cart: [],
    meters: [],
    next_billing_date: wish.next_billing_date,
    on_demand: wish.on_demand ?? false,
    past_due_ends_at: null,
    paused_at: null,
    payment_frequency_count: 1,
    payment_frequency_interval: 'Month',
    previous_billing_date: wish.created_at,
    product_id: 'pdt_QxClub01',
    quantity: 1,
    recurring_pre_tax_amount: wish.amount,
    status: wish.status,
    subscription_id: wish.subscription,
    subscription_period_count: 10,
    subscription_period_interval: 'Year',
    tax_inclusive: false,
    trial_period_days: 0,
  }
}

const PAYLOADS = { payment: 'Payment', refund: 'Refund', dispute: 'Dispute', subscription: 'Subscription' }

/** The whole body of a message. */
export function messageBody(type: string, timestamp: string, object: object): string {
  const family = type.split('.')[0] as keyof typeof PAYLOADS
  const data = { payload_type: PAYLOADS[family], ...object }
  return JSON.stringify({ business_id: BUSINESS, data, timestamp, type })
}

/** An id of another kind with the same end: `pay_a1` and `ref` give `ref_a1`. */
export function partOf(id: string, prefix: string): string {
  return `${prefix}_${id.slice(id.indexOf('_') + 1)}`
}
