import type { Mode, Translation } from '../facts/event.ts'
import type { Fact } from '../facts/fact.ts'
import type { PaymentSubject, SubscriptionSubject } from '../facts/subject.ts'
import { LARGEST_MINOR } from '../money/amount.ts'
import { cleanText, textIn, utcTime } from './field.ts'
import { parseJsonBody } from './json-body.ts'
import { Unreadable, unreadableReason } from './unreadable.ts'

/** What the user's own `translate` is given beside the parsed JSON. */
export interface MessageContext {
  /** The event id that the signature covers; null where there is none. */
  readonly event_id: string | null
  /** The headers named in `storedHeaders`. No signature covers them: never decide on money by them alone. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** Makes the subject of a payment's facts from the provider's payment id. */
  readonly payment: (id: string) => PaymentSubject
  /** Makes the subject of a subscription's facts from the provider's subscription id. */
  readonly subscription: (id: string) => SubscriptionSubject
}

/** What the user's own `translate` answers: facts, or why there are none. Throw `Unreadable` for an unknown shape. */
export interface MessageReading {
  /** Event type. Default: the payload's `type`. */
  readonly type?: string | undefined
  readonly facts?: readonly Fact[] | undefined
  /** Authentic, but means nothing to us: why. */
  readonly ignored?: string | undefined
  /** Belongs to someone else: why. */
  readonly not_ours?: string | undefined
  /** The provider's event id from the body; counts only where the signature covers no other. */
  readonly event_id?: string | null | undefined
  /** ISO 8601 with a time zone. Default: the payload's `timestamp`. */
  readonly occurred_at?: string | null | undefined
  readonly mode?: Mode | null | undefined
  /** The account that the body names; has to agree with the endpoint's. */
  readonly account?: string | null | undefined
  readonly api_version?: string | null | undefined
}

/**
 * The user's own adapter code: ten lines from this sender's payload to facts. Pure and synchronous: same payload, same
 * answer, no clock, no request. What it throws makes the event `unreadable`.
 */
export type MessageTranslate = (payload: unknown, context: MessageContext) => MessageReading

export interface MessageSetup {
  readonly namespace: string
  readonly account: string
  readonly expects: readonly string[] | null
  readonly translate: MessageTranslate
}

/** Runs the user's `translate` over an authentic body and checks what it answers. Never throws. */
export function translateMessage(
  setup: MessageSetup,
  body: Uint8Array,
  signed_id: string | null,
  headers: MessageContext['headers'],
): Translation {
  let translation: Translation = { ...NOTHING_READ, event_id: signed_id }
  try {
    const payload = parseJsonBody(body)
    translation = {
      ...translation,
      type: textIn(payload, 'type') ?? '',
      occurred_at: utcTime(textIn(payload, 'timestamp')),
    }
    return combine(
      setup,
      translation,
      checkedReading(setup, setup.translate(payload, contextOf(setup, signed_id, headers))),
    )
  } catch (error) {
    return { ...translation, outcome: 'unreadable', reason: unreadableReason(error), facts: [] }
  }
}

const NOTHING_READ: Translation = {
  event_id: null,
  type: '',
  occurred_at: null,
  mode: null,
  account: null,
  api_version: null,
  outcome: 'unreadable',
  reason: '',
  facts: [],
}

function contextOf(
  { namespace, account }: MessageSetup,
  event_id: string | null,
  headers: MessageContext['headers'],
): MessageContext {
  return {
    event_id,
    headers,
    payment: (id) => ({ kind: 'payment', namespace, account, id }),
    subscription: (id) => ({ kind: 'subscription', namespace, account, id }),
  }
}

function combine(
  { expects, account }: MessageSetup,
  read: Translation,
  reading: MessageReading,
): Translation {
  const type = cleanText(reading.type) ?? read.type
  const unexpected = expects?.includes(type) === false ? 'the endpoint does not expect this type' : undefined
  const ignored = unexpected ?? reasonOf(reading.ignored)
  const not_ours = reasonOf(reading.not_ours)
  const facts = reading.facts ?? []
  const outcome = ignored ? 'ignored' : not_ours ? 'not_ours' : 'facts'
  if (outcome === 'facts' && facts.length === 0)
    throw new Unreadable('translate gave neither facts nor a reason')
  return {
    event_id: read.event_id ?? cleanText(reading.event_id) ?? null,
    type,
    occurred_at: utcTime(reading.occurred_at ?? undefined) ?? read.occurred_at,
    mode: modeOf(reading.mode),
    // An endpoint without a name of its own takes whatever its secret signs.
    account: account === 'default' ? null : (cleanText(reading.account) ?? null),
    api_version: cleanText(reading.api_version) ?? null,
    outcome,
    reason: ignored ?? not_ours ?? '',
    facts: outcome === 'facts' ? facts : [],
  }
}

function reasonOf(given: string | undefined): string | undefined {
  return given === undefined
    ? undefined
    : (cleanText(given) ?? 'the translation gave a reason that cannot be kept')
}

function modeOf(given: unknown): Mode | null {
  if (given === undefined || given === null || given === 'live' || given === 'test') return given ?? null
  throw new Unreadable("mode must be 'live' or 'test'")
}

/** Kinds that a sender may state. Terms and decisions are ours alone, however well a message is signed. */
const KINDS: ReadonlySet<string> = new Set([
  'payment_milestone',
  'payment_link',
  'refund_milestone',
  'refund_total',
  'dispute_status',
  'dispute_funds',
  'subscription_status',
])

/** The answer, once it is seen to be what its type says: users may write plain JavaScript. */
function checkedReading(setup: MessageSetup, answer: unknown): MessageReading {
  if (typeof answer !== 'object' || answer === null || 'then' in answer) {
    throw new Unreadable('translate must answer an object, and at once (it must not be async)')
  }
  const reading = answer as MessageReading
  if (reading.facts !== undefined && !Array.isArray(reading.facts))
    throw new Unreadable('facts must be a list')
  for (const fact of reading.facts ?? []) checkFact(setup, fact)
  return reading
}

function checkFact(setup: MessageSetup, fact: Fact): void {
  if (!KINDS.has(fact.kind)) throw new Unreadable(`a sender cannot state facts of kind ${fact.kind}`)
  const { subject } = fact
  if (
    subject.kind === 'order' ||
    subject.namespace !== setup.namespace ||
    subject.account !== setup.account
  ) {
    throw new Unreadable('the subject of a fact must be made with context.payment or context.subscription')
  }
  if (cleanText(subject.id) === undefined) throw new Unreadable('the id of a subject is missing')
  if (cleanText(fact.key) === undefined)
    throw new Unreadable('the key of a fact is too long or has unusual characters')
  for (const [name, value] of Object.entries(fact.content)) checkField(fact.kind, name, value)
}

function checkField(kind: string, name: string, value: unknown): void {
  if (cleanText(name) === undefined) throw new Unreadable(`a field of a ${kind} has no usable name`)
  if (value === undefined || value === null) return
  const fits = name.endsWith('_minor')
    ? typeof value === 'bigint' && value >= 0n && value <= LARGEST_MINOR
    : name === 'currency'
      ? typeof value === 'string' && /^[A-Z][A-Z0-9]{1,15}$/.test(value)
      : TIMES.has(name)
        ? utcTime(cleanText(value)) === value
        : name === 'releases_authorization'
          ? typeof value === 'boolean'
          : cleanText(value) !== undefined
  if (!fits) throw new Unreadable(`${name} of a ${kind} has a wrong type or form`)
}

const TIMES: ReadonlySet<string> = new Set(['at', 'moved_at', 'respond_by', 'period_end', 'cancel_at'])
