import type { ExceptionDue } from '../facts/exception.ts'
import type { Collection } from './derive-collection.ts'
import type { DerivedDispute } from './derive-dispute.ts'
import type { PaymentState, RefundState } from './payment-state.ts'
import { amountText, raise } from './raise.ts'
import { DISPUTE_MEANING, DISPUTE_STAGE_RANK, FIRST_STAGE_WITH_MONEY } from './rank.ts'
import type { StatementOf } from './unite.ts'

/** How long a refund may wait for its payment before a person is told: messages overtake each other for minutes. */
export const REFUND_BEFORE_PAYMENT_ALERT_AFTER_MS = 3_600_000
/** How long a refund total may be ahead of the refunds known by id: their own messages usually follow at once. */
export const UNEXPLAINED_REFUND_ALERT_AFTER_MS = 600_000

/** How long a success without its amount or currency may stand: a poor message often comes just before the rich one. */
export const UNTOLD_MONEY_ALERT_AFTER_MS = 600_000

/** What a person should look at on this payment, whatever order it belongs to. */
export function paymentExceptions(
  state: PaymentState,
  collection: Collection,
  disputes: readonly DerivedDispute[],
  totals: readonly StatementOf<'refund_total'>[],
): ExceptionDue[] {
  return [
    ...untoldMoney(state, collection),
    ...state.refunds.flatMap((refund) => refundExceptions(refund, state)),
    ...unexplainedTotal(state, totals),
    ...moreBackThanCollected(state),
    ...lateReversal(state),
    ...disputes.flatMap(disputeExceptions),
  ]
}

function untoldMoney(state: PaymentState, collection: Collection): ExceptionDue[] {
  if (collection.amount_unknown) {
    const message =
      'The payment succeeded, but no message tells how much was collected. It counts as nothing until one does: look it up at the provider.'
    return [raise('amount_mismatch', '-', 'warning', message, UNTOLD_MONEY_ALERT_AFTER_MS)]
  }
  if (state.captured_minor > 0n && state.currency === null) {
    const message =
      'The payment succeeded, but no message tells its currency. It pays for nothing until one does: look it up at the provider.'
    return [raise('currency_mismatch', '-', 'warning', message, UNTOLD_MONEY_ALERT_AFTER_MS)]
  }
  return []
}

const GIVING_BACK: readonly RefundState['status'][] = ['requested', 'pending', 'requires_action', 'succeeded']

function refundExceptions(refund: RefundState, state: PaymentState): ExceptionDue[] {
  if (refund.releases_authorization) return []
  // A function, since formatting costs more than deriving and most refunds raise nothing.
  const amount = () => amountText(refund.amount_minor, refund.currency ?? state.currency)
  const due: ExceptionDue[] = []
  if (GIVING_BACK.includes(refund.status) && state.captured_minor === 0n) {
    const message = `Refund ${refund.refund} of ${amount()} is known, its payment is not. It is kept and will be counted when the payment comes: look the payment up at the provider if it does not.`
    due.push(
      raise('refund_before_payment', refund.refund, 'warning', message, REFUND_BEFORE_PAYMENT_ALERT_AFTER_MS),
    )
  }
  if (refund.status === 'succeeded' && refund.amount_minor === null) {
    const message = `Refund ${refund.refund} succeeded, but no message tells its amount. It counts as nothing until one does: look it up at the provider.`
    due.push(
      raise('unexplained_refund', refund.refund, 'warning', message, UNEXPLAINED_REFUND_ALERT_AFTER_MS),
    )
  }
  const came_back = refund.ever_succeeded && (refund.status === 'canceled' || refund.status === 'reversed')
  if (refund.status === 'failed' || came_back) {
    const message = `Refund ${refund.refund} of ${amount()} is ${refund.status}: the buyer does not have this money. Find out why at the provider and give it back another way.`
    due.push(raise('refund_failed', refund.refund, 'urgent', message))
  }
  return due
}

/**
 * A running total only ever checks. It drops when a refund fails, so the largest one is compared with all refunds known by
 * id, failed ones too: each of them may have been in that figure.
 */
function unexplainedTotal(
  state: PaymentState,
  totals: readonly StatementOf<'refund_total'>[],
): ExceptionDue[] {
  let worst: { total_minor: bigint; known_minor: bigint; currency: string } | null = null
  for (const { content } of totals) {
    const known_minor = state.refunds
      .filter(
        (refund) => content.attempt === undefined || (refund.attempt ?? content.attempt) === content.attempt,
      )
      .reduce((sum, refund) => sum + (refund.amount_minor ?? 0n), 0n)
    const gap = content.total_minor - known_minor
    if (gap > 0n && (worst === null || gap > worst.total_minor - worst.known_minor)) {
      worst = { total_minor: content.total_minor, known_minor, currency: content.currency }
    }
  }
  if (worst === null) return []
  const [total, known] = [worst.total_minor, worst.known_minor].map((sum) => amountText(sum, worst.currency))
  const message = `The provider counts ${total} as refunded, the refunds that we know add up to ${known}. List this payment's refunds at the provider.`
  return [raise('unexplained_refund', '-', 'warning', message, UNEXPLAINED_REFUND_ALERT_AFTER_MS)]
}

function moreBackThanCollected(state: PaymentState): ExceptionDue[] {
  const back = state.refunded_minor + state.lost_minor + state.reversed_minor
  if (state.captured_minor === 0n || back <= state.captured_minor) return []
  const [sum, collected, loss] = [back, state.captured_minor, back - state.captured_minor].map((amount) =>
    amountText(amount, state.currency),
  )
  const message = `More money went back than was collected: ${sum} of ${collected}, a loss of ${loss}. Compare its refunds and disputes with the provider's list.`
  return [raise('refund_exceeds_payment', '-', 'urgent', message)]
}

function lateReversal(state: PaymentState): ExceptionDue[] {
  if (state.reversed_minor === 0n) return []
  const message = `The bank took back ${amountText(state.reversed_minor, state.currency)} after this payment had succeeded. The order is owing again: ask the buyer for another payment, do not charge again by yourself.`
  return [raise('late_reversal', '-', 'urgent', message)]
}

function disputeExceptions({ state, part_unknown }: DerivedDispute): ExceptionDue[] {
  const withdrawn = state.withdrawn_minor > 0n ? state.withdrawn_minor : null
  const amount = () => amountText(state.amount_minor ?? withdrawn, state.currency)
  if (part_unknown) {
    const message = `Dispute ${state.dispute} over ${amount()} was decided in part, and no message tells which part was lost. Look it up at the provider.`
    return [raise('dispute_opened', state.dispute, 'warning', message)]
  }
  const open =
    state.status === 'unknown' || (state.status !== 'conflicted' && DISPUTE_MEANING[state.status] === 'open')
  if (!open) return []
  const takes_money = DISPUTE_STAGE_RANK[state.stage] >= FIRST_STAGE_WITH_MONEY
  const deadline =
    state.respond_by === null ? 'The provider names no deadline' : `Answer it by ${state.respond_by}`
  const message = `Dispute ${state.dispute} over ${amount()} is open at stage ${state.stage.replaceAll('_', ' ')}. ${deadline}; do not refund this payment meanwhile.`
  return [raise('dispute_opened', state.dispute, takes_money ? 'urgent' : 'warning', message)]
}
