import type { OperationKind, OperationState } from './operation-state.ts'
import type { OrderStatus } from './order-state.ts'
import type { PaymentStatus, RefundStatus } from './payment-state.ts'

/** What the last look before sending comes to. The code is stable; the reason says what to do. */
export type Look =
  | { readonly go: 'send' /** It gives back all that is left. */; readonly whole: boolean }
  /** Something is under way that decides it; look again later. */
  | { readonly go: 'wait'; readonly code: string; readonly reason: string }
  /** A person has to say that it is meant. */
  | { readonly go: 'hold'; readonly code: string; readonly reason: string }
  /** It is not needed, or not possible any more. */
  | { readonly go: 'drop'; readonly code: string; readonly reason: string }

/** Another operation that may hold or have moved money of the same payment or order. */
export interface OtherOperation {
  readonly key: string
  readonly kind: OperationKind
  readonly state: OperationState
  readonly amount_minor: bigint
  /** Id of the refund or payment that the provider made; empty while unknown. */
  readonly provider_id: string
  /** A request of it was sent, and no definitive no has come. */
  readonly maybe_sent: boolean
}

export interface RefundLook {
  readonly amount_minor: bigint
  readonly currency: string
  /** A person has confirmed it although a dispute is open. */
  readonly confirmed: boolean
  /** Null when nothing is known of it. */
  readonly payment: {
    readonly status: PaymentStatus
    readonly currency: string | null
    readonly captured_minor: bigint
    readonly refunded_minor: bigint
    readonly refund_pending_minor: bigint
    readonly disputed_minor: bigint
    readonly lost_minor: bigint
    readonly reversed_minor: bigint
  } | null
  readonly refunds: readonly {
    readonly id: string
    readonly status: RefundStatus
    /** Null while nobody has told it. */
    readonly amount_minor: bigint | null
  }[]
  /** Statuses of its disputes. */
  readonly disputes: readonly string[]
  readonly others: readonly OtherOperation[]
}

/** These refunds hold no money: it stayed with us or came back. */
const GAVE_NOTHING: ReadonlySet<RefundStatus> = new Set(['failed', 'canceled', 'reversed'])
/** These are in no sum of the payment, and may hold money all the same. */
const UNCOUNTED: ReadonlySet<RefundStatus> = new Set(['unknown', 'conflicted'])
const OPEN_DISPUTE: ReadonlySet<string> = new Set(['needs_response', 'under_review', 'conflicted', 'unknown'])

/**
 * What can still be given back: what was captured, less every refund that has not failed, what disputes and banks took,
 * and what our own operations may be about to give back and nobody has told of as a refund yet. Null while a refund of
 * unknown amount is under way.
 */
export function refundable({
  payment,
  refunds,
  others,
}: Pick<RefundLook, 'payment' | 'refunds' | 'others'>): bigint | null {
  if (payment === null) return 0n
  const living = refunds.filter(({ status }) => !GAVE_NOTHING.has(status))
  if (living.some(({ amount_minor }) => amount_minor === null)) return null
  const uncounted = living
    .filter(({ status }) => UNCOUNTED.has(status))
    .reduce((sum, { amount_minor }) => sum + amount_minor!, 0n)
  const told = new Set(refunds.map(({ id }) => id))
  const reserved = others
    .filter((other) => other.kind === 'refund' && holdsMoney(other) && !told.has(other.provider_id))
    .reduce((sum, { amount_minor }) => sum + amount_minor, 0n)
  const left = payment.captured_minor - uncounted - reserved - taken(payment)
  return left > 0n ? left : 0n
}

function taken(payment: NonNullable<RefundLook['payment']>): bigint {
  const { refunded_minor, refund_pending_minor, disputed_minor, lost_minor, reversed_minor } = payment
  return refunded_minor + refund_pending_minor + disputed_minor + lost_minor + reversed_minor
}

/** Its amount may go out, or has gone out: planned ones too, so that two never promise the same money. */
function holdsMoney({ state, maybe_sent }: OtherOperation): boolean {
  switch (state) {
    case 'planned':
    case 'in_flight':
    case 'unknown':
    case 'succeeded':
      return true
    case 'abandoned':
      return maybe_sent
    default:
      return false
  }
}

/** The last look before a refund is sent, on what is known under the payment's lock. */
export function lookBeforeRefund(look: RefundLook): Look {
  const { payment, amount_minor, currency, confirmed, disputes } = look
  if (payment === null || payment.status === 'unknown' || payment.status === 'linked')
    return { go: 'hold', code: 'payment_unknown', reason: 'nothing is known of this payment yet' }
  if (payment.status === 'conflicted')
    return {
      go: 'hold',
      code: 'payment_conflicted',
      reason: 'what is told of this payment contradicts itself',
    }
  if (payment.currency !== currency)
    return {
      go: 'drop',
      code: 'currency_mismatch',
      reason: `the payment is in ${payment.currency ?? 'no known currency'}`,
    }
  if (!confirmed && disputes.some((status) => OPEN_DISPUTE.has(status))) {
    const reason = 'a dispute about this payment is open: refunding it as well may give the money back twice'
    return { go: 'hold', code: 'dispute_open', reason }
  }
  const left_minor = refundable(look)
  if (left_minor === null)
    return {
      go: 'wait',
      code: 'refund_under_way',
      reason: 'a refund whose amount is not known yet is under way',
    }
  if (left_minor < amount_minor) {
    const reason = `only ${left_minor} of the ${amount_minor} minor units asked for can be given back`
    return { go: 'drop', code: 'not_refundable', reason }
  }
  return { go: 'send', whole: left_minor === amount_minor }
}

export interface ChargeLook {
  readonly amount_minor: bigint
  readonly currency: string
  /** Null when nobody knows the order. */
  readonly order: {
    readonly status: OrderStatus
    readonly currency: string | null
    /** What it asks for and what is left of what came, minor units. */
    readonly due_minor: bigint
    readonly net_minor: bigint
  } | null
  readonly payments: readonly { readonly id: string; readonly status: PaymentStatus }[]
  readonly others: readonly OtherOperation[]
}

const UNDER_WAY: ReadonlySet<PaymentStatus> = new Set(['requires_action', 'pending', 'authorized'])
const UNDECIDED: ReadonlySet<PaymentStatus> = new Set(['unknown', 'created', ...UNDER_WAY])

/** The last look before a charge is sent, on what is known under the order's lock. */
export function lookBeforeCharge({ amount_minor, currency, order, payments, others }: ChargeLook): Look {
  if (order === null || order.status === 'awaiting_terms')
    return { go: 'hold', code: 'order_unknown', reason: 'nobody has registered this order' }
  if (order.status === 'on_hold' || payments.some(({ status }) => status === 'conflicted'))
    return { go: 'hold', code: 'order_on_hold', reason: 'what is told of this order contradicts itself' }
  if (order.status !== 'awaiting_payment' && order.status !== 'underpaid')
    return { go: 'drop', code: 'not_owed', reason: `the order is ${order.status.replace('_', ' ')}` }
  if (order.currency !== currency)
    return {
      go: 'drop',
      code: 'currency_mismatch',
      reason: `the order is in ${order.currency ?? 'no known currency'}`,
    }
  const status_of = new Map(payments.map(({ id, status }) => [id, status]))
  const charged = others.find(
    ({ kind, state, provider_id }) =>
      kind === 'charge' && state === 'succeeded' && UNDECIDED.has(status_of.get(provider_id) ?? 'unknown'),
  )
  if (charged)
    return {
      go: 'wait',
      code: 'charge_undecided',
      reason: `charge ${charged.key} was taken on and is not decided yet`,
    }
  const under_way = payments.find(({ status }) => UNDER_WAY.has(status))
  if (under_way)
    return {
      go: 'wait',
      code: 'payment_under_way',
      reason: `payment ${under_way.id} of this order is under way`,
    }
  const owed_minor = order.due_minor - order.net_minor
  if (amount_minor > owed_minor) {
    const reason = `only ${owed_minor > 0n ? owed_minor : 0n} of the ${amount_minor} minor units asked for are owed`
    return { go: 'drop', code: 'not_owed', reason }
  }
  return { go: 'send', whole: amount_minor === owed_minor }
}
