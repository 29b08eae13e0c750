import type { Decision } from '../facts/decision.ts'
import { scaledAftermath } from './aftermath.ts'
import { compareInstants } from './instant.ts'
import type { OrderBook } from './order-state.ts'
import { sameCurrency } from './order-sums.ts'
import type { PaymentSummary } from './payment-state.ts'

/** What people decided about an order, ready for the sums. */
export interface Ruling {
  /** What still has to be paid for it to count as paid. */
  readonly due_minor: bigint
  /** Money that moves later than that does not pay; null for never. */
  readonly open_until: string | null
  /** By policy it pays all the same: no person closed the order. */
  readonly reopens: boolean
  /** A person reopened the order, so nobody need be asked about money that came after its end. */
  readonly reopened: boolean
  /** Payments that pay in full, whatever they brought. */
  readonly accepted: (payment: PaymentSummary) => boolean
  /** Payments that count for nothing, by their id. */
  readonly set_aside: (payment: PaymentSummary) => boolean
  /** Access is kept until then; `for_ever`, or null when nobody said so. */
  readonly kept_until: string | 'for_ever' | null
}

/** Reads the standing decisions of an order against its terms. */
export function applyDecisions(
  terms: NonNullable<OrderBook['terms']>,
  closed: OrderBook['closed'],
  decisions: readonly Decision[],
): Ruling {
  const of = (kind: Decision['decision']) => decisions.filter((decision) => decision.decision === kind)
  const written_off = of('write_off')
    .filter((decision) => decision.currency === terms.currency)
    .reduce((sum, decision) => sum + (decision.amount_minor ?? 0n), 0n)
  const due_minor = terms.amount_minor - written_off
  const reopened = of('reopen').length > 0
  return {
    due_minor: due_minor > 0n ? due_minor : 0n,
    open_until: reopened ? null : earlier(terms.expires_at, closed?.at ?? null),
    reopened,
    reopens: terms.policy.paid_after_close === 'reopen' && closed?.by_person !== true,
    accepted: naming(of('accept_payment')),
    set_aside: naming(of('treat_as_surplus')),
    kept_until: keptUntil(of('keep_access')),
  }
}

function earlier(a: string | null, b: string | null): string | null {
  if (a === null || b === null) return a ?? b
  return compareInstants(a, b) <= 0 ? a : b
}

function naming(decisions: readonly Decision[]): (payment: PaymentSummary) => boolean {
  const named = new Set(decisions.map(({ payment, account = 'default' }) => `${account}\n${payment}`))
  return ({ account, id }) => named.has(`${account}\n${id}`)
}

function keptUntil(decisions: readonly Decision[]): Ruling['kept_until'] {
  if (decisions.some((decision) => decision.until === undefined)) return 'for_ever'
  const ends = decisions.map((decision) => decision.until!).sort(compareInstants)
  return ends.at(-1) ?? null
}

/**
 * A payment that is accepted as the whole price, in the order's own money: what went back of it counts in the same
 * proportion, rounded against the buyer's access. Whatever already suffices stays as it is.
 */
export function asWholePrice(payment: PaymentSummary, currency: string, due_minor: bigint): PaymentSummary {
  const { captured_minor } = payment
  const same = sameCurrency(payment.currency, currency)
  if (captured_minor === 0n || (same && captured_minor >= due_minor)) return payment
  const scaled = (amount: bigint) => (amount * due_minor + captured_minor - 1n) / captured_minor
  return {
    ...payment,
    currency,
    captured_minor: due_minor,
    refunded_minor: scaled(payment.refunded_minor),
    refund_pending_minor: scaled(payment.refund_pending_minor),
    disputed_minor: scaled(payment.disputed_minor),
    lost_minor: scaled(payment.lost_minor),
    reversed_minor: scaled(payment.reversed_minor),
    aftermath: scaledAftermath(payment.aftermath, scaled),
  }
}
