import type { PaymentSubject } from '../../facts/subject.ts'
import { Unreadable } from '../unreadable.ts'

/** What everything at one IME Pay merchant code has in common. */
export interface ImePaySetup {
  readonly namespace: string
  readonly account: string
  readonly merchantCode: string
  readonly baseUrl: string
  /** Headers that carry the credentials. */
  readonly headers: Readonly<Record<string, string>>
}

/** Our reference of an attempt and the token that IME Pay bound to it and to its amount; only both together can be asked about. */
export interface Attempt {
  readonly refId: string
  readonly tokenId: string
}

// Neither has the character that joins them, nor the one that parts the fields of IME Pay's texts.
const REF_ID = /^[A-Za-z0-9-]{1,20}$/
const TOKEN_ID = /^[A-Za-z0-9_-]{1,40}$/
const JOINT = '~'

/** The payment's id in facts and look-ups: `RefId~TokenId`. */
export function paymentId({ refId, tokenId }: Attempt): string {
  return `${refId}${JOINT}${tokenId}`
}

/** @throws Unreadable when one of them is missing or odd */
export function attemptOf(refId: unknown, tokenId: unknown): Attempt {
  if (typeof refId !== 'string' || !REF_ID.test(refId)) throw new Unreadable('RefId is missing or odd')
  if (typeof tokenId !== 'string' || !TOKEN_ID.test(tokenId))
    throw new Unreadable('TokenId is missing or odd')
  return { refId, tokenId }
}

/** Takes a payment's id apart. @throws Unreadable when it is none */
export function attemptIn(id: string | undefined): Attempt {
  const [refId, tokenId, ...rest] = id?.split(JOINT) ?? []
  if (rest.length > 0) throw new Unreadable('the payment id has too many parts')
  return attemptOf(refId, tokenId)
}

export function paymentSubject({ namespace, account }: ImePaySetup, id: string): PaymentSubject {
  return { kind: 'payment', namespace, account, id }
}
