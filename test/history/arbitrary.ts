import * as fc from 'fast-check'
import type {
  History,
  OrderOutcome,
  PaymentOutcome,
  RegisteredOrder,
  SubscriptionOutcome,
} from './history.ts'
import { rightsOf } from './holding.ts'
import { type OrderScript, orderScript, tellOrder } from './order-script.ts'
import { type SubscriptionScript, subscriptionScript, tellSubscription } from './subscription-script.ts'
import { Teller } from './teller.ts'

export interface HistoryOptions {
  /** Default 3. */
  readonly max_orders?: number
  /** Default 1. */
  readonly max_subscriptions?: number
  /** Put before every id, so that histories can share one database. Default none. */
  readonly prefix?: string
}

/** Legal histories with the ends that they must have; see `History`. */
export function historyArbitrary(options: HistoryOptions = {}): fc.Arbitrary<History> {
  const { max_orders = 3, max_subscriptions = 1, prefix = '' } = options
  return fc
    .record({
      orders: fc.array(orderScript, { minLength: 1, maxLength: max_orders }),
      subscriptions: fc.array(subscriptionScript, { maxLength: max_subscriptions }),
      noise: fc.array(fc.nat({ max: 11 }), { minLength: 1, maxLength: 24 }),
    })
    .map(({ orders, subscriptions, noise }) => tellHistory(prefix, orders, subscriptions, noise))
}

function tellHistory(
  prefix: string,
  order_scripts: readonly OrderScript[],
  subscription_scripts: readonly SubscriptionScript[],
  noise: readonly number[],
): History {
  const teller = new Teller(noise)
  const registered: RegisteredOrder[] = []
  const orders: Record<string, OrderOutcome> = {}
  const payments: Record<string, PaymentOutcome> = {}
  const subscriptions: Record<string, SubscriptionOutcome> = {}
  order_scripts.forEach((script, index) => {
    const story = tellOrder(teller, `${prefix}A-${index + 1}`, `${prefix}user`, script)
    if (story.terms !== null) registered.push({ reference: story.reference, terms: story.terms })
    orders[story.reference] = story.outcome
    Object.assign(payments, story.payments)
    Object.assign(subscriptions, story.subscriptions)
  })
  subscription_scripts.forEach((script, index) => {
    const id = `${prefix}sub_${index + 1}`
    const subject = { kind: 'subscription', namespace: 'stripe', account: 'default', id } as const
    subscriptions[id] = tellSubscription(teller, subject, script)
  })
  const messages = teller.messages.map((message) => ({ ...message, id: `${prefix}${message.id}` }))
  return {
    orders: registered,
    messages,
    as_of: teller.later(24 * 60),
    expected: { payments, orders, subscriptions },
    rights: rightsOf(registered, orders),
  }
}

/** The same messages in some other order of arrival, each at least once, some several times. */
export function arrivals<M>(messages: readonly M[]): fc.Arbitrary<M[]> {
  const whole = [...messages]
  return fc
    .array(fc.nat({ max: Math.max(whole.length - 1, 0) }), { maxLength: whole.length === 0 ? 0 : 6 })
    .chain((again) => shuffled([...whole, ...again.map((index) => whole[index]!)]))
}

function shuffled<M>(items: readonly M[]): fc.Arbitrary<M[]> {
  return fc
    .shuffledSubarray([...items.keys()], { minLength: items.length, maxLength: items.length })
    .map((order) => order.map((index) => items[index]!))
}
