import type { Translation } from '../../facts/event.ts'
import { recordIn, textIn, utcTime } from '../field.ts'
import { parseJsonBody } from '../json-body.ts'
import { Unreadable, unreadableReason } from '../unreadable.ts'
import { readAdjustment } from './adjustment.ts'
import type { PaddleEvent, PaddleSetup, Reading } from './paddle-event.ts'
import { readSubscription } from './subscription.ts'
import { readTransaction } from './transaction.ts'

export interface TranslateSetup extends PaddleSetup {
  readonly expects: readonly string[] | null
}

/** What each kind of event means. Types that match no entry mean nothing to us. */
const READERS: readonly (readonly [RegExp, (event: PaddleEvent) => Reading])[] = [
  [/^transaction\./, readTransaction],
  [/^adjustment\./, readAdjustment],
  [/^subscription\./, readSubscription],
]

/** Reads an authentic body. Never throws: what cannot be read has outcome `unreadable` and the reason. */
export function translatePaddle(setup: TranslateSetup, body: Uint8Array): Translation {
  let envelope: Envelope = NOTHING_READ
  try {
    const payload = parseJsonBody(body)
    envelope = readEnvelope(payload)
    return { ...envelope, ...readEvent(setup, payload, envelope) }
  } catch (error) {
    return { ...envelope, outcome: 'unreadable', reason: unreadableReason(error), facts: [] }
  }
}

type Envelope = Omit<Translation, 'outcome' | 'reason' | 'facts' | 'lookups'>
type Content = Pick<Translation, 'outcome' | 'reason' | 'facts' | 'lookups'>

const NOTHING_READ: Envelope = {
  event_id: null,
  type: '',
  occurred_at: null,
  mode: null,
  account: null,
  api_version: null,
}

function readEnvelope(payload: unknown): Envelope {
  return {
    event_id: textIn(payload, 'event_id') ?? null,
    type: textIn(payload, 'event_type') ?? '',
    occurred_at: utcTime(textIn(payload, 'occurred_at')),
    // Live and sandbox bodies look the same. A simulation is signed with the real secret, so only its ids give it away.
    mode: isSimulated(payload) ? 'test' : null,
    account: null,
    api_version: null,
  }
}

function isSimulated(payload: unknown): boolean {
  return ['event_id', 'notification_id'].some((name) => /^ntfsim/i.test(textIn(payload, name)?.trim() ?? ''))
}

function readEvent(setup: TranslateSetup, payload: unknown, envelope: Envelope): Content {
  const { type } = envelope
  if (type === '') throw new Unreadable('event_type is missing')
  if (setup.expects !== null && !setup.expects.includes(type))
    return ignored('the endpoint does not expect this type')
  const read = READERS.find(([pattern]) => pattern.test(type))?.[1]
  if (read === undefined) return ignored('this type means nothing to us')
  const data = recordIn(payload, 'data')
  if (data === undefined) throw new Unreadable('data is missing')
  const reading = read({
    id: envelope.event_id ?? undefined,
    type,
    told_at: envelope.occurred_at ?? undefined,
    data,
    setup,
  })
  if ('ignored' in reading) return ignored(reading.ignored)
  if ('not_ours' in reading) return { outcome: 'not_ours', reason: reading.not_ours, facts: [] }
  const { facts, lookups } = reading
  return { outcome: 'facts', reason: '', facts, ...(lookups === undefined ? {} : { lookups }) }
}

function ignored(reason: string): Content {
  return { outcome: 'ignored', reason, facts: [] }
}
