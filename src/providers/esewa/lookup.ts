import type { Fact } from '../../facts/fact.ts'
import { paymentMilestone } from '../../facts/payment.ts'
import { refundMilestone } from '../../facts/refund.ts'
import { callApi } from '../api-call.ts'
import type { AskAnswer } from '../ask.ts'
import { fieldIn, textIn } from '../field.ts'
import { parseJsonLexemes } from '../json-lexeme.ts'
import type { Expected, Lookup, LookupAnswer } from '../lookup.ts'
import { NPR, paisaOf } from '../rupees.ts'
import { Unreadable, unreadableReason } from '../unreadable.ts'
import type { EsewaSetup } from './payment.ts'
import { amountText, paymentSubject } from './payment.ts'

const STATUS_PATH = '/api/epay/transaction/status/'
/**
 * `NOT_FOUND` is a session that ran out, and also one that the buyer has not begun yet; only after a day is it surely
 * over. Should money come after all, it outranks that.
 */
const SESSION_OVER_MS = 86_400_000

/**
 * The transaction status API. It takes no key; it answers only to whoever knows reference, amount and product code, and
 * all three are ours: never what a browser brought.
 */
export function esewaLookup(setup: EsewaSetup): Lookup {
  return {
    async fetch({ object, id }, expected, context) {
      if (object !== 'payment')
        return { outcome: 'refused', reason: `eSewa cannot be asked about a ${object}` }
      // A payment that we did not start is nobody's: there is no amount to ask with.
      if (expected === null) return { outcome: 'not_found' }
      if (expected.currency !== NPR) return { outcome: 'refused', reason: `eSewa has ${NPR} only` }
      const call = await callApi(context, statusUrl(setup, id, expected), {
        headers: { accept: 'application/json' },
      })
      if (call.outcome !== 'answered') return call
      try {
        return readAnswer(setup, id, expected, context.now_ms, call.answer)
      } catch (error) {
        return { outcome: 'unreadable', reason: unreadableReason(error) }
      }
    },
  }
}

function statusUrl(setup: EsewaSetup, id: string, { amount_minor }: Expected): string {
  const query = new URLSearchParams({
    product_code: setup.productCode,
    total_amount: amountText(amount_minor),
    transaction_uuid: id,
  })
  return `${setup.statusBaseUrl}${STATUS_PATH}?${query}`
}

function readAnswer(
  setup: EsewaSetup,
  id: string,
  expected: Expected,
  now_ms: number,
  { status, body }: AskAnswer,
): LookupAnswer {
  if (status >= 300 && status < 400) throw new Unreadable(`eSewa answered with a redirect (HTTP ${status})`)
  const payload = parseJsonLexemes(body)
  const word = textIn(payload, 'status')
  if (word === undefined && fieldIn(payload, 'error_message') !== undefined) {
    return { outcome: 'unavailable', reason: 'eSewa says that its service is not available' }
  }
  if (word === 'NOT_FOUND' && !sessionOver(expected, now_ms)) return { outcome: 'not_found' }
  checkIdentity(setup, id, expected, payload, word)
  return { outcome: 'found', facts: factsOf(setup, id, expected, word, textIn(payload, 'ref_id')) }
}

function sessionOver({ started_at_ms }: Expected, now_ms: number): boolean {
  return started_at_ms !== null && now_ms - started_at_ms > SESSION_OVER_MS
}

/** The answer must be about what was asked; an answer that there is none may leave everything out. */
function checkIdentity(
  setup: EsewaSetup,
  id: string,
  expected: Expected,
  payload: unknown,
  word: string | undefined,
): void {
  const given = (field: string) => fieldIn(payload, field) ?? undefined
  const absent = word === 'NOT_FOUND'
  const differs = (field: string, value: string) =>
    given(field) !== value && !(absent && given(field) === undefined)
  if (differs('product_code', setup.productCode)) throw new Unreadable('product_code is not ours')
  if (differs('transaction_uuid', id)) throw new Unreadable('transaction_uuid is not the one asked about')
  if (absent) return
  if (amountIn(given('total_amount')) !== expected.amount_minor) {
    throw new Unreadable('total_amount is not the amount that we asked for')
  }
}

/** Seen as `2700.0`, `2700` and `2,700.0`. */
function amountIn(value: unknown): bigint {
  const text = typeof value === 'string' && /^\d[\d,]{0,15}(?:\.\d{1,2})?$/.test(value) ? value : ''
  return paisaOf(text.replaceAll(',', ''), 'total_amount')
}

function factsOf(
  setup: EsewaSetup,
  id: string,
  { amount_minor, order }: Expected,
  word: string | undefined,
  ref_id: string | undefined,
): readonly Fact[] {
  const subject = paymentSubject(setup, id)
  const ours = { order: order ?? undefined }
  const money = { amount_minor, currency: NPR }
  const paid = paymentMilestone(subject, { milestone: 'succeeded', attempt: ref_id, ...money, ...ours })
  const back = {
    refund: `${id}-refund`,
    milestone: 'succeeded',
    attempt: ref_id,
    origin: 'external',
  } as const
  switch (word) {
    case 'COMPLETE':
      return [paid]
    case 'PENDING':
      return [paymentMilestone(subject, { milestone: 'pending', ...ours })]
    case 'AMBIGUOUS':
      return [paymentMilestone(subject, { milestone: 'pending', reason: 'AMBIGUOUS', ...ours })]
    case 'CANCELED':
      return [paymentMilestone(subject, { milestone: 'canceled', ...ours })]
    case 'NOT_FOUND':
      return [paymentMilestone(subject, { milestone: 'expired', ...ours })]
    case 'FULL_REFUND':
      return [paid, refundMilestone(subject, { ...back, ...money, ...ours })]
    // eSewa tells no refunded figure: a refund without an amount counts nothing and calls for a person.
    case 'PARTIAL_REFUND':
      return [paid, refundMilestone(subject, { ...back, ...ours })]
    default:
      throw new Unreadable(word === undefined ? 'status is missing' : 'status is none that we know')
  }
}
