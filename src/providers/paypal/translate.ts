import type { Mode, Translation } from '../../facts/event.ts'
import type { Fact } from '../../facts/fact.ts'
import type { LookupRequest } from '../../facts/lookup.ts'
import { type PaymentMilestone, paymentMilestone } from '../../facts/payment.ts'
import { type JsonRecord, listIn, recordIn, textIn, utcTime } from '../field.ts'
import { parseJsonBody } from '../json-body.ts'
import { Unreadable, unreadableReason } from '../unreadable.ts'
import type { PaypalEnvironment } from './certificate.ts'
import { idOf, linkedId, type PaypalSetup, paymentSubject, requiredId } from './paypal-object.ts'

export interface TranslateSetup extends PaypalSetup {
  readonly environment: PaypalEnvironment
  readonly expects: readonly string[] | null
}

/**
 * What a kind of event makes us ask, and the most that is said meanwhile. The signature does not cover the body, so
 * neither an amount, nor an order, nor an end of anything is believed: the object is named, and the look-up tells.
 */
interface Hint {
  readonly lookups: readonly LookupRequest[]
  /** The payment, or what stands in for it, whose row appears while the answer is awaited. */
  readonly payment?: string | undefined
  readonly milestone?: Extract<PaymentMilestone, 'created' | 'pending'>
}

const READERS: readonly (readonly [RegExp, (resource: JsonRecord, type: string) => Hint])[] = [
  [/^CHECKOUT\.(?:ORDER\.|PAYMENT-APPROVAL\.REVERSED$)/, readOrderEvent],
  [/^PAYMENT\.AUTHORIZATION\./, (resource) => paymentHint('authorization', requiredId(resource, 'id'))],
  [/^PAYMENT\.CAPTURE\.(?:PENDING|COMPLETED|DENIED|DECLINED)$/, readCaptureEvent],
  [/^PAYMENT\.(?:CAPTURE\.REFUNDED|REFUND\..+)$/, (resource) => givenBack('refund', resource)],
  [/^PAYMENT\.CAPTURE\.REVERSED$/, (resource) => givenBack('reversal', resource)],
  [
    /^PAYMENT\.SALE\.(?:COMPLETED|PENDING|DENIED)$/,
    (resource) => paymentHint('sale', requiredId(resource, 'id')),
  ],
  [/^PAYMENT\.SALE\.REFUNDED$/, (resource) => saleGivenBack('sale_refund', resource)],
  [/^PAYMENT\.SALE\.REVERSED$/, (resource) => saleGivenBack('sale_reversal', resource)],
  [/^BILLING\.SUBSCRIPTION\./, readSubscriptionEvent],
  [/^CUSTOMER\.DISPUTE\./, readDisputeEvent],
  [/^INVOICING\.INVOICE\.PAID$/, readInvoiceEvent],
  // New members of these families concern money too: what became of it, the look-up tells.
  [/^PAYMENT\.CAPTURE\./, readCaptureEvent],
  [/^PAYMENT\.SALE\./, (resource) => paymentHint('sale', requiredId(resource, 'id'))],
]

/** Reads an authentic body. Never throws: what cannot be read has outcome `unreadable` and the reason. */
export function translatePaypal(setup: TranslateSetup, body: Uint8Array): Translation {
  let envelope: Envelope = NOTHING_READ
  try {
    const payload = parseJsonBody(body)
    envelope = readEnvelope(setup, payload)
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

function readEnvelope(setup: TranslateSetup, payload: unknown): Envelope {
  const merchant = merchantOf(recordIn(payload, 'resource'))
  return {
    event_id: textIn(payload, 'id') ?? null,
    type: textIn(payload, 'event_type') ?? '',
    occurred_at: utcTime(textIn(payload, 'create_time')),
    mode: modeOf(setup, payload),
    account: isForeign(setup, merchant) ? merchant! : null,
    api_version: textIn(payload, 'resource_version') ?? null,
  }
}

/** The webhook id and the certificate have said which system it is; links to the other one are an alarm. */
function modeOf(setup: TranslateSetup, payload: unknown): Mode {
  const hosts = [...listIn(payload, 'links'), ...listIn(payload, 'resource', 'links')].map(
    (link) => /^https:\/\/([^/]+)\//.exec(textIn(link, 'href') ?? '')?.[1],
  )
  const sandbox = hosts.some((host) => host?.endsWith('.sandbox.paypal.com'))
  const live = hosts.some((host) => host === 'api.paypal.com' || host === 'api-m.paypal.com')
  if (sandbox === live) return setup.environment === 'live' ? 'live' : 'test'
  return live ? 'live' : 'test'
}

function merchantOf(resource: JsonRecord | undefined): string | undefined {
  return (
    textIn(resource, 'payee', 'merchant_id') ??
    textIn(listIn(resource, 'purchase_units')[0], 'payee', 'merchant_id') ??
    textIn(listIn(resource, 'disputed_transactions')[0], 'seller', 'merchant_id')
  )
}

function isForeign(setup: PaypalSetup, merchant: string | undefined): boolean {
  return setup.merchantId !== undefined && merchant !== undefined && merchant !== setup.merchantId
}

function readEvent(setup: TranslateSetup, payload: unknown, { type, account }: Envelope): Content {
  if (type === '') throw new Unreadable('event_type is missing')
  if (setup.expects !== null && !setup.expects.includes(type))
    return without('ignored', 'the endpoint does not expect this type')
  const read = READERS.find(([pattern]) => pattern.test(type))?.[1]
  if (read === undefined) return without('ignored', 'this type means nothing to us')
  const resource = recordIn(payload, 'resource')
  if (resource === undefined) throw new Unreadable('resource is missing')
  if (account !== null) return without('not_ours', 'it concerns another merchant')
  const { lookups, payment, milestone = 'created' } = read(resource, type)
  const facts: readonly Fact[] =
    payment === undefined ? [] : [paymentMilestone(paymentSubject(setup.account, payment), { milestone })]
  return { outcome: 'facts', reason: '', facts, lookups }
}

function without(outcome: 'ignored' | 'not_ours', reason: string): Content {
  return { outcome, reason, facts: [] }
}

function paymentHint(object: string, id: string, milestone: Hint['milestone'] = 'created'): Hint {
  return { lookups: [{ object, id }], payment: id, milestone }
}

/** Approval is no money, and must create nothing: the order stands in until a capture in it is known. */
function readOrderEvent(resource: JsonRecord, type: string): Hint {
  const id = idOf(textIn(resource, 'order_id')) ?? requiredId(resource, 'id')
  return paymentHint('order', id, type === 'CHECKOUT.ORDER.APPROVED' ? 'pending' : 'created')
}

function readCaptureEvent(resource: JsonRecord, type: string): Hint {
  return paymentHint('capture', requiredId(resource, 'id'), type.endsWith('.PENDING') ? 'pending' : 'created')
}

/** The refund's own id is no capture's; only its link `up` leads to that, and the look-up says so too. */
function givenBack(object: 'refund' | 'reversal', resource: JsonRecord): Hint {
  return {
    lookups: [{ object, id: requiredId(resource, 'id') }],
    payment: linkedId(resource, 'up', 'captures'),
  }
}

function saleGivenBack(object: 'sale_refund' | 'sale_reversal', resource: JsonRecord): Hint {
  const sale = idOf(textIn(resource, 'sale_id'))
  return { lookups: [{ object, id: requiredId(resource, 'id') }], payment: sale }
}

function readSubscriptionEvent(resource: JsonRecord): Hint {
  return { lookups: [{ object: 'subscription', id: requiredId(resource, 'id') }] }
}

function readDisputeEvent(resource: JsonRecord): Hint {
  const transaction = listIn(resource, 'disputed_transactions')[0]
  return {
    lookups: [{ object: 'dispute', id: requiredId(resource, 'dispute_id') }],
    payment: idOf(textIn(transaction, 'seller_transaction_id')),
  }
}

/** Also sent for a part of the amount: which payments there are, the invoice tells. */
function readInvoiceEvent(resource: JsonRecord): Hint {
  const id = idOf(textIn(resource, 'invoice', 'id')) ?? requiredId(resource, 'id')
  return { lookups: [{ object: 'invoice', id }] }
}
