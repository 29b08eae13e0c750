import type { Decision } from '../facts/decision.ts'
import type { DisputeFunds, DisputeStatusReached } from '../facts/dispute.ts'
import { decodeContent, type FactContent, type FactKind } from '../facts/fact.ts'
import type { OrderClosed, OrderItem, OrderTerms } from '../facts/order.ts'
import type { PaymentMilestoneReached } from '../facts/payment.ts'
import type { RefundMilestoneReached } from '../facts/refund.ts'
import type { SubscriptionStatusReached } from '../facts/subscription.ts'
import { formatMinor } from '../money/format.ts'

/** A stored fact as a sentence. `about` is the payment, order or subscription that it is about. */
export function factInWords(kind: string, content: object, about: string, key: string): string {
  const words = (WORDS as Record<string, ((content: never, about: string) => string) | undefined>)[kind]
  return words === undefined
    ? `${about}: ${key}`
    : words(decodeContent(kind as FactKind, content) as never, about)
}

type Words = { readonly [K in FactKind]?: (content: FactContent[K], about: string) => string }

const WORDS: Words = {
  payment_milestone: milestone,
  payment_link: ({ payment }, about) => `${about} is the money of ${payment}`,
  refund_milestone: refund,
  refund_total: ({ total_minor, currency }, about) =>
    `${about}: the provider counts ${amount(total_minor, currency)} as refunded so far`,
  dispute_status: dispute,
  dispute_funds: funds,
  order_terms: terms,
  order_closed: closed,
  subscription_status: subscription,
  decision: decided,
  price_items: ({ price, items }) => `price ${price} gives ${named(items)}`,
}

function milestone(told: PaymentMilestoneReached, about: string): string {
  const attempt = told.attempt === undefined ? '' : ` (attempt ${told.attempt})`
  const order = told.order === undefined ? '' : `, for order ${told.order}`
  const why = told.reason === undefined ? '' : `, ${told.reason}`
  return `payment ${about}${attempt} ${spaced(told.milestone)}${money(told)}${order}${why}`
}

function refund(told: RefundMilestoneReached, about: string): string {
  const why = told.reason === undefined ? '' : `, ${told.reason}`
  const what = told.releases_authorization ? 'release' : 'refund'
  return `${what} ${told.refund} of ${about} ${spaced(told.milestone)}${money(told)}${why}`
}

function dispute(told: DisputeStatusReached, about: string): string {
  const until = told.respond_by === undefined ? '' : `, answer by ${told.respond_by}`
  return `dispute ${told.dispute} of ${about}: ${spaced(told.stage)} ${spaced(told.status)}${money(told)}${until}`
}

function funds(told: DisputeFunds): string {
  return `dispute ${told.dispute}: ${amount(told.amount_minor, told.currency)} ${told.direction}`
}

function terms(told: OrderTerms): string {
  const items = named(told.items)
  const until = told.expires_at === undefined ? '' : `, until ${told.expires_at}`
  const each = told.recurring === undefined ? '' : ' each period'
  return `registered: ${amount(told.amount_minor, told.currency)}${each} for ${items || 'what its price gives'}${until}`
}

function closed({ how, by, at }: OrderClosed): string {
  return `closed (${how}) by ${by} at ${at}`
}

function subscription(told: SubscriptionStatusReached, about: string): string {
  const until = told.period_end === undefined ? '' : `, paid until ${told.period_end}`
  const ends = told.cancel_at === undefined ? '' : `, ends ${told.cancel_at}`
  return `subscription ${about} ${spaced(told.status)} at ${told.at}${until}${ends}`
}

function decided(told: Decision): string {
  const parts = [
    told.payment === undefined ? '' : ` ${told.payment}`,
    money(told),
    told.until === undefined ? '' : ` until ${told.until}`,
    told.order === undefined ? '' : ` to ${told.order}`,
    told.supersedes === undefined ? '' : ` ${told.supersedes}`,
  ]
  return `${told.actor} decided: ${spaced(told.decision)}${parts.join('')} (${told.reason})`
}

function money(told: {
  readonly amount_minor?: bigint | undefined
  readonly currency?: string | undefined
}): string {
  return told.amount_minor === undefined || told.currency === undefined
    ? ''
    : `: ${amount(told.amount_minor, told.currency)}`
}

function amount(amount_minor: bigint, currency: string): string {
  return formatMinor(amount_minor, currency)
}

function spaced(code: string): string {
  return code.replaceAll('_', ' ')
}

function named(items: readonly OrderItem[]): string {
  return items.map(({ item, quantity }) => (quantity === 1 ? item : `${quantity} ${item}`)).join(', ')
}
