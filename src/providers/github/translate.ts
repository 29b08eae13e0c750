import type { Translation } from '../../facts/event.ts'
import type { Delivery } from '../contract.ts'
import type { JsonRecord } from '../field.ts'
import { cleanText, recordIn, textIn, utcTime } from '../field.ts'
import { singleHeader } from '../header.ts'
import { parseJsonBody } from '../json-body.ts'
import { Unreadable, unreadableReason } from '../unreadable.ts'
import type { GitHubSetup, Reading } from './github-event.ts'
import { numberIn } from './github-event.ts'
import { readMarketplace } from './marketplace.ts'
import { payloadBytes, payloadDigest } from './payload.ts'
import { readSponsorship } from './sponsorship.ts'

export interface TranslateSetup extends GitHubSetup {
  readonly expects: readonly string[] | null
}

/** Names the event that a delivery claims to be. No signature covers it. */
export const EVENT_HEADER = 'x-github-event'

const READERS = { marketplace_purchase: readMarketplace, sponsorship: readSponsorship } as const
type Shape = keyof typeof READERS

type Envelope = Omit<Translation, 'outcome' | 'reason' | 'facts' | 'lookups'>
type Content = Pick<Translation, 'outcome' | 'reason' | 'facts' | 'lookups'>

const NOTHING_READ: Envelope = {
  event_id: null,
  type: 'unknown',
  occurred_at: null,
  mode: null,
  account: null,
  api_version: null,
}

/** Reads an authentic delivery. Never throws: what cannot be read has outcome `unreadable` and the reason. */
export function translateGitHub(setup: TranslateSetup, delivery: Delivery): Translation {
  let envelope = NOTHING_READ
  try {
    const json = payloadBytes(delivery.body)
    const body = recordIn(parseJsonBody(json))
    if (body === undefined) throw new Unreadable('the body is no object')
    const shape = shapeOf(body)
    envelope = readEnvelope(body, shape, singleHeader(delivery, EVENT_HEADER), payloadDigest(json))
    return {
      ...envelope,
      ...readEvent(setup, body, shape, singleHeader(delivery, EVENT_HEADER), envelope.type),
    }
  } catch (error) {
    return { ...envelope, outcome: 'unreadable', reason: unreadableReason(error), facts: [] }
  }
}

/** What the signed body itself is, whatever a header says. */
function shapeOf(body: JsonRecord): Shape | 'ping' | null {
  const purchase = recordIn(body, 'marketplace_purchase') !== undefined
  const sponsorship = recordIn(body, 'sponsorship') !== undefined
  if (purchase && sponsorship) throw new Unreadable('the body is two events at once')
  if (purchase) return 'marketplace_purchase'
  if (sponsorship) return 'sponsorship'
  return textIn(body, 'zen') !== undefined && recordIn(body, 'hook') !== undefined ? 'ping' : null
}

function readEnvelope(
  body: JsonRecord,
  shape: Shape | 'ping' | null,
  claimed: string | undefined | null,
  digest: string,
): Envelope {
  const action = actionOf(body)
  const event = shape ?? cleanText(claimed)?.slice(0, 60) ?? 'unknown'
  const type = action === undefined ? event : `${event}.${action}`
  return {
    ...NOTHING_READ,
    event_id: [shape === null ? 'other' : type, ...identity(body, shape), digest].join('/'),
    type,
    occurred_at: shape === null ? null : occurredAt(body, action),
  }
}

/**
 * GitHub signs no event id. Ours is made of the signed body alone: what it is about, so that a person can find it, and
 * the digest, so that neither a replay with a new `X-GitHub-Delivery` is a new event nor the way back from a failed
 * upgrade a repeat of an earlier change.
 */
function identity(body: JsonRecord, shape: Shape | 'ping' | null): readonly string[] {
  const effective = utcTime(textIn(body, 'effective_date'))
  if (shape === 'marketplace_purchase') {
    const purchase = recordIn(body, shape)
    return [
      numberIn(purchase, 'account', 'id'),
      numberIn(purchase, 'plan', 'id'),
      effective,
      textIn(purchase, 'billing_cycle'),
      numberIn(purchase, 'unit_count'),
    ].map(shortPart)
  }
  if (shape !== 'sponsorship') return []
  const tier = textIn(body, shape, 'tier', 'node_id')
  return [textIn(body, shape, 'node_id'), tier, effective].map(shortPart)
}

function shortPart(part: string | undefined | null): string {
  return part?.slice(0, 40) ?? '-'
}

function actionOf(body: JsonRecord): string | undefined {
  const action = textIn(body, 'action')
  return action !== undefined && /^[a-z_]{1,60}$/.test(action) ? action : undefined
}

/** A change that is announced has not happened at its date. */
function occurredAt(body: JsonRecord, action: string | undefined): string | null {
  if (action?.startsWith('pending_')) return null
  const created = action === 'created' ? textIn(body, 'sponsorship', 'created_at') : undefined
  return utcTime(textIn(body, 'effective_date') ?? created)
}

function readEvent(
  setup: TranslateSetup,
  body: JsonRecord,
  shape: Shape | 'ping' | null,
  claimed: string | undefined | null,
  type: string,
): Content {
  checkClaim(shape, claimed)
  if (setup.expects !== null && !setup.expects.includes(type))
    return contentOf({ ignored: 'the endpoint does not expect this type' })
  if (shape === 'ping') return contentOf({ ignored: 'a ping, sent when the hook is made' })
  if (shape === null) return contentOf({ ignored: 'this event means nothing to us' })
  const action = actionOf(body)
  if (action === undefined) throw new Unreadable('action is missing or has another form')
  return contentOf(READERS[shape]({ action, body, setup }))
}

/** One event can be presented as another without breaking the signature; the body has to be what the header claims. */
function checkClaim(shape: Shape | 'ping' | null, claimed: string | undefined | null): void {
  if (claimed === undefined || claimed === shape) return
  if (shape === null && !(claimed !== null && Object.hasOwn(READERS, claimed))) return
  throw new Unreadable('the body is not the event that X-GitHub-Event claims')
}

function contentOf(reading: Reading): Content {
  if ('ignored' in reading) return { outcome: 'ignored', reason: reading.ignored, facts: [] }
  if ('not_ours' in reading) return { outcome: 'not_ours', reason: reading.not_ours, facts: [] }
  const { facts, lookups } = reading
  return { outcome: 'facts', reason: '', facts, lookups }
}
