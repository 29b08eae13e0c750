import { paymentMilestone } from '../../facts/payment.ts'
import { callApi } from '../api-call.ts'
import type { AskAnswer } from '../ask.ts'
import { fieldIn, recordIn, textIn } from '../field.ts'
import { parseJsonBody } from '../json-body.ts'
import type { LookupContext } from '../lookup.ts'
import { isReturnUrl } from '../return-fields.ts'
import { NPR } from '../rupees.ts'
import type { Start, StartAnswer, StartRequest } from '../start.ts'
import { unreadableReason } from '../unreadable.ts'
import type { KhaltiSetup } from './payment.ts'
import { PIDX, paymentSubject } from './payment.ts'

/** 10 rupees, the least that Khalti takes. */
const LEAST_MINOR = 1000n

/**
 * Has Khalti begin a payment. It takes no idempotency key: when its answer is lost, the payment cannot be found again,
 * and cannot be paid either, since its address was lost with it. The next try is another payment.
 */
export function startKhalti(setup: KhaltiSetup): Start {
  return async (request, context) => {
    const reason = obstacle(request)
    if (reason !== null) return { outcome: 'declined', reason }
    return initiate(setup, request, context)
  }
}

function obstacle({ currency, amount_minor, return_url }: StartRequest): string | null {
  if (currency !== NPR) return `Khalti takes ${NPR} only, not ${currency}`
  if (amount_minor < LEAST_MINOR) return 'Khalti takes 10.00 NPR or more'
  if (amount_minor > BigInt(Number.MAX_SAFE_INTEGER)) return 'the amount is too large'
  if (!isReturnUrl(return_url)) return 'return_url must be an http or https address'
  return null
}

async function initiate(
  setup: KhaltiSetup,
  request: StartRequest,
  context: LookupContext,
): Promise<StartAnswer> {
  const call = await callApi(context, `${setup.baseUrl}/api/v2/epayment/initiate/`, {
    method: 'POST',
    headers: setup.headers,
    body: JSON.stringify({
      return_url: request.return_url,
      website_url: setup.websiteUrl,
      amount: Number(request.amount_minor),
      purchase_order_id: request.order,
      purchase_order_name: request.title ?? request.order,
    }),
  })
  if (call.outcome === 'refused') return { outcome: 'declined', reason: call.reason }
  if (call.outcome !== 'answered') return { outcome: 'unavailable', reason: call.reason }
  try {
    return readAnswer(setup, request, call.answer)
  } catch (error) {
    return { outcome: 'unavailable', reason: unreadableReason(error) }
  }
}

function readAnswer(setup: KhaltiSetup, request: StartRequest, { status, body }: AskAnswer): StartAnswer {
  const payload = parseJsonBody(body)
  if (status !== 200)
    return { outcome: 'declined', reason: `Khalti answered with HTTP ${status}${fieldsOf(payload)}` }
  const pidx = textIn(payload, 'pidx')
  const url = fieldIn(payload, 'payment_url')
  if (pidx === undefined || !PIDX.test(pidx))
    return { outcome: 'unavailable', reason: 'pidx is missing or odd' }
  if (typeof url !== 'string' || !isReturnUrl(url)) {
    return { outcome: 'unavailable', reason: 'payment_url is missing or no address' }
  }
  const { amount_minor, order } = request
  const created = { milestone: 'created', amount_minor, currency: NPR, order } as const
  return {
    outcome: 'started',
    payment: pidx,
    facts: [paymentMilestone(paymentSubject(setup, pidx), created)],
    redirect: { method: 'GET', url, fields: {} },
  }
}

/** Names of the fields that Khalti complains about, never what it says of them. */
function fieldsOf(payload: unknown): string {
  const names = Object.keys(recordIn({ payload }, 'payload') ?? {}).filter((name) =>
    /^[a-z_]{1,40}$/.test(name),
  )
  return names.length === 0 ? '' : `, about ${names.join(', ')}`
}
