import type { LookupContext, OperationAnswer, RefundRequest } from '../lookup.ts'
import { unreadableReason } from '../unreadable.ts'
import { paypalValue } from './amount.ts'
import type { PaypalApi } from './api.ts'
import { idOf, type PaypalSetup, requiredId } from './paypal-object.ts'
import { refundFacts } from './refund.ts'

/**
 * `POST /v2/payments/captures/{id}/refund`. The amount is always sent: without one PayPal gives back what it thinks is
 * left. A repeat under the same key answers with the latest state of the first refund.
 */
export async function refundPaypal(
  setup: PaypalSetup,
  api: PaypalApi,
  request: RefundRequest,
  context: LookupContext,
): Promise<OperationAnswer> {
  const captureId = idOf(request.payment)
  if (captureId === undefined)
    return declined('invalid_payment', 'the payment has no id that PayPal could have')
  let value: string
  try {
    value = paypalValue(request.amount_minor, request.currency)
  } catch (error) {
    return declined('invalid_amount', error instanceof Error ? error.message : 'the amount cannot be sent')
  }
  const answer = await api.call(context, (client, sdk) =>
    new sdk.PaymentsController(client).refundCapturedPayment({
      captureId,
      paypalRequestId: request.key,
      prefer: 'return=representation',
      body: { amount: { currencyCode: request.currency, value } },
    }),
  )
  switch (answer.came) {
    case 'answer':
      return accepted(setup, answer.body)
    case 'nothing':
      return declined('RESOURCE_NOT_FOUND', 'PayPal has no such capture')
    case 'no':
      return answer.status === 409
        ? { outcome: 'unknown', reason: 'PayPal is still busy with the first request under this key' }
        : declined(answer.code, `PayPal answered ${answer.status}`)
    case 'unavailable':
      return { outcome: 'unknown', reason: answer.reason, retry_after_ms: answer.retry_after_ms }
    default:
      return { outcome: 'unknown', reason: answer.reason }
  }
}

function accepted(setup: PaypalSetup, body: unknown): OperationAnswer {
  try {
    return { outcome: 'accepted', provider_id: requiredId(body, 'id'), facts: refundFacts(setup, body) }
  } catch (error) {
    return { outcome: 'unknown', reason: `the answer cannot be read (${unreadableReason(error)})` }
  }
}

function declined(code: string, reason: string): OperationAnswer {
  return { outcome: 'declined', code, reason }
}
