import type { Translation } from '../../facts/event.ts'
import { recordIn, textIn, utcTime } from '../field.ts'
import { parseJsonBody } from '../json-body.ts'
import { Unreadable, unreadableReason } from '../unreadable.ts'
import { readDispute } from './dispute.ts'
import type { DodoEvent, DodoSetup, Reading } from './dodo-event.ts'
import { readPayment } from './payment.ts'
import { readRefund } from './refund.ts'
import { readSubscription } from './subscription.ts'

export interface TranslateSetup extends DodoSetup {
  /** The business whose events this endpoint is for. */
  readonly businessId: string | undefined
  /** The brand, where several shops share the business. */
  readonly brandId: string | undefined
  readonly expects: readonly string[] | null
}

/** What each family of events means; a new member of a family is read by its object. */
const READERS: ReadonlyMap<string, (event: DodoEvent) => Reading> = new Map([
  ['payment', readPayment],
  ['refund', readRefund],
  ['dispute', readDispute],
  ['subscription', readSubscription],
])

const IGNORED: ReadonlyMap<string, string> = new Map([
  ['license_key', 'a licence key is no proof of payment'],
  ['payout', 'a payout concerns no payment of a buyer'],
  ['dunning', 'an attempt to collect is told by its payment'],
  ['abandoned_checkout', 'a checkout that was left is told by its payment'],
  ['credit', 'credits at the provider are no money'],
  ['entitlement_grant', 'what the provider delivers by itself is no money'],
])

type Envelope = Omit<Translation, 'outcome' | 'reason' | 'facts' | 'lookups'>
type Content = Pick<Translation, 'outcome' | 'reason' | 'facts' | 'lookups'>

/**
 * Reads an authentic body. Never throws: what cannot be read has outcome `unreadable` and the reason.
 * @param event_id the signed `webhook-id`; bodies have none
 */
export function translateDodo(setup: TranslateSetup, event_id: string | null, body: Uint8Array): Translation {
  let envelope: Envelope = {
    event_id,
    type: '',
    occurred_at: null,
    // Bodies do not tell live from test; the secret does.
    mode: null,
    account: null,
    api_version: null,
  }
  try {
    const payload = parseJsonBody(body)
    envelope = {
      ...envelope,
      type: textIn(payload, 'type') ?? '',
      occurred_at: utcTime(textIn(payload, 'timestamp')),
      account: accountOf(setup, payload),
    }
    return { ...envelope, ...readEvent(setup, payload, envelope) }
  } catch (error) {
    return { ...envelope, outcome: 'unreadable', reason: unreadableReason(error), facts: [] }
  }
}

/** The endpoint's own account when the body agrees with it, else the one that it names. */
function accountOf(setup: TranslateSetup, payload: unknown): string | null {
  if (setup.businessId === undefined) return null
  const named = textIn(payload, 'business_id')
  return named === setup.businessId ? setup.account : (named ?? '(none)')
}

function readEvent(setup: TranslateSetup, payload: unknown, { type, occurred_at }: Envelope): Content {
  if (type === '') throw new Unreadable('type is missing')
  if (setup.businessId !== undefined && textIn(payload, 'business_id') !== setup.businessId)
    return notOurs('it belongs to another business')
  if (setup.expects !== null && !setup.expects.includes(type))
    return ignored('the endpoint does not expect this type')
  const family = type.slice(0, Math.max(0, type.indexOf('.')))
  const read = READERS.get(family)
  if (read === undefined) return ignored(IGNORED.get(family) ?? 'this type means nothing to us')
  const object = recordIn(payload, 'data')
  if (object === undefined) throw new Unreadable('data is missing')
  const brand = textIn(object, 'brand_id')
  if (setup.brandId !== undefined && brand !== undefined && brand !== setup.brandId)
    return notOurs('it belongs to another brand')
  const reading = read({ type, at: occurred_at ?? undefined, object, setup })
  if ('ignored' in reading) return ignored(reading.ignored)
  if ('not_ours' in reading) return notOurs(reading.not_ours)
  return { outcome: 'facts', reason: '', ...reading }
}

function ignored(reason: string): Content {
  return { outcome: 'ignored', reason, facts: [] }
}

function notOurs(reason: string): Content {
  return { outcome: 'not_ours', reason, facts: [] }
}
