import type { Mode, Translation } from '../../facts/event.ts'
import type { Fact } from '../../facts/fact.ts'
import type { LookupRequest } from '../../facts/lookup.ts'
import type { PaymentSubject } from '../../facts/subject.ts'
import { cleanText, textIn } from '../field.ts'
import { Unreadable } from '../unreadable.ts'

/** What one object says. */
export type Reading =
  | { readonly facts: readonly Fact[]; readonly lookups?: readonly LookupRequest[] }
  | { readonly ignored: string }
  | { readonly not_ours: string }

export type Content = Pick<Translation, 'outcome' | 'reason' | 'facts' | 'lookups'>

/** What is known of an event before its content is read. */
export interface Envelope {
  readonly event_id: string | null
  readonly type: string
  readonly occurred_at: string | null
  readonly mode: Mode | null
  readonly account: string | null
  readonly api_version: string | null
}

export const NOTHING_READ: Envelope = {
  event_id: null,
  type: '',
  occurred_at: null,
  mode: null,
  account: null,
  api_version: null,
}

export function contentOf(reading: Reading): Content {
  if ('ignored' in reading) return { outcome: 'ignored', reason: reading.ignored, facts: [] }
  if ('not_ours' in reading) return { outcome: 'not_ours', reason: reading.not_ours, facts: [] }
  const { facts, lookups = [] } = reading
  if (lookups.length === 0) return { outcome: 'facts', reason: '', facts }
  return { outcome: 'facts', reason: '', facts, lookups }
}

/** What a subject is made of. */
export interface Owner {
  readonly namespace: string
  readonly account: string
}

export function paymentSubject({ namespace, account }: Owner, id: string): PaymentSubject {
  return { kind: 'payment', namespace, account, id }
}

/** @throws Unreadable when it is missing */
export function required(parent: unknown, ...path: readonly string[]): string {
  const text = textIn(parent, ...path)
  if (text === undefined) throw new Unreadable(`${path.join('.')} is missing`)
  return text
}

/**
 * What the user's own function answers: a text, or nothing.
 * @throws Unreadable when it answers anything else
 */
export function ownAnswer(option: string, answer: unknown): string | undefined {
  if (answer === undefined || answer === null) return undefined
  const text = cleanText(answer)
  if (text === undefined) throw new Unreadable(`${option} must answer a text or nothing, and at once`)
  return text
}
