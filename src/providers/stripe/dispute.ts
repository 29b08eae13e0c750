import type { DisputeStage, DisputeStatus } from '../../facts/dispute.ts'
import { disputeFunds, disputeStatus } from '../../facts/dispute.ts'
import type { FactOf } from '../../facts/fact.ts'
import type { PaymentSubject } from '../../facts/subject.ts'
import { booleanIn, idIn, listIn, textIn, unixTimeIn } from '../field.ts'
import { Unreadable } from '../unreadable.ts'
import { moneyIn } from './amount.ts'
import { orderReference } from './order-reference.ts'
import type { Reading, StripeEvent } from './stripe-event.ts'
import { eventTime, ownId, paymentSubject } from './stripe-event.ts'

/**
 * An appeal stays in the stage of the chargeback: the closing event does not say that it closes an appeal, and a
 * later stage would then stay undecided for ever.
 */
const STATUSES: ReadonlyMap<string, DisputeStatus> = new Map([
  ['warning_needs_response', 'needs_response'],
  ['warning_under_review', 'under_review'],
  ['warning_closed', 'withdrawn'],
  ['needs_response', 'needs_response'],
  ['under_review', 'under_review'],
  ['appeal_needs_response', 'needs_response'],
  ['appeal_under_review', 'under_review'],
  ['won', 'won'],
  ['lost', 'lost'],
  ['prevented', 'prevented'],
  // Versions of long ago: closed because the charge had been refunded.
  ['charge_refunded', 'withdrawn'],
])

/**
 * `charge.dispute.*`: status from the object (an event that money came back may still say lost), and each movement of
 * money as a fact of its own.
 */
export function readDispute(event: StripeEvent): Reading {
  const { object, setup } = event
  const subject = disputedPayment(event)
  const raw = textIn(object, 'status') ?? ''
  const status = STATUSES.get(raw)
  if (status === undefined) throw new Unreadable('data.object.status is not a dispute status that we know')
  const funds = readFunds(event, subject)
  return {
    facts: [
      disputeStatus(subject, {
        dispute: ownId(event),
        stage: stageOf(event, raw, funds.length > 0),
        status,
        at: eventTime(event),
        event: event.id,
        ...moneyIn(object, 'amount'),
        attempt: idIn(object, 'charge'),
        respond_by: unixTimeIn(object, 'evidence_details', 'due_by'),
        reason: textIn(object, 'reason'),
        order: orderReference(setup.orderReference, [object]).order,
      }),
      ...funds,
    ],
  }
}

/** `radar.early_fraud_warning.*`: the card's bank reports fraud; no money has moved. */
export function readEarlyWarning(event: StripeEvent): Reading {
  const { object } = event
  return {
    facts: [
      disputeStatus(disputedPayment(event), {
        dispute: ownId(event),
        stage: 'early_warning',
        // No longer actionable: refunded or disputed meanwhile, which other events tell.
        status: booleanIn(object, 'actionable') === false ? 'withdrawn' : 'needs_response',
        at: eventTime(event),
        event: event.id,
        attempt: idIn(object, 'charge'),
        reason: textIn(object, 'fraud_type'),
      }),
    ],
  }
}

function disputedPayment(event: StripeEvent): PaymentSubject {
  const payment = idIn(event.object, 'payment_intent') ?? idIn(event.object, 'charge')
  if (payment === undefined) throw new Unreadable('data.object names neither payment_intent nor charge')
  return paymentSubject(event.setup, payment)
}

function stageOf(event: StripeEvent, status: string, moneyMoved: boolean): DisputeStage {
  if (status.startsWith('warning_')) return 'inquiry'
  if (moneyMoved) return 'chargeback'
  const method = textIn(event.object, 'payment_method_details', 'type') ?? 'card'
  const caseType = textIn(event.object, 'payment_method_details', method, 'case_type')
  return caseType === 'inquiry' ? 'inquiry' : 'chargeback'
}

/** Negative movements were withdrawn, positive ones reinstated; in the currency of our balance, without the fee. */
function readFunds(event: StripeEvent, subject: PaymentSubject): readonly FactOf<'dispute_funds'>[] {
  return listIn(event.object, 'balance_transactions').flatMap((movement) => {
    const transaction = textIn(movement, 'id')
    if (transaction === undefined) return []
    const { amount_minor, currency } = moneyIn(movement, 'amount', { negative: true })
    if (amount_minor === 0n) return []
    const content = {
      dispute: ownId(event),
      direction: amount_minor < 0n ? ('withdrawn' as const) : ('reinstated' as const),
      amount_minor: amount_minor < 0n ? -amount_minor : amount_minor,
      currency,
      transaction,
      moved_at: unixTimeIn(movement, 'created'),
    }
    return disputeFunds(subject, content)
  })
}
