import type { Fact } from '../facts/fact.ts'
import type { LookupContext } from './lookup.ts'

/** A payment to be begun, for providers that send the buyer away to pay and back by a redirect. */
export interface StartRequest {
  /** Our order reference. */
  readonly order: string
  readonly amount_minor: bigint
  readonly currency: string
  /** An id that names this attempt for ever: letters, digits and dashes, unique at this provider account. */
  readonly attempt: string
  /** Where the provider sends the buyer afterwards: the address of `/return/:endpoint`. */
  readonly return_url: string
  /** What the buyer sees as the name of the purchase, where the provider wants one. */
  readonly title?: string | undefined
}

/** Where the buyer's browser is sent. */
export interface Redirect {
  readonly method: 'GET' | 'POST'
  readonly url: string
  /** Fields of the form that is posted; empty for GET. */
  readonly fields: Readonly<Record<string, string>>
}

export type StartAnswer =
  | {
      readonly outcome: 'started'
      /** The payment id that look-ups and returns will name. */
      readonly payment: string
      /** What is stored before the buyer leaves: our own amount and order. */
      readonly facts: readonly Fact[]
      readonly redirect: Redirect
    }
  | { readonly outcome: 'declined'; readonly reason: string }
  | { readonly outcome: 'unavailable'; readonly reason: string }

export type Start = (request: StartRequest, context: LookupContext) => Promise<StartAnswer>
