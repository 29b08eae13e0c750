import { stripeFromMinor } from './amount.ts'

/** What a sample event is about. Ids that are left out follow from the payment's; nothing comes from a clock or chance. */
export interface StripeSample {
  /** Payment intent id, `pi_...`. */
  readonly payment: string
  /** ISO minor units of `currency`; what this event is about (a refund's own amount for refund events). */
  readonly amount_minor: bigint | number
  /** ISO 4217 code. Default `USD`. */
  readonly currency?: string
  /** Our order reference, put into the metadata as `order_id` and into the session's `client_reference_id`. */
  readonly order?: string
  /** Charge id. Default: the payment id with `ch_`. */
  readonly charge?: string
  /** Event id. Default: made of type and ids, so that the same sample has the same id. */
  readonly event?: string
  /** Unix seconds of event and object. Default 1760000000. */
  readonly at_s?: number
  /** Default false: a test event. */
  readonly live?: boolean
  /** Connect account, `acct_...`. */
  readonly account?: string
}

export interface SessionSample extends StripeSample {
  /** Session id. Default: the payment id with `cs_test_`. */
  readonly session?: string
  /** Default `paid`. */
  readonly payment_status?: 'paid' | 'unpaid'
}

export interface FailureSample extends StripeSample {
  /** Default `card_declined`. */
  readonly code?: string
}

export interface RefundSample extends StripeSample {
  /** Refund id. Default: the payment id with `re_`. */
  readonly refund?: string
  readonly status?: 'pending' | 'requires_action' | 'succeeded' | 'failed' | 'canceled'
}

export interface RefundedSample extends StripeSample {
  /** What was charged. `amount_minor` is the running total refunded. */
  readonly charged_minor: bigint | number
}

export interface DisputeSample extends StripeSample {
  /** Dispute id. Default: the payment id with `du_`. */
  readonly dispute?: string
  /** Stripe's status. Default: `needs_response`, for a closed one `lost`. */
  readonly status?: string
  /** Funds already moved, each in minor units: negative withdrawn, positive reinstated. */
  readonly movements_minor?: readonly (bigint | number)[]
}

export const DEFAULT_TIME_S = 1_760_000_000

export function intent(sample: StripeSample, status: string, more: Readonly<Record<string, unknown>>) {
  return {
    id: sample.payment,
    object: 'payment_intent',
    amount: units(sample),
    amount_capturable: 0,
    amount_details: { tip: {} },
    amount_received: 0,
    application: null,
    application_fee_amount: null,
    automatic_payment_methods: { allow_redirects: 'always', enabled: true },
    canceled_at: null,
    cancellation_reason: null,
    capture_method: 'automatic_async',
    confirmation_method: 'automatic',
    created: sample.at_s ?? DEFAULT_TIME_S,
    currency: currencyOf(sample).toLowerCase(),
    customer: null,
    description: null,
    last_payment_error: null,
    latest_charge: chargeOf(sample),
    livemode: sample.live ?? false,
    metadata: metadata(sample),
    next_action: null,
    on_behalf_of: null,
    payment_method: derived(sample, 'pm'),
    payment_method_options: {
      card: { installments: null, network: null, request_three_d_secure: 'automatic' },
    },
    payment_method_types: ['card', 'link'],
    processing: null,
    receipt_email: null,
    review: null,
    setup_future_usage: null,
    shipping: null,
    statement_descriptor: null,
    status,
    transfer_data: null,
    transfer_group: null,
    ...more,
  }
}

export function failedIntent(sample: FailureSample) {
  const code = sample.code ?? 'card_declined'
  return intent(sample, 'requires_payment_method', {
    last_payment_error: { charge: chargeOf(sample), code, type: 'card_error' },
    payment_method: null,
  })
}

export function charge(sample: StripeSample, more: Readonly<Record<string, unknown>>) {
  return {
    id: chargeOf(sample),
    object: 'charge',
    amount: units(sample),
    amount_captured: 0,
    amount_refunded: 0,
    balance_transaction: derived(sample, 'txn'),
    captured: true,
    created: sample.at_s ?? DEFAULT_TIME_S,
    currency: currencyOf(sample).toLowerCase(),
    customer: null,
    description: null,
    disputed: false,
    failure_balance_transaction: null,
    failure_code: null,
    fraud_details: {},
    livemode: sample.live ?? false,
    metadata: metadata(sample),
    outcome: {
      network_status: 'approved_by_network',
      reason: null,
      risk_level: 'normal',
      type: 'authorized',
    },
    paid: true,
    payment_intent: sample.payment,
    payment_method: derived(sample, 'pm'),
    payment_method_details: { card: { brand: 'visa', country: 'US', funding: 'credit' }, type: 'card' },
    refunded: false,
    review: null,
    status: 'succeeded',
    transfer_group: null,
    ...more,
  }
}

export function failedCharge(sample: FailureSample) {
  const failure_code = sample.code ?? 'card_declined'
  return charge(sample, { captured: false, failure_code, paid: false, status: 'failed' })
}

export function refundedCharge(sample: RefundedSample) {
  const amount = units({ ...sample, amount_minor: sample.charged_minor })
  const amount_refunded = units(sample)
  return charge(sample, {
    amount,
    amount_captured: amount,
    amount_refunded,
    refunded: amount === amount_refunded,
  })
}

export function session(sample: SessionSample, payment_status: 'paid' | 'unpaid') {
  return {
    id: sample.session ?? derived(sample, 'cs_test'),
    object: 'checkout.session',
    amount_subtotal: units(sample),
    amount_total: units(sample),
    client_reference_id: sample.order ?? null,
    created: sample.at_s ?? DEFAULT_TIME_S,
    currency: currencyOf(sample).toLowerCase(),
    currency_conversion: null,
    customer: null,
    expires_at: (sample.at_s ?? DEFAULT_TIME_S) + 86_400,
    invoice: null,
    livemode: sample.live ?? false,
    metadata: metadata(sample),
    mode: 'payment',
    payment_intent: sample.payment,
    payment_link: null,
    payment_method_types: ['card'],
    payment_status,
    status: 'complete',
    subscription: null,
    total_details: { amount_discount: 0, amount_shipping: 0, amount_tax: 0 },
    ui_mode: 'hosted_page',
  }
}

export function refund(sample: RefundSample, status: NonNullable<RefundSample['status']>) {
  const reached = sample.status ?? status
  return {
    id: sample.refund ?? derived(sample, 're'),
    object: 'refund',
    amount: units(sample),
    balance_transaction: derived(sample, 'txn'),
    charge: chargeOf(sample),
    created: sample.at_s ?? DEFAULT_TIME_S,
    currency: currencyOf(sample).toLowerCase(),
    destination_details: { card: { reference_status: 'pending', type: 'refund' }, type: 'card' },
    ...(reached === 'failed' ? { failure_reason: 'expired_or_canceled_card' } : {}),
    metadata: {},
    payment_intent: sample.payment,
    reason: 'requested_by_customer',
    status: reached,
  }
}

export function dispute(sample: DisputeSample, status: string, movements: readonly bigint[]) {
  const id = sample.dispute ?? derived(sample, 'du')
  const currency = currencyOf(sample)
  const created = sample.at_s ?? DEFAULT_TIME_S
  return {
    id,
    object: 'dispute',
    amount: units(sample),
    balance_transactions: (sample.movements_minor ?? movements).map((amount_minor, index) => ({
      id: `txn_${id}_${index}`,
      object: 'balance_transaction',
      amount: stripeFromMinor(BigInt(amount_minor), currency),
      created: DEFAULT_TIME_S,
      currency: currency.toLowerCase(),
      fee: index === 0 ? 1500 : 0,
      reporting_category: BigInt(amount_minor) < 0n ? 'dispute' : 'dispute_reversal',
      source: id,
      type: 'adjustment',
    })),
    charge: chargeOf(sample),
    created,
    currency: currency.toLowerCase(),
    evidence_details: { due_by: DEFAULT_TIME_S + 7 * 86_400, has_evidence: false, past_due: false },
    is_charge_refundable: false,
    livemode: sample.live ?? false,
    metadata: {},
    payment_intent: sample.payment,
    payment_method_details: { card: { brand: 'visa', case_type: 'chargeback' }, type: 'card' },
    reason: 'product_not_received',
    status: sample.status ?? status,
  }
}

export function units(sample: StripeSample): number {
  return stripeFromMinor(BigInt(sample.amount_minor), currencyOf(sample))
}

function currencyOf(sample: StripeSample): string {
  return sample.currency ?? 'USD'
}

function chargeOf(sample: StripeSample): string {
  return sample.charge ?? derived(sample, 'ch')
}

function derived(sample: StripeSample, prefix: string): string {
  return `${prefix}_${sample.payment.replace(/^pi_/, '')}`
}

function metadata(sample: StripeSample): Readonly<Record<string, string>> {
  return sample.order === undefined ? {} : { order_id: sample.order }
}
