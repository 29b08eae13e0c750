import type { Mode, Translation } from '../../../facts/event.ts'
import { recordIn, textIn, utcTime } from '../../field.ts'
import { parseJsonBody } from '../../json-body.ts'
import { Unreadable, unreadableReason } from '../../unreadable.ts'
import type { Envelope, Reading } from '../reading.ts'
import { contentOf, NOTHING_READ } from '../reading.ts'
import { readChargeback } from './chargeback.ts'
import type { MintSetup } from './payment.ts'
import { readPayment } from './payment.ts'
import { readPaymentIntent } from './payment-intent.ts'
import type { SnsMessage } from './sns-message.ts'
import { readSnsMessage } from './sns-message.ts'

export interface TranslateSetup extends MintSetup {
  /** Clients of ours: the topic carries the messages of all of Circle's customers. */
  readonly clientIds: ReadonlySet<string>
  readonly mode: Mode | null
  readonly expects: readonly string[] | null
}

/** Reads an authentic body. Never throws: what cannot be read has outcome `unreadable` and the reason. */
export function translateMint(setup: TranslateSetup, body: Uint8Array): Translation {
  let envelope: Envelope = NOTHING_READ
  try {
    const message = readSnsMessage(body)
    if (message === null) throw new Unreadable('the body is no complete SNS message')
    envelope = envelopeOf(setup, message, null)
    if (message.type !== 'Notification') return { ...envelope, ...contentOf(subscriptionReading(message)) }
    const content = parseJsonBody(Buffer.from(message.signed.Message ?? ''))
    envelope = envelopeOf(setup, message, content)
    return { ...envelope, ...contentOf(readContent(setup, content, envelope, message)) }
  } catch (error) {
    return { ...envelope, outcome: 'unreadable', reason: unreadableReason(error), facts: [] }
  }
}

function envelopeOf(setup: TranslateSetup, message: SnsMessage, content: unknown): Envelope {
  const client = clientOf(content)
  return {
    event_id: textIn(message.signed, 'MessageId') ?? null,
    type: textIn(content, 'notificationType') ?? message.type,
    occurred_at: occurredAt(content) ?? utcTime(message.signed.Timestamp),
    mode: setup.mode,
    account: client === undefined ? null : setup.clientIds.has(client.toLowerCase()) ? setup.account : client,
    api_version: `sns-${message.version}`,
  }
}

function clientOf(content: unknown): string | undefined {
  return textIn(content, 'clientId') ?? textIn(content, 'customAttributes', 'clientId')
}

function occurredAt(content: unknown): string | null {
  const object = ['payment', 'paymentIntent']
    .map((name) => recordIn(content, name))
    .find((found) => found !== undefined)
  return utcTime(textIn(object, 'updateDate'))
}

/** Nothing is visited by itself: the topic is everybody's, and a stranger may ask for a subscription in our name. */
function subscriptionReading({ type }: SnsMessage): Reading {
  return {
    ignored:
      type === 'SubscriptionConfirmation'
        ? 'Circle asks to confirm the subscription. If you have just made it, call confirmSubscription with this body within 3 days'
        : 'the subscription was ended, and nothing more will come; make it anew if that was not you',
  }
}

function readContent(
  setup: TranslateSetup,
  content: unknown,
  { type }: Envelope,
  message: SnsMessage,
): Reading {
  if (setup.expects?.includes(type) === false) return { ignored: 'the endpoint does not expect this type' }
  const client = clientOf(content)
  if (client === undefined || !setup.clientIds.has(client.toLowerCase())) {
    return { not_ours: `its client ${client ?? ''} is not among clientIds` }
  }
  const payment = recordIn(content, 'payment')
  if (payment !== undefined) return readPayment(setup, payment)
  const intent = recordIn(content, 'paymentIntent')
  if (intent !== undefined) return readPaymentIntent(setup, intent)
  const chargeback = recordIn(content, 'chargeback')
  if (chargeback !== undefined) {
    const event = textIn(message.signed, 'MessageId')
    return readChargeback(setup, chargeback, { at: utcTime(message.signed.Timestamp), event })
  }
  if (/^(?:payment|chargeback)/i.test(type)) throw new Unreadable(`${type} holds no object that we know`)
  return { ignored: 'payouts, transfers, deposits and settlements are no payments of buyers' }
}
