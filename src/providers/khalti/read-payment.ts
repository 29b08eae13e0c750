import { parseMinor } from '../../money/amount.ts'
import { callApi } from '../api-call.ts'
import type { AskAnswer } from '../ask.ts'
import { fieldIn, textIn } from '../field.ts'
import { parseJsonBody } from '../json-body.ts'
import type { LookupAnswer, LookupContext } from '../lookup.ts'
import { Unreadable, unreadableReason } from '../unreadable.ts'
import type { KhaltiSetup } from './payment.ts'

/** Statuses that tell of no money, and what they mean. */
export const WITHOUT_MONEY: ReadonlyMap<string, 'pending' | 'expired' | 'canceled' | 'failed'> = new Map([
  ['pending', 'pending'],
  ['initiated', 'pending'],
  ['expired', 'expired'],
  ['user canceled', 'canceled'],
  ['canceled', 'canceled'],
  ['failed', 'failed'],
])

/** What the look-up says of one payment. */
export interface KhaltiPayment {
  readonly pidx: string
  /** In lower case: Khalti's documents write one status in two ways. */
  readonly status: string
  readonly total_minor: bigint
  /** Khalti's id of the payment; undefined until it is paid. */
  readonly transaction_id: string | undefined
  readonly refunded: boolean | undefined
}

type Read =
  | { readonly outcome: 'read'; readonly payment: KhaltiPayment }
  | Exclude<LookupAnswer, { outcome: 'found' }>

export async function readPayment(setup: KhaltiSetup, pidx: string, context: LookupContext): Promise<Read> {
  const call = await callApi(context, `${setup.baseUrl}/api/v2/epayment/lookup/`, {
    method: 'POST',
    headers: setup.headers,
    body: JSON.stringify({ pidx }),
  })
  if (call.outcome !== 'answered') return call
  try {
    return readAnswer(pidx, call.answer)
  } catch (error) {
    return { outcome: 'unreadable', reason: unreadableReason(error) }
  }
}

/** Money is told with 200 only; two of the final states come with 400 and say so in the body. */
function readAnswer(pidx: string, { status: http, body }: AskAnswer): Read {
  if (http !== 200 && http !== 400 && http !== 404) throw new Unreadable(`Khalti answered with HTTP ${http}`)
  const payload = parseJsonBody(body)
  const status = textIn(payload, 'status')?.toLowerCase()
  if (status === undefined) {
    if (fieldIn(payload, 'detail') === 'Not found.') return { outcome: 'not_found' }
    throw new Unreadable(`status is missing from an answer with HTTP ${http}`)
  }
  if (textIn(payload, 'pidx') !== pidx) throw new Unreadable('pidx is not the one asked about')
  if (http !== 200 && !WITHOUT_MONEY.has(status)) throw new Unreadable(`status does not go with HTTP ${http}`)
  const total = parseMinor(fieldIn(payload, 'total_amount'))
  if (!total.ok) throw new Unreadable(`total_amount is not an exact amount (${total.problem})`)
  const transaction_id = textIn(payload, 'transaction_id')
  const refunded = fieldIn(payload, 'refunded')
  const payment = { pidx, status, total_minor: total.amount_minor, transaction_id }
  return {
    outcome: 'read',
    payment: { ...payment, refunded: typeof refunded === 'boolean' ? refunded : undefined },
  }
}
