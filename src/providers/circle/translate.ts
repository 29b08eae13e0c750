import type { Translation } from '../../facts/event.ts'
import { fieldIn, recordIn, textIn, utcTime } from '../field.ts'
import { parseJsonBody } from '../json-body.ts'
import { Unreadable, unreadableReason } from '../unreadable.ts'
import type { Envelope, Reading } from './reading.ts'
import { contentOf, NOTHING_READ } from './reading.ts'
import type { WalletsSetup } from './transaction.ts'
import { modeOfChain, readTransaction } from './transaction.ts'
import { isZeroUuid } from './uuid.ts'

export interface TranslateSetup extends WalletsSetup {
  /** Subscriptions of ours; messages of others are signed by Circle just as well. */
  readonly subscriptionIds: ReadonlySet<string>
  readonly expects: readonly string[] | null
}

const DIRECTIONS = new Map([
  ['transactions.inbound', 'INBOUND'],
  ['transactions.outbound', 'OUTBOUND'],
])
const TEST = 'webhooks.test'

/** Reads an authentic body. Never throws: what cannot be read has outcome `unreadable` and the reason. */
export function translateNotification(setup: TranslateSetup, body: Uint8Array): Translation {
  let envelope: Envelope = NOTHING_READ
  try {
    const payload = parseJsonBody(body)
    envelope = readEnvelope(setup, payload)
    return { ...envelope, ...contentOf(readEvent(setup, payload, envelope.type)) }
  } catch (error) {
    return { ...envelope, outcome: 'unreadable', reason: unreadableReason(error), facts: [] }
  }
}

function readEnvelope(setup: TranslateSetup, payload: unknown): Envelope {
  const type = textIn(payload, 'notificationType') ?? ''
  const version = fieldIn(payload, 'version')
  return {
    event_id: eventId(payload, type),
    type,
    occurred_at: utcTime(textIn(payload, 'timestamp')),
    mode: DIRECTIONS.has(type) ? modeOfChain(textIn(payload, 'notification', 'blockchain')) : null,
    account: accountOf(setup, payload, type),
    api_version: typeof version === 'number' ? `${version}` : null,
  }
}

/** All test messages have one id, which is none; by their time each is an event of its own. */
function eventId(payload: unknown, type: string): string | null {
  const id = textIn(payload, 'notificationId')
  if (id !== undefined && !isZeroUuid(id)) return id
  const at = textIn(payload, 'timestamp')
  return type === TEST && at !== undefined ? `${TEST}/${at}` : null
}

function accountOf(setup: TranslateSetup, payload: unknown, type: string): string | null {
  const subscription = textIn(payload, 'subscriptionId')
  if (type === TEST || subscription === undefined) return null
  return setup.subscriptionIds.has(subscription.toLowerCase()) ? setup.account : subscription
}

function readEvent(setup: TranslateSetup, payload: unknown, type: string): Reading {
  if (type === '') throw new Unreadable('notificationType is missing')
  if (type === TEST) return { ignored: 'a test message: the endpoint is reached and its signature is good' }
  if (setup.expects?.includes(type) === false) return { ignored: 'the endpoint does not expect this type' }
  const subscription = textIn(payload, 'subscriptionId')
  if (subscription === undefined || !setup.subscriptionIds.has(subscription.toLowerCase())) {
    return { not_ours: `its subscription ${subscription ?? ''} is not among subscriptionIds` }
  }
  const direction = DIRECTIONS.get(type)
  if (direction === undefined && type.startsWith('mint.')) {
    throw new Unreadable('payments of Circle Mint have no confirmed form in this envelope; use circleMint')
  }
  if (direction === undefined && type.startsWith('transactions.'))
    throw new Unreadable('notificationType is not one of transactions that we know')
  if (direction === undefined) return { ignored: 'this type moves no money that buyers pay' }
  if (fieldIn(payload, 'version') !== 2) throw new Unreadable('version is not 2')
  const transaction = recordIn(payload, 'notification')
  if (transaction === undefined) throw new Unreadable('notification is missing')
  return readTransaction(setup, transaction, direction)
}
