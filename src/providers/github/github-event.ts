import type { Fact } from '../../facts/fact.ts'
import type { LookupRequest } from '../../facts/lookup.ts'
import type { SubscriptionSubject } from '../../facts/subject.ts'
import type { JsonRecord } from '../field.ts'
import { cleanText, fieldIn } from '../field.ts'
import { Unreadable } from '../unreadable.ts'

/** Whose agreement a message is about, as far as it says: what the user can make an order reference of. */
export interface GitHubAgreement {
  readonly source: 'marketplace' | 'sponsors'
  /** The id of the subscription in our facts: the buying account's number, or the sponsorship's node id. */
  readonly id: string
  /** The paying GitHub account's number; undefined where GitHub hides it (a private or deleted sponsor). */
  readonly payer: string | undefined
  /** Number of the Marketplace plan, or node id of the sponsors tier; undefined where an end does not tell it. */
  readonly product: string | undefined
}

/** What the translation needs to know of the endpoint. */
export interface GitHubSetup {
  readonly namespace: string
  readonly account: string
  /** Number of the maintainer whose sponsorships these are; undefined for anybody's. */
  readonly sponsorable: string | undefined
  readonly orderReference: ((agreement: GitHubAgreement) => string | undefined) | undefined
  /** Whether Marketplace can be asked about an account. */
  readonly asksMarketplace: boolean
  /** Whether Sponsors can be asked about a sponsorship. */
  readonly asksSponsors: boolean
}

/** One event, opened. */
export interface GitHubEvent {
  readonly action: string
  readonly body: JsonRecord
  readonly setup: GitHubSetup
}

/** What one event says. */
export type Reading =
  | { readonly facts: readonly Fact[]; readonly lookups: readonly LookupRequest[] }
  | { readonly ignored: string }
  | { readonly not_ours: string }

export function subscriptionSubject(setup: GitHubSetup, id: string): SubscriptionSubject {
  return { kind: 'subscription', namespace: setup.namespace, account: setup.account, id }
}

/** GitHub numbers accounts and plans; as text, since ids are compared and never counted with. */
export function numberIn(parent: unknown, ...path: readonly string[]): string | undefined {
  const value = fieldIn(parent, ...path)
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? String(value) : undefined
}

/** @throws Unreadable naming the field, when there is none */
export function required<T>(value: T | undefined | null, field: string): T {
  if (value === undefined || value === null) throw new Unreadable(`${field} is missing or has another form`)
  return value
}

/** @throws Unreadable when the user's function gives something that is no reference */
export function orderOf(setup: GitHubSetup, agreement: GitHubAgreement): string | undefined {
  const order: unknown = setup.orderReference?.(agreement)
  if (order === undefined) return undefined
  return required(cleanText(order), 'the answer of orderReference')
}
