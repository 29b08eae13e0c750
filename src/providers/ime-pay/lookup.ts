import type { Fact } from '../../facts/fact.ts'
import { paymentMilestone } from '../../facts/payment.ts'
import { fieldIn, textIn } from '../field.ts'
import type { Expected, Lookup, LookupAnswer, LookupContext } from '../lookup.ts'
import { NPR } from '../rupees.ts'
import { Unreadable, unreadableReason } from '../unreadable.ts'
import { callImePay, checkAmount, type ImePayAnswer } from './api.ts'
import type { Attempt, ImePaySetup } from './payment.ts'
import { attemptIn, paymentSubject } from './payment.ts'

const PAID = '0'
/** Codes that nobody documents are held so long; a buyer may still be at it. */
const HELD_FOR_MS = 86_400_000

interface Question {
  readonly setup: ImePaySetup
  readonly id: string
  readonly attempt: Attempt
  readonly expected: Expected
  readonly context: LookupContext
}

/** `Recheck` by our reference and the token; what it calls paid is confirmed, so that IME Pay does not wait for that. */
export function imePayLookup(setup: ImePaySetup): Lookup {
  return {
    async fetch({ object, id }, expected, context) {
      if (object !== 'payment')
        return { outcome: 'refused', reason: `IME Pay cannot be asked about a ${object}` }
      // A payment that we did not start: nobody knows how much it was to be. Strangers can name such through the
      // delivery service, so it alarms nobody.
      if (expected === null) return { outcome: 'found', facts: [] }
      if (expected.currency !== NPR) return { outcome: 'refused', reason: `IME Pay has ${NPR} only` }
      try {
        return await askAbout({ setup, id, attempt: attemptIn(id), expected, context })
      } catch (error) {
        return { outcome: 'unreadable', reason: unreadableReason(error) }
      }
    },
  }
}

async function askAbout(question: Question): Promise<LookupAnswer> {
  const checked = await recheck(question)
  if (checked.outcome !== 'answered') return checked
  const answer = answerOf(question, checked)
  if (checked.code !== PAID) return answer
  const confirmed = await confirm(question, checked)
  if (confirmed.outcome !== 'answered') return confirmed
  checkAmount(confirmed.payload, question.expected.amount_minor)
  if (confirmed.code === PAID) return answer
  // It may have been confirmed before: what the state is afterwards counts more than this no.
  const again = await recheck(question)
  return again.outcome === 'answered' ? answerOf(question, again) : again
}

function recheck({ setup, attempt, context }: Question) {
  const { merchantCode: MerchantCode } = setup
  const { refId: RefId, tokenId: TokenId } = attempt
  return callImePay(setup, 'Recheck', JSON.stringify({ MerchantCode, RefId, TokenId }), context)
}

/** With what IME Pay's own answer says, never with what a browser brought. */
function confirm({ setup, attempt, context }: Question, { payload }: ImePayAnswer) {
  const { merchantCode: MerchantCode } = setup
  const { refId: RefId, tokenId: TokenId } = attempt
  const TransactionId = textIn(payload, 'TransactionId') ?? ''
  const Msisdn = textIn(payload, 'Msisdn') ?? ''
  const body = JSON.stringify({ MerchantCode, RefId, TokenId, TransactionId, Msisdn })
  return callImePay(setup, 'Confirm', body, context)
}

/** @throws Unreadable when the answer is about something else */
function answerOf(question: Question, { payload, code }: ImePayAnswer): LookupAnswer {
  const { attempt, expected, context } = question
  if (code === '2')
    return { outcome: 'unavailable', reason: 'IME Pay says that it has an error (ResponseCode 2)' }
  if (code === PAID) {
    if (fieldIn(payload, 'RefId') !== attempt.refId) throw new Unreadable('RefId is not the one asked about')
    if (fieldIn(payload, 'TokenId') !== attempt.tokenId)
      throw new Unreadable('TokenId is not the one asked about')
    checkAmount(payload, expected.amount_minor)
  }
  return {
    outcome: 'found',
    facts: [factOf(question, code, textIn(payload, 'TransactionId'), context.now_ms)],
  }
}

function factOf(
  { setup, id, expected }: Question,
  code: string,
  transaction: string | undefined,
  now_ms: number,
): Fact {
  const subject = paymentSubject(setup, id)
  const { amount_minor, started_at_ms } = expected
  const order = expected.order ?? undefined
  switch (code) {
    case PAID:
      return paymentMilestone(subject, {
        milestone: 'succeeded',
        attempt: transaction,
        amount_minor,
        currency: NPR,
        order,
      })
    case '1':
      return paymentMilestone(subject, { milestone: 'failed', order })
    case '3':
      return paymentMilestone(subject, { milestone: 'canceled', order })
    default:
      if (started_at_ms === null || now_ms - started_at_ms > HELD_FOR_MS) {
        throw new Unreadable(`ResponseCode ${code} is none that we know`)
      }
      return paymentMilestone(subject, { milestone: 'pending', order })
  }
}
