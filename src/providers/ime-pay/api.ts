import { callApi } from '../api-call.ts'
import { fieldIn } from '../field.ts'
import { parseJsonLexemes } from '../json-lexeme.ts'
import type { LookupContext } from '../lookup.ts'
import { paisaOf } from '../rupees.ts'
import { Unreadable, unreadableReason } from '../unreadable.ts'
import type { ImePaySetup } from './payment.ts'

/** An answer of IME Pay, whose numbers are texts: tokens are longer than a number can hold. */
export interface ImePayAnswer {
  readonly outcome: 'answered'
  /** Digits. */
  readonly code: string
  readonly payload: unknown
}

type Call = Awaited<ReturnType<typeof callApi>>
type NoAnswer =
  | Exclude<Call, { outcome: 'answered' }>
  | { readonly outcome: 'unreadable'; readonly reason: string }

/** @param body JSON text, since an amount must keep its decimals */
export async function callImePay(
  setup: ImePaySetup,
  path: 'GetToken' | 'Confirm' | 'Recheck',
  body: string,
  context: LookupContext,
): Promise<ImePayAnswer | NoAnswer> {
  const call = await callApi(context, `${setup.baseUrl}/api/Web/${path}`, {
    method: 'POST',
    headers: { ...setup.headers, 'content-type': 'application/json' },
    body,
  })
  if (call.outcome !== 'answered') return call
  try {
    if (call.answer.status !== 200) throw new Unreadable(`IME Pay answered with HTTP ${call.answer.status}`)
    const payload = parseJsonLexemes(call.answer.body)
    return { outcome: 'answered', code: responseCode(payload), payload }
  } catch (error) {
    return { outcome: 'unreadable', reason: unreadableReason(error) }
  }
}

/** Compared as text: loosely, null and nothing would be equal to 0, which means success. */
function responseCode(payload: unknown): string {
  const code = fieldIn(payload, 'ResponseCode')
  if (typeof code !== 'string' || !/^(?:0|[1-9][0-9]{0,5})$/.test(code)) {
    throw new Unreadable('ResponseCode is missing or no number')
  }
  return code
}

/** Where the answer repeats an amount, it must be ours. @throws Unreadable */
export function checkAmount(payload: unknown, amount_minor: bigint): void {
  for (const field of ['Amount', 'TranAmount']) {
    const told = fieldIn(payload, field) ?? null
    if (told !== null && paisaOf(told, field) !== amount_minor) {
      throw new Unreadable(`${field} is not the amount that we asked for`)
    }
  }
}
