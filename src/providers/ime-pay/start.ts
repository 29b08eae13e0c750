import { createHash } from 'node:crypto'
import { paymentMilestone } from '../../facts/payment.ts'
import { fieldIn } from '../field.ts'
import type { LookupContext } from '../lookup.ts'
import { addressNaming, isReturnUrl } from '../return-fields.ts'
import { NPR, rupeesText } from '../rupees.ts'
import type { Redirect, Start, StartAnswer, StartRequest } from '../start.ts'
import { Unreadable, unreadableReason } from '../unreadable.ts'
import { callImePay, checkAmount } from './api.ts'
import type { Attempt, ImePaySetup } from './payment.ts'
import { attemptOf, paymentId, paymentSubject } from './payment.ts'

const LONGEST_REF = 20

/** Has IME Pay bind a token to our reference and amount, and makes the address to which the buyer is sent with it. */
export function startImePay(setup: ImePaySetup): Start {
  return async (request, context) => {
    const reason = obstacle(request)
    if (reason !== null) return { outcome: 'declined', reason }
    return getToken(setup, request, context)
  }
}

function obstacle({ currency, amount_minor, return_url }: StartRequest): string | null {
  if (currency !== NPR) return `IME Pay takes ${NPR} only, not ${currency}`
  if (amount_minor <= 0n) return 'the amount must be above zero'
  if (!isReturnUrl(return_url)) return 'return_url must be an http or https address'
  if (return_url.includes('|')) return 'return_url has a |, which parts the fields of what IME Pay is sent'
  return null
}

/** IME Pay takes 20 characters; what is longer is named by its digest, the same each time. */
export function refIdOf(attempt: string): string {
  if (/^[A-Za-z0-9-]+$/.test(attempt) && attempt.length <= LONGEST_REF) return attempt
  return createHash('sha256').update(attempt).digest('hex').slice(0, LONGEST_REF)
}

async function getToken(
  setup: ImePaySetup,
  request: StartRequest,
  context: LookupContext,
): Promise<StartAnswer> {
  const refId = refIdOf(request.attempt)
  // The amount is written as a number with its decimals, which no JavaScript number keeps.
  const body = `{"MerchantCode":${JSON.stringify(setup.merchantCode)},"Amount":${rupeesText(request.amount_minor)},"RefId":${JSON.stringify(refId)}}`
  const call = await callImePay(setup, 'GetToken', body, context)
  if (call.outcome === 'refused') return { outcome: 'declined', reason: call.reason }
  if (call.outcome !== 'answered') return { outcome: 'unavailable', reason: call.reason }
  if (call.code !== '0')
    return { outcome: 'declined', reason: `IME Pay gave no token (ResponseCode ${call.code})` }
  try {
    const attempt = attemptOf(fieldIn(call.payload, 'RefId'), fieldIn(call.payload, 'TokenId'))
    if (attempt.refId !== refId) throw new Unreadable('RefId is not the one that was sent')
    checkAmount(call.payload, request.amount_minor)
    return started(setup, request, attempt)
  } catch (error) {
    return { outcome: 'unavailable', reason: unreadableReason(error) }
  }
}

function started(setup: ImePaySetup, request: StartRequest, attempt: Attempt): StartAnswer {
  const { amount_minor, order } = request
  const payment = paymentId(attempt)
  const subject = paymentSubject(setup, payment)
  return {
    outcome: 'started',
    payment,
    facts: [paymentMilestone(subject, { milestone: 'created', amount_minor, currency: NPR, order })],
    redirect: redirectOf(setup, request, attempt, payment),
  }
}

/** `TokenId|MerchantCode|RefId|TranAmount|Method|RespUrl|CancelUrl`. By GET the answer always brings the token back. */
function redirectOf(
  { baseUrl, merchantCode }: ImePaySetup,
  { amount_minor, return_url }: StartRequest,
  { tokenId, refId }: Attempt,
  payment: string,
): Redirect {
  const parts = [tokenId, merchantCode, refId, rupeesText(amount_minor), 'GET', return_url]
  const data = Buffer.from([...parts, addressNaming(return_url, payment)].join('|')).toString('base64')
  return {
    method: 'GET',
    url: `${baseUrl}/WebCheckout/Checkout?data=${encodeURIComponent(data)}`,
    fields: {},
  }
}
