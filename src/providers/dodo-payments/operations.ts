import { paymentMilestone } from '../../facts/payment.ts'
import type { JsonRecord } from '../field.ts'
import { fieldIn, listIn, recordIn, textIn } from '../field.ts'
import type { ChargeRequest, LookupContext, OperationAnswer, RefundRequest } from '../lookup.ts'
import type { Access, Failure } from './client.ts'
import { request } from './client.ts'
import type { DodoSetup } from './dodo-event.ts'
import { CHARGE_KEY, paymentSubject, REFUND_KEY } from './dodo-event.ts'
import { refundFact } from './refund.ts'

/** Answers that may be about an earlier, forgotten try of the same thing. */
const UNDECIDED = new Set(['EXISTING_REFUND_REQUEST_PROCESSING', 'PREVIOUS_PAYMENT_PENDING'])
const DEFINITIVE: readonly (number | null)[] = [400, 402, 404, 422]
/** Pages of a subscription's payments in which an earlier charge is looked for, 100 each. */
const PAGES_MAX = 10

type Step<T> = { readonly ok: T } | { readonly over: OperationAnswer }

/**
 * Dodo takes no idempotency key, so ours goes into the metadata and is looked for first. That makes an attentive repeat
 * safe, not two at one time.
 */
export function newDodoRefund(setup: DodoSetup, access: Access) {
  return async (wish: RefundRequest, context: LookupContext): Promise<OperationAnswer> => {
    if (setup.orderTotals !== 'charged' && !wish.full)
      return declined('amount_not_in_charged_terms', WHOLE_ONLY)
    const payment = await ask(access, context, ({ api, each }) => api.payments.retrieve(wish.payment, each))
    if ('over' in payment) return payment.over
    const earlier = await earlierRefund(access, context, payment.ok, wish.key)
    if ('over' in earlier) return earlier.over
    if (earlier.ok !== null) return refunded(setup, earlier.ok, payment.ok)
    const items = wish.full ? null : await shareOut(access, context, wish)
    if (items !== null && 'over' in items) return items.over
    const metadata = { [REFUND_KEY]: wish.key }
    const body = {
      payment_id: wish.payment,
      metadata,
      ...(items === null ? {} : { items: items.ok }),
      ...(wish.reason === undefined ? {} : { reason: wish.reason }),
    }
    const made = await ask(access, context, ({ api, each }) => api.refunds.create(body, each))
    return 'over' in made ? made.over : refunded(setup, made.ok, payment.ok)
  }
}

const WHOLE_ONLY =
  'A part of a payment can be refunded only where orders are registered with what the buyer is charged (orderTotals charged). Refund the whole, or make this refund in the dashboard.'

/** Runs one request of an operation; a failure ends the operation. */
async function ask<T>(
  access: Access,
  context: LookupContext,
  run: Parameters<typeof request<T>>[2],
): Promise<Step<T>> {
  const answer = await request(access, context, run)
  return 'failed' in answer ? { over: outcomeOf(answer.failed) } : { ok: answer.ok }
}

function outcomeOf({ status, code, reason, retry_after_ms }: Failure): OperationAnswer {
  return DEFINITIVE.includes(status) && !UNDECIDED.has(code)
    ? { outcome: 'declined', code, reason }
    : { outcome: 'unknown', reason, retry_after_ms }
}

function declined(code: string, reason: string): OperationAnswer {
  return { outcome: 'declined', code, reason }
}

/** The refund that carries our key already. Payments list their refunds without metadata, so each is read. */
async function earlierRefund(
  access: Access,
  context: LookupContext,
  payment: unknown,
  key: string,
): Promise<Step<unknown>> {
  for (const listed of listIn(payment, 'refunds')) {
    const id = textIn(listed, 'refund_id')
    if (id === undefined) continue
    const refund = await ask(access, context, ({ api, each }) => api.refunds.retrieve(id, each))
    // Whether an earlier try made it cannot be seen then, so nothing may be sent.
    if ('over' in refund)
      return { over: { outcome: 'unknown', reason: 'an earlier refund could not be read' } }
    if (fieldIn(refund.ok, 'metadata', REFUND_KEY) === key) return refund
  }
  return { ok: null }
}

interface ItemPart {
  readonly item_id: string
  readonly amount: number
  readonly tax_inclusive: true
}

/** A refund of a part names items, so the amount is taken from what each can still give back, in the order listed. */
async function shareOut(
  access: Access,
  context: LookupContext,
  wish: RefundRequest,
): Promise<Step<ItemPart[]>> {
  const lines = await ask(access, context, ({ api, each }) =>
    api.payments.retrieveLineItems(wish.payment, each),
  )
  if ('over' in lines) return lines
  if (textIn(lines.ok, 'currency') !== wish.currency)
    return { over: declined('wrong_currency', 'The payment is in another currency than the refund.') }
  let left_minor = wish.amount_minor
  const parts: ItemPart[] = []
  for (const line of listIn(lines.ok, 'items')) {
    const item_id = textIn(line, 'items_id')
    const refundable = fieldIn(line, 'refundable_amount')
    if (item_id === undefined || typeof refundable !== 'number' || !Number.isSafeInteger(refundable)) continue
    const part_minor = left_minor < BigInt(refundable) ? left_minor : BigInt(refundable)
    if (part_minor > 0n) parts.push({ item_id, amount: Number(part_minor), tax_inclusive: true })
    left_minor -= part_minor > 0n ? part_minor : 0n
  }
  if (left_minor === 0n) return { ok: parts }
  return { over: declined('more_than_refundable', 'The items of the payment cannot give back so much.') }
}

function refunded(setup: DodoSetup, refund: unknown, payment: unknown): OperationAnswer {
  try {
    const fact = refundFact(setup, refund, withRefund(payment, refund))
    return { outcome: 'accepted', provider_id: fact.content.refund, facts: [fact] }
  } catch {
    return { outcome: 'unknown', reason: 'Dodo Payments answered in a shape that we do not know' }
  }
}

/** The payment as it was read before the refund was made, with it. */
function withRefund(payment: unknown, refund: unknown): JsonRecord {
  return { ...recordIn({ payment }, 'payment'), refunds: [...listIn(payment, 'refunds'), refund] }
}

/** Charges an on-demand subscription; there is no other way to charge someone who is away. */
export function newDodoCharge(setup: DodoSetup, access: Access) {
  return async (wish: ChargeRequest, context: LookupContext): Promise<OperationAnswer> => {
    const { key, method: subscription, order } = wish
    if (subscription === undefined) {
      return declined(
        'method_missing',
        'Dodo Payments charges on-demand subscriptions only: pass its id as method.',
      )
    }
    const price = Number(wish.amount_minor)
    if (!Number.isSafeInteger(price))
      return declined('amount_too_large', 'The amount is beyond what Dodo takes.')
    const earlier = await earlierCharge(access, context, subscription, key)
    if ('over' in earlier) return earlier.over
    if (earlier.ok !== null) return charged(setup, earlier.ok, wish)
    const made = await ask(access, context, ({ api, each }) =>
      api.subscriptions.charge(
        subscription,
        {
          product_price: price,
          product_currency: wish.currency as 'USD',
          metadata: { [setup.orderReference.metadataKey ?? 'order_id']: order, [CHARGE_KEY]: key },
        },
        each,
      ),
    )
    if ('over' in made) return made.over
    const payment = textIn(made.ok, 'payment_id')
    if (payment === undefined) return { outcome: 'unknown', reason: 'the answer names no payment_id' }
    return charged(setup, payment, wish)
  }
}

/** The payment of the subscription that carries our key already. */
async function earlierCharge(
  access: Access,
  context: LookupContext,
  subscription: string,
  key: string,
): Promise<Step<string | null>> {
  for (let page_number = 0; page_number < PAGES_MAX; page_number += 1) {
    const query = { subscription_id: subscription, page_size: 100, page_number }
    const page = await ask(
      access,
      context,
      async ({ api, each }) => (await api.payments.list(query, each)).items,
    )
    if ('over' in page) return { over: { outcome: 'unknown', reason: 'earlier charges could not be listed' } }
    if (page.ok.length === 0) return { ok: null }
    const found = page.ok.find((row) => fieldIn(row, 'metadata', CHARGE_KEY) === key)
    if (found !== undefined) return { ok: textIn(found, 'payment_id') ?? null }
  }
  return { ok: null }
}

function charged(setup: DodoSetup, payment: string, { key, order, method }: ChargeRequest): OperationAnswer {
  const fact = paymentMilestone(paymentSubject(setup, payment), {
    milestone: 'created',
    order,
    subscription: method,
    operation: key,
  })
  return { outcome: 'accepted', provider_id: payment, facts: [fact] }
}
