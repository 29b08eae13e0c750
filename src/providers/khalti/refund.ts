import { refundMilestone } from '../../facts/refund.ts'
import { callApi } from '../api-call.ts'
import type { LookupContext, OperationAnswer, RefundRequest } from '../lookup.ts'
import { NPR } from '../rupees.ts'
import type { KhaltiSetup } from './payment.ts'
import { paymentSubject, refundOf } from './payment.ts'
import { type KhaltiPayment, readPayment } from './read-payment.ts'

/**
 * Gives a whole payment back. Khalti takes no idempotency key, so the present state is read first: what is refunded
 * already is not sent again. Parts are declined, since nobody knows whether Khalti reads their amount as rupees or paisa.
 */
export async function refundKhalti(
  setup: KhaltiSetup,
  request: RefundRequest,
  context: LookupContext,
): Promise<OperationAnswer> {
  const read = await readPayment(setup, request.payment, context)
  if (read.outcome === 'not_found') return declined('not_found', 'Khalti does not know this payment')
  if (read.outcome === 'unavailable') {
    return { outcome: 'unknown', reason: read.reason, retry_after_ms: read.retry_after_ms }
  }
  if (read.outcome !== 'read') return { outcome: 'unknown', reason: read.reason }
  const { payment } = read
  if (request.currency !== NPR || request.amount_minor !== payment.total_minor) {
    return declined(
      'partial',
      'only a whole payment can be given back here; refund a part in the merchant panel',
    )
  }
  if (payment.status === 'refunded') return accepted(setup, payment)
  if (payment.status !== 'completed' || payment.transaction_id === undefined) {
    return declined('status', 'Khalti can refund only what is completed')
  }
  return send(setup, payment, payment.transaction_id, context)
}

async function send(
  setup: KhaltiSetup,
  payment: KhaltiPayment,
  transaction_id: string,
  context: LookupContext,
): Promise<OperationAnswer> {
  const path = `/api/merchant-transaction/${encodeURIComponent(transaction_id)}/refund/`
  const call = await callApi(context, `${setup.baseUrl}${path}`, { method: 'POST', headers: setup.headers })
  if (call.outcome === 'refused') return declined('credentials', call.reason)
  if (call.outcome !== 'answered') return { outcome: 'unknown', reason: call.reason }
  const { status } = call.answer
  if (status === 200) return accepted(setup, payment)
  if (status === 400 || status === 404) return declined(`${status}`, `Khalti declines with HTTP ${status}`)
  return { outcome: 'unknown', reason: `Khalti answered with HTTP ${status}` }
}

/** The same statement that a look-up makes afterwards. */
function accepted(setup: KhaltiSetup, { pidx, total_minor, transaction_id }: KhaltiPayment): OperationAnswer {
  const refund = refundOf(pidx)
  const money = { amount_minor: total_minor, currency: NPR }
  const content = { refund, milestone: 'succeeded', attempt: transaction_id, ...money } as const
  return {
    outcome: 'accepted',
    provider_id: refund,
    facts: [refundMilestone(paymentSubject(setup, pidx), content)],
  }
}

function declined(code: string, reason: string): OperationAnswer {
  return { outcome: 'declined', code, reason }
}
