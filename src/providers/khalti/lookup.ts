import type { Fact } from '../../facts/fact.ts'
import { paymentMilestone } from '../../facts/payment.ts'
import { refundMilestone } from '../../facts/refund.ts'
import type { Expected, Lookup } from '../lookup.ts'
import { NPR } from '../rupees.ts'
import { Unreadable, unreadableReason } from '../unreadable.ts'
import type { KhaltiSetup } from './payment.ts'
import { PIDX, paymentSubject, refundOf } from './payment.ts'
import { type KhaltiPayment, readPayment, WITHOUT_MONEY } from './read-payment.ts'
import { refundKhalti } from './refund.ts'

/** `/epayment/lookup/`, asked with the pidx that we stored, and Khalti's refund call. */
export function khaltiLookup(setup: KhaltiSetup): Lookup {
  return {
    async fetch({ object, id }, expected, context) {
      if (object !== 'payment')
        return { outcome: 'refused', reason: `Khalti cannot be asked about a ${object}` }
      // A pidx that was not issued for one of our orders may be somebody's own small payment.
      if (expected === null || !PIDX.test(id)) return { outcome: 'not_found' }
      if (expected.currency !== NPR) return { outcome: 'refused', reason: `Khalti has ${NPR} only` }
      const read = await readPayment(setup, id, context)
      if (read.outcome !== 'read') return read
      try {
        return { outcome: 'found', facts: factsOf(setup, read.payment, expected) }
      } catch (error) {
        return { outcome: 'unreadable', reason: unreadableReason(error) }
      }
    },
    refund: (request, context) => refundKhalti(setup, request, context),
  }
}

/** @throws Unreadable when the amount is not ours, or the status says nothing that we know */
function factsOf(setup: KhaltiSetup, payment: KhaltiPayment, expected: Expected): readonly Fact[] {
  const { pidx, status, total_minor, transaction_id: attempt, refunded } = payment
  const { amount_minor } = expected
  if (total_minor !== amount_minor) throw new Unreadable('total_amount is not the amount that we asked for')
  const subject = paymentSubject(setup, pidx)
  const order = expected.order ?? undefined
  const milestone = WITHOUT_MONEY.get(status)
  if (milestone !== undefined) return [paymentMilestone(subject, { milestone, order })]
  const money = { amount_minor, currency: NPR }
  const paid = paymentMilestone(subject, { milestone: 'succeeded', attempt, ...money, order })
  const back = { refund: refundOf(pidx), milestone: 'succeeded', attempt, order } as const
  switch (status) {
    case 'completed':
      if (refunded !== false) throw new Unreadable('refunded is not false although status is Completed')
      return [paid]
    case 'refunded':
      return [paid, refundMilestone(subject, { ...back, ...money })]
    // Khalti tells no refunded figure: a refund without an amount counts nothing and calls for a person.
    case 'partially refunded':
      return [paid, refundMilestone(subject, back)]
    default:
      throw new Unreadable('status is none that we know')
  }
}
