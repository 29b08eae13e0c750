import type { Translation } from '../../facts/event.ts'
import type { JsonRecord } from '../field.ts'
import { booleanIn, fieldIn, recordIn, textIn, unixTimeIn } from '../field.ts'
import { parseJsonBody } from '../json-body.ts'
import { Unreadable, unreadableReason } from '../unreadable.ts'
import { readPayment, readSubscription } from './payment.ts'
import type { Reading, YolfiEvent, YolfiSetup } from './yolfi-event.ts'

export interface TranslateSetup extends YolfiSetup {
  /** The organisation whose events this endpoint is for. */
  readonly organizationId: string | undefined
  readonly expects: readonly string[] | null
}

/** Families that concern money: a member that we do not know is raised, not passed over. */
const READERS: readonly (readonly [RegExp, (event: YolfiEvent) => Reading])[] = [
  [/^(?:payment|invoice)\./, readPayment],
  [/^subscription\./, readSubscription],
]

const OTHER_SHAPE =
  "the body has another provider's shape: the endpoint is set to an adapter. Set its adapter to NONE at Yolfi"
/** What stands at the top of the shapes that Yolfi can take on, and of none of its own. */
const OTHER_MARKS = ['object', 'meta', 'event_type', 'event_name', 'business_id']

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

/** Reads an authentic body. Never throws: what cannot be read has outcome `unreadable` and the reason. */
export function translateYolfi(setup: TranslateSetup, body: Uint8Array): Translation {
  let envelope: Envelope = NOTHING_READ
  try {
    const payload = parseJsonBody(body)
    const live = booleanIn(payload, 'livemode')
    envelope = {
      ...NOTHING_READ,
      event_id: textIn(payload, 'id') ?? null,
      type: textIn(payload, 'type') ?? '',
      occurred_at: unixTimeIn(payload, 'created') ?? null,
      mode: live === undefined ? null : live ? 'live' : 'test',
      account: accountOf(setup, payload),
    }
    return { ...envelope, ...readEvent(setup, payload, envelope) }
  } catch (error) {
    return { ...envelope, outcome: 'unreadable', reason: unreadableReason(error), facts: [] }
  }
}

/** The organisations that the body names. Its place is unconfirmed, so both are looked at; metadata never is. */
function organizationsIn(payload: unknown): readonly string[] {
  return [textIn(payload, 'orgId') ?? [], textIn(payload, 'data', 'orgId') ?? []].flat()
}

/** The endpoint's own account when the body does not disagree with it, else the organisation that it names. */
function accountOf(setup: TranslateSetup, payload: unknown): string | null {
  if (setup.organizationId === undefined) return null
  return organizationsIn(payload).find((named) => named !== setup.organizationId) ?? setup.account
}

function readEvent(setup: TranslateSetup, payload: unknown, envelope: Envelope): Content {
  const event = openNative(setup, payload, envelope)
  const { organizationId, expects } = setup
  if (organizationId !== undefined && organizationsIn(payload).some((named) => named !== organizationId))
    return { outcome: 'not_ours', reason: 'it belongs to another organisation', facts: [] }
  if (expects !== null && !expects.includes(event.type))
    return ignored('the endpoint does not expect this type')
  const read = READERS.find(([pattern]) => pattern.test(event.type))?.[1]
  if (read === undefined) return ignored('this type means nothing to us')
  const reading = read(event)
  if ('ignored' in reading) return ignored(reading.ignored)
  if ('not_ours' in reading) return { outcome: 'not_ours', reason: reading.not_ours, facts: [] }
  return { outcome: 'facts', reason: '', ...reading }
}

/** @throws Unreadable for anything that is not wholly of Yolfi's own form, before its type is looked at */
function openNative(setup: YolfiSetup, payload: unknown, envelope: Envelope): YolfiEvent {
  const data = recordIn(payload, 'data')
  const marked = OTHER_MARKS.some((name) => fieldIn(payload, name) !== undefined)
  if (marked || fieldIn(data, 'object') !== undefined) throw new Unreadable(OTHER_SHAPE)
  const { event_id: id, type, occurred_at: created, mode } = envelope
  for (const [name, value] of Object.entries({ id, type, created, livemode: mode, data })) {
    if (!value) throw new Unreadable(`${name} is missing or of another kind`)
  }
  const is_trial = id!.startsWith('evt_test_')
  if (is_trial && mode === 'live') throw new Unreadable('a test event (evt_test_) that says it is live')
  return { id: id!, type, created: created!, is_trial, data: data as JsonRecord, setup }
}

function ignored(reason: string): Content {
  return { outcome: 'ignored', reason, facts: [] }
}
