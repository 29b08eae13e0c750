import { createHash } from 'node:crypto'

/** Objects as Paddle sends them, made from a few words: for samples and the stand-in. No clock, no chance. */

export interface AttemptMade {
  readonly id: string
  readonly status: string
  readonly at_s: number
  readonly error_code?: string | undefined
}

export interface TransactionMade {
  readonly id: string
  readonly status: string
  /** What the buyer pays, tax included. */
  readonly amount_minor: bigint
  /** Part of it that is tax. Default 0. */
  readonly tax_minor?: bigint | undefined
  readonly currency: string
  readonly order?: string | undefined
  /** Default `web`. */
  readonly origin?: string | undefined
  readonly subscription?: string | undefined
  /** Newest first. */
  readonly attempts?: readonly AttemptMade[] | undefined
  readonly at_s: number
}

export interface AdjustmentMade {
  readonly id: string
  readonly action: string
  readonly status: string
  readonly payment: string
  readonly amount_minor: bigint
  readonly tax_minor?: bigint | undefined
  readonly currency: string
  readonly subscription?: string | undefined
  readonly reason?: string | undefined
  readonly created_s: number
  readonly updated_s: number
}

export interface SubscriptionMade {
  readonly id: string
  readonly status: string
  readonly amount_minor: bigint
  readonly currency: string
  readonly order?: string | undefined
  /** The transaction that began it; only `subscription.created` names it. */
  readonly payment?: string | undefined
  readonly at_s: number
  /** When the present period ends. */
  readonly ends_s: number
  /** True for a cancellation planned for the end of the period. */
  readonly ending?: boolean | undefined
}

/** An id in Paddle's form, the same for the same words. */
export function idFrom(prefix: string, ...words: readonly (string | number | bigint)[]): string {
  return `${prefix}_01${digest(words).slice(0, 24)}`
}

/** A UUID, the same for the same words. */
export function uuidFrom(...words: readonly (string | number | bigint)[]): string {
  const hex = digest(words)
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `4${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-')
}

function digest(words: readonly (string | number | bigint)[]): string {
  return createHash('sha256')
    .update(JSON.stringify(words.map(String)))
    .digest('hex')
}

/** A time as Paddle writes it, with six digits after the point. */
export function paddleTime(at_s: number): string {
  return new Date(at_s * 1000).toISOString().replace('Z', '000Z')
}

/** The JSON text of an event. */
export function eventBody(event: {
  readonly type: string
  readonly id: string
  readonly at_s: number
  readonly data: object
}): string {
  return JSON.stringify({
    event_id: event.id,
    event_type: event.type,
    occurred_at: paddleTime(event.at_s),
    notification_id: event.id.replace(/^(?:ntfsim)?evt_/, (prefix) =>
      prefix === 'evt_' ? 'ntf_' : 'ntfsimntf_',
    ),
    data: event.data,
  })
}

export function madeTransaction(made: TransactionMade) {
  const done = made.status === 'completed'
  const settled = done || made.status === 'paid'
  const at = paddleTime(made.at_s)
  const totals = transactionTotals(made, settled)
  return {
    id: made.id,
    status: made.status,
    customer_id: idFrom('ctm', 'buyer'),
    address_id: idFrom('add', 'buyer'),
    business_id: null,
    custom_data: customData(made.order),
    currency_code: made.currency,
    origin: made.origin ?? 'web',
    subscription_id: made.subscription ?? null,
    invoice_id: done ? idFrom('inv', made.id) : null,
    invoice_number: done ? '1001-10001' : null,
    collection_mode: made.status === 'billed' ? 'manual' : 'automatic',
    discount_id: null,
    billing_details: null,
    billing_period: null,
    items: [{ price: price(made), quantity: 1, proration: null }],
    details: {
      tax_rates_used: [],
      totals,
      adjusted_totals: { ...totals, retained_fee: '0' },
      payout_totals: done ? { ...totals, exchange_rate: '1', fee_rate: '0.05' } : null,
      adjusted_payout_totals: null,
      line_items: [lineItem(made)],
    },
    payments: (made.attempts ?? []).map((attempt) => madeAttempt(attempt, made.amount_minor)),
    checkout: { url: `https://shop.example/pay?_ptxn=${made.id}` },
    created_at: at,
    updated_at: at,
    billed_at: settled || made.status === 'billed' ? at : null,
    revised_at: null,
  }
}

function transactionTotals(made: TransactionMade, settled: boolean) {
  return {
    ...plainTotals(made),
    credit: '0',
    credit_to_balance: '0',
    balance: settled ? '0' : String(made.amount_minor),
    grand_total: String(made.amount_minor),
    grand_total_tax: String(made.tax_minor ?? 0n),
    fee: made.status === 'completed' ? String(made.amount_minor / 20n) : null,
    earnings: made.status === 'completed' ? String(made.amount_minor - made.amount_minor / 20n) : null,
    currency_code: made.currency,
  }
}

function plainTotals(made: { readonly amount_minor: bigint; readonly tax_minor?: bigint | undefined }) {
  return {
    subtotal: String(made.amount_minor - (made.tax_minor ?? 0n)),
    discount: '0',
    tax: String(made.tax_minor ?? 0n),
    total: String(made.amount_minor),
  }
}

function lineItem(made: TransactionMade) {
  return {
    id: idFrom('txnitm', made.id),
    price_id: idFrom('pri', 'pro'),
    quantity: 1,
    proration: null,
    tax_rate: '0',
    unit_totals: plainTotals(made),
    totals: plainTotals(made),
    product: product(),
  }
}

function price(made: { readonly amount_minor: bigint; readonly currency: string }) {
  return {
    id: idFrom('pri', 'pro'),
    product_id: idFrom('pro', 'pro'),
    description: 'Pro',
    name: 'Pro',
    type: 'standard',
    status: 'active',
    quantity: { minimum: 1, maximum: 100 },
    tax_mode: 'internal',
    unit_price: { amount: String(made.amount_minor), currency_code: made.currency },
    unit_price_overrides: [],
    billing_cycle: null,
    trial_period: null,
    custom_data: null,
    import_meta: null,
    created_at: '2025-09-01T10:00:00.000000Z',
    updated_at: '2025-09-01T10:00:00.000000Z',
  }
}

function product() {
  return {
    id: idFrom('pro', 'pro'),
    name: 'Pro',
    description: 'Pro',
    type: 'standard',
    tax_category: 'standard',
    image_url: null,
    custom_data: null,
    status: 'active',
    import_meta: null,
    created_at: '2025-09-01T09:59:00.000Z',
    updated_at: '2025-09-01T09:59:00.000Z',
  }
}

function madeAttempt(attempt: AttemptMade, amount_minor: bigint) {
  return {
    payment_attempt_id: attempt.id,
    stored_payment_method_id: uuidFrom('stored', attempt.id),
    payment_method_id: idFrom('paymtd', attempt.id),
    amount: String(amount_minor),
    status: attempt.status,
    error_code: attempt.error_code ?? null,
    method_details: {
      type: 'card',
      card: { type: 'visa', last4: '4242', expiry_month: 8, expiry_year: 2030, cardholder_name: 'Mira Lind' },
      paypal: null,
      south_korea_local_card: null,
      underlying_details: null,
    },
    created_at: paddleTime(attempt.at_s),
    captured_at: attempt.status === 'captured' ? paddleTime(attempt.at_s) : null,
  }
}

export function madeAdjustment(made: AdjustmentMade) {
  const { discount: _, ...totals } = plainTotals(made)
  const money = {
    ...totals,
    fee: '0',
    retained_fee: '0',
    earnings: totals.subtotal,
    currency_code: made.currency,
  }
  const fee = made.action === 'chargeback' ? { chargeback_fee: { amount: '1500', original: null } } : {}
  return {
    id: made.id,
    action: made.action,
    type: 'partial',
    transaction_id: made.payment,
    subscription_id: made.subscription ?? null,
    customer_id: idFrom('ctm', 'buyer'),
    reason: made.reason ?? made.action,
    credit_applied_to_balance: null,
    currency_code: made.currency,
    status: made.status,
    items: [
      {
        id: idFrom('adjitm', made.id),
        item_id: idFrom('txnitm', made.payment),
        type: 'partial',
        amount: String(made.amount_minor),
        proration: null,
        totals,
      },
    ],
    totals: money,
    payout_totals: { ...money, ...fee },
    tax_rates_used: [],
    created_at: paddleTime(made.created_s),
    updated_at: paddleTime(made.updated_s),
  }
}

export function madeSubscription(made: SubscriptionMade) {
  const at = paddleTime(made.at_s)
  const ends = paddleTime(made.ends_s)
  return {
    id: made.id,
    status: made.status,
    ...(made.payment === undefined ? {} : { transaction_id: made.payment }),
    customer_id: idFrom('ctm', 'buyer'),
    address_id: idFrom('add', 'buyer'),
    business_id: null,
    currency_code: made.currency,
    created_at: at,
    updated_at: at,
    started_at: at,
    first_billed_at: at,
    next_billed_at: made.status === 'canceled' ? null : ends,
    paused_at: made.status === 'paused' ? at : null,
    canceled_at: made.status === 'canceled' ? at : null,
    discount: null,
    collection_mode: 'automatic',
    billing_details: null,
    current_billing_period: made.status === 'canceled' ? null : { starts_at: at, ends_at: ends },
    billing_cycle: { interval: 'month', frequency: 1 },
    scheduled_change: made.ending === true ? { action: 'cancel', effective_at: ends, resume_at: null } : null,
    items: [
      {
        status: made.status === 'trialing' ? 'trialing' : 'active',
        quantity: 1,
        recurring: true,
        created_at: at,
        updated_at: at,
        previously_billed_at: at,
        next_billed_at: ends,
        trial_dates: null,
        price: price(made),
        product: product(),
      },
    ],
    custom_data: customData(made.order),
    import_meta: null,
  }
}

function customData(order: string | undefined): Readonly<Record<string, string>> | null {
  return order === undefined ? null : { order_id: order }
}
