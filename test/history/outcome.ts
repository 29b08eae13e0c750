import type { Fact } from '../../src/facts/fact.ts'
import { orderTerms } from '../../src/facts/order.ts'
import type { PaymentSubject } from '../../src/facts/subject.ts'
import { deriveOrder } from '../../src/rules/derive-order.ts'
import { deriveOrderBook } from '../../src/rules/derive-order-book.ts'
import { derivePayment } from '../../src/rules/derive-payment.ts'
import { deriveSubscription } from '../../src/rules/derive-subscription.ts'
import { linkTarget } from '../../src/rules/link.ts'
import type { OrderState } from '../../src/rules/order-state.ts'
import type { PaymentState, PaymentSummary } from '../../src/rules/payment-state.ts'
import { paidOrders, settledOrders } from '../../src/rules/settled-orders.ts'
import type { SubscriptionState } from '../../src/rules/subscription-state.ts'
import { summarize, summarizeSubscription } from '../../src/rules/summarize.ts'
import type { Message, Outcome, RegisteredOrder } from './history.ts'

/** Everything that the rules derive from a set of facts. */
export interface Derived {
  readonly payments: ReadonlyMap<string, PaymentState>
  readonly orders: ReadonlyMap<string, OrderState>
  readonly subscriptions: ReadonlyMap<string, SubscriptionState>
}

/** What the merchant's registering of an order tells, as a message like any other. */
export function registration({ reference, terms }: RegisteredOrder, at: string): Message {
  return { id: `registered ${reference}`, at, facts: [orderTerms({ kind: 'order', reference }, terms)] }
}

/** Settles a set of facts without a database: groups them by what they are about, and runs the rules. */
export function deriveAll(facts: readonly Fact[], as_of: string): Derived {
  const told = paymentGroups(facts)
  const contested = refundsOfSeveral(told)
  const paying = told.map((group) => ({
    ...group,
    state: derivePayment(group.facts, group.id, { claimed: group.claimed, contested }),
  }))
  const settling = subscriptionsOf(facts, paying)
  const summaries = new Map<string, PaymentSummary[]>()
  for (const { subject, state } of paying) {
    const named = settling.filter((subscription) => state.subscriptions_named.includes(subscription.id))
    for (const order of paidOrders(
      state.orders_named,
      named.map(({ orders }) => orders),
    )) {
      summaries.set(order, [...(summaries.get(order) ?? []), summarize(subject, state)])
    }
  }
  const order_facts = groups(facts, (fact) => (fact.subject.kind === 'order' ? fact.subject.reference : null))
  const orders = new Map<string, OrderState>()
  const references = [
    ...order_facts.keys(),
    ...summaries.keys(),
    ...settling.flatMap((subscription) => subscription.orders),
  ]
  for (const reference of new Set(references)) {
    const book = deriveOrderBook(order_facts.get(reference) ?? [])
    const subscriptions = settling
      .filter((subscription) => subscription.orders.includes(reference))
      .map(({ id, account, state, orders }) => summarizeSubscription(id, account, state, orders))
    orders.set(reference, deriveOrder(reference, book, summaries.get(reference) ?? [], as_of, subscriptions))
  }
  return {
    payments: new Map(paying.map(({ id, state }) => [id, state])),
    orders,
    subscriptions: new Map(settling.map(({ id, state }) => [id, state])),
  }
}

/** Every subscription that facts are about or payments name, with the orders that it settles. */
function subscriptionsOf(facts: readonly Fact[], paying: readonly { readonly state: PaymentState }[]) {
  const told = groups(facts, ({ subject }) => (subject.kind === 'subscription' ? subject.id : null))
  const named = paying.flatMap(({ state }) => state.subscriptions_named)
  return [...new Set([...told.keys(), ...named])].map((id) => {
    const state = deriveSubscription(told.get(id) ?? [])
    const payments = paying.filter((payment) => payment.state.subscriptions_named.includes(id))
    const orders = settledOrders(
      state.orders_now,
      payments.map((payment) => payment.state.orders_named),
    )
    return { id, account: 'default', state, orders }
  })
}

/** The part of it that a history says beforehand. */
export function outcomeOf(facts: readonly Fact[], as_of: string): Outcome {
  const derived = deriveAll(facts, as_of)
  return {
    payments: mapValues(derived.payments, (state) => ({
      captured_minor: state.captured_minor,
      refunded_minor: state.refunded_minor,
      refund_pending_minor: state.refund_pending_minor,
      disputed_minor: state.disputed_minor,
      lost_minor: state.lost_minor,
      reversed_minor: state.reversed_minor,
      status: state.status,
    })),
    orders: mapValues(derived.orders, (state) => ({
      status: state.status,
      paid_minor: state.paid_minor,
      net_minor: state.net_minor,
      surplus_minor: state.surplus_minor,
      access: state.entitlements[0]?.state ?? 'none',
      credits: creditsIn(state),
    })),
    subscriptions: mapValues(derived.subscriptions, ({ status, period_end }) => ({ status, period_end })),
  }
}

function creditsIn({ entitlements }: OrderState): number {
  const credits = entitlements.find(({ item }) => item.endsWith(':credits'))
  return credits?.state === 'granted' ? credits.quantity : 0
}

export function factsOf(messages: readonly Message[]): Fact[] {
  return messages.flatMap((message) => message.facts)
}

/** Facts of a payment together with those of the stand-ins linked to it. */
function paymentGroups(
  facts: readonly Fact[],
): { id: string; subject: PaymentSubject; facts: Fact[]; claimed: boolean }[] {
  const by_id = groups(facts, (fact) => (fact.subject.kind === 'payment' ? fact.subject.id : null))
  const named = new Set([...by_id.values()].map(linkTarget))
  const merged = new Map<string, Fact[]>()
  for (const [id, group] of by_id) {
    const canonical = (named.has(id) ? null : linkTarget(group)) ?? id
    merged.set(canonical, [...(merged.get(canonical) ?? []), ...group])
  }
  return [...merged].map(([id, group]) => {
    const subject = { ...(group[0]!.subject as PaymentSubject), id }
    return { id, subject, facts: group, claimed: named.has(id) }
  })
}

/** Refunds that are told of more than one payment. */
function refundsOfSeveral(told: readonly { id: string; facts: readonly Fact[] }[]): Set<string> {
  const tellers = new Map<string, Set<string>>()
  for (const { id, facts } of told) {
    for (const { kind, content } of facts) {
      if (kind !== 'refund_milestone') continue
      tellers.set(content.refund, (tellers.get(content.refund) ?? new Set()).add(id))
    }
  }
  return new Set([...tellers].flatMap(([refund, ids]) => (ids.size > 1 ? [refund] : [])))
}

function groups(facts: readonly Fact[], nameOf: (fact: Fact) => string | null): Map<string, Fact[]> {
  const grouped = new Map<string, Fact[]>()
  for (const fact of facts) {
    const name = nameOf(fact)
    if (name === null) continue
    const group = grouped.get(name)
    if (group === undefined) grouped.set(name, [fact])
    else group.push(fact)
  }
  return grouped
}

function mapValues<V, W>(values: ReadonlyMap<string, V>, change: (value: V) => W): Record<string, W> {
  return Object.fromEntries([...values].map(([name, value]) => [name, change(value)]))
}
