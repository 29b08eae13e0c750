import type { Mode, Translation } from '../../facts/event.ts'
import { booleanIn, fieldIn, recordIn, textIn, unixTimeIn } from '../field.ts'
import { parseJsonBody } from '../json-body.ts'
import { Unreadable, unreadableReason } from '../unreadable.ts'
import { readCharge } from './charge.ts'
import { readCheckoutSession } from './checkout-session.ts'
import { readDispute, readEarlyWarning } from './dispute.ts'
import { readInvoice, readInvoicePayment } from './invoice.ts'
import { readPaymentIntent } from './payment-intent.ts'
import { readRefund } from './refund.ts'
import type { Reading, StripeEvent, StripeSetup } from './stripe-event.ts'
import { readSubscription } from './subscription.ts'

export interface TranslateSetup extends StripeSetup {
  /** The Connect account whose events this endpoint is for. */
  readonly connectedAccount: string | undefined
  readonly expects: readonly string[] | null
}

/** What each kind of event means. Types that match no entry mean nothing to us. The first match holds. */
const READERS: readonly (readonly [RegExp, (event: StripeEvent) => Reading])[] = [
  [/^checkout\.session\./, readCheckoutSession],
  [/^payment_intent\./, readPaymentIntent],
  [/^charge\.dispute\./, readDispute],
  [/^(?:refund\.(?:created|updated|failed)|charge\.refund\.updated)$/, readRefund],
  [/^charge\.(?:pending|succeeded|captured|failed|expired|refunded)$/, readCharge],
  [/^radar\.early_fraud_warning\./, readEarlyWarning],
  [/^invoice\.(?:paid|payment_succeeded|payment_failed)$/, readInvoice],
  [/^invoice_payment\.paid$/, readInvoicePayment],
  [/^customer\.subscription\.(?:created|updated|deleted|paused|resumed)$/, readSubscription],
]

/** Reads an authentic body. Never throws: what cannot be read has outcome `unreadable` and the reason. */
export function translateStripe(setup: TranslateSetup, body: Uint8Array): Translation {
  let envelope: Envelope = NOTHING_READ
  try {
    const payload = parseJsonBody(body)
    envelope = readEnvelope(setup, payload)
    return { ...envelope, ...readEvent(setup, payload, envelope) }
  } catch (error) {
    return { ...envelope, outcome: 'unreadable', reason: unreadableReason(error), facts: [] }
  }
}

type Envelope = Omit<Translation, 'outcome' | 'reason' | 'facts'>
type Content = Pick<Translation, 'outcome' | 'reason' | 'facts'>

const NOTHING_READ: Envelope = {
  event_id: null,
  type: '',
  occurred_at: null,
  mode: null,
  account: null,
  api_version: null,
}

function readEnvelope(setup: TranslateSetup, payload: unknown): Envelope {
  return {
    event_id: textIn(payload, 'id') ?? null,
    type: textIn(payload, 'type') ?? '',
    occurred_at: unixTimeIn(payload, 'created') ?? null,
    mode: modeOf(payload),
    account: accountOf(setup, payload),
    api_version: textIn(payload, 'api_version') ?? null,
  }
}

function modeOf(payload: unknown): Mode | null {
  const live = booleanIn(payload, 'livemode')
  return live === undefined ? null : live ? 'live' : 'test'
}

/** The endpoint's own account when the body agrees with it, else the one that it names. */
function accountOf(setup: TranslateSetup, payload: unknown): string | null {
  const named = textIn(payload, 'account') ?? null
  // Without a name of its own the endpoint takes whatever its secret signs.
  if (setup.connectedAccount === undefined) return setup.account === 'default' ? null : named
  // An event of the platform itself must not settle in the account of a connected one.
  return named === setup.connectedAccount ? setup.account : (named ?? '(platform)')
}

function readEvent(setup: TranslateSetup, payload: unknown, envelope: Envelope): Content {
  const { type } = envelope
  if (type === '') throw new Unreadable('type is missing')
  if (textIn(payload, 'object') === 'v2.core.event') return ignored('a thin event carries no object')
  if (setup.expects !== null && !setup.expects.includes(type))
    return ignored('the endpoint does not expect this type')
  const read = READERS.find(([pattern]) => pattern.test(type))?.[1]
  if (read === undefined) return ignored('this type means nothing to us')
  const object = recordIn(fieldIn(payload, 'data'), 'object')
  if (object === undefined) throw new Unreadable('data.object is missing')
  const reading = read({
    id: envelope.event_id ?? undefined,
    type,
    created: envelope.occurred_at ?? undefined,
    object,
    setup,
  })
  if ('ignored' in reading) return ignored(reading.ignored)
  if ('not_ours' in reading) return { outcome: 'not_ours', reason: reading.not_ours, facts: [] }
  return { outcome: 'facts', reason: '', facts: reading.facts }
}

function ignored(reason: string): Content {
  return { outcome: 'ignored', reason, facts: [] }
}
