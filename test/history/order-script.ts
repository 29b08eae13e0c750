import * as fc from 'fast-check'
import { type OrderTerms, orderClosed } from '../../src/facts/order.ts'
import { paymentMilestone } from '../../src/facts/payment.ts'
import type { PaymentSubject } from '../../src/facts/subject.ts'
import type { PolicyOverrides } from '../../src/rules/policy.ts'
import { type Answer, type DecisionScript, decisionScript, tellDecision } from './decision-script.ts'
import type { OrderOutcome, PaymentOutcome, SubscriptionOutcome } from './history.ts'
import { NO_MONEY } from './history.ts'
import {
  type AbandonedScript,
  abandonedScript,
  anyAftermath,
  type PaymentScript,
  paymentScript,
  tellAbandoned,
  tellPayment,
  wholeAftermath,
} from './payment-script.ts'
import { AFTERMATH_OPTIONS, policyScript, SUBSCRIPTION_OPTIONS, SUM_OPTIONS } from './policy-script.ts'
import {
  accessOfOne,
  accessOfSeveral,
  endOfPurchase,
  endOfPurchases,
  endOfSum,
  type Happened,
  statusOfOne,
  statusOfSeveral,
} from './reckoning.ts'
import { type RecurringScript, recurringOf, recurringScript, tellRecurring } from './recurring-script.ts'
import type { Teller } from './teller.ts'

/** How an order goes, by what is paid for it. */
export type OrderScript = {
  readonly due_minor: bigint
  readonly currency: string
  readonly items: number
  /** The order sells so many credits and no other items. */
  readonly credits: number | null
  readonly policy: PolicyOverrides
  readonly decided: DecisionScript | null
  /** It names the one holder of the history, who may have the same items from other orders too. */
  readonly held: boolean
  /** Tries that come to nothing, before the payments that do. */
  readonly abandoned: readonly AbandonedScript[]
} & (
  | { readonly kind: 'one' | 'unregistered' | 'wrong_account'; readonly payment: PaymentScript }
  | { readonly kind: 'several'; readonly payments: readonly PaymentScript[] }
  | {
      readonly kind: 'short' | 'nearly' | 'parts' | 'over' | 'wrong_currency'
      readonly payment: PaymentScript
    }
  | {
      readonly kind: 'late'
      readonly payment: PaymentScript
      readonly by: 'timer' | 'person'
      readonly how: 'canceled' | 'expired'
      readonly by_terms: boolean
    }
  | { readonly kind: 'closed_after_payment'; readonly payment: PaymentScript }
  | { readonly kind: 'recurring'; readonly recurring: RecurringScript }
  | { readonly kind: 'unpaid' }
  | { readonly kind: 'free' }
)

const common = {
  due_minor: fc.bigInt({ min: 100n, max: 10_000_000_000_000_000n }),
  currency: fc.constantFrom('USD', 'EUR', 'JPY', 'KWD'),
  items: fc.integer({ min: 1, max: 3 }),
  credits: fc.option(fc.constantFrom(1, 10, 1_000), { freq: 3 }),
  abandoned: fc.array(abandonedScript, { maxLength: 2 }),
  decided: decisionScript,
  held: fc.constantFrom(false, true),
  policy: policyScript([...AFTERMATH_OPTIONS, ...SUM_OPTIONS]),
}

/** How much came is not in question: a tolerance would only blur how much went back. */
const exact = {
  ...common,
  policy: policyScript([...AFTERMATH_OPTIONS, 'surplus', 'paid_after_close', 'partial_payments']),
}

/** Money comes once and stays, so only what is asked about the sum has a say. */
const staying = { ...common, policy: policyScript([...SUM_OPTIONS, 'full_refund', 'dispute_opened']) }

const plain = paymentScript(fc.constant({ kind: 'none' }))

export const orderScript: fc.Arbitrary<OrderScript> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      ...exact,
      kind: fc.constant('one' as const),
      payment: paymentScript(anyAftermath),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      ...exact,
      kind: fc.constant('several' as const),
      payments: fc.array(paymentScript(wholeAftermath), { minLength: 2, maxLength: 3 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      ...exact,
      policy: policyScript([...AFTERMATH_OPTIONS, ...SUBSCRIPTION_OPTIONS]),
      kind: fc.constant('recurring' as const),
      recurring: recurringScript,
    }),
  },
  fc.record({
    ...staying,
    kind: fc.constantFrom(
      'short' as const,
      'nearly' as const,
      'parts' as const,
      'over' as const,
      'wrong_currency' as const,
    ),
    payment: plain,
  }),
  fc.record({
    ...common,
    kind: fc.constantFrom('unregistered' as const, 'wrong_account' as const),
    payment: plain,
  }),
  fc.record({
    ...staying,
    kind: fc.constant('late' as const),
    payment: plain,
    how: fc.constantFrom('canceled' as const, 'expired' as const),
    by: fc.constantFrom('timer' as const, 'person' as const),
    by_terms: fc.boolean(),
  }),
  fc.record({ ...common, kind: fc.constant('closed_after_payment' as const), payment: plain }),
  fc.record({ ...common, kind: fc.constantFrom('unpaid' as const, 'free' as const) }),
)

export interface OrderStory {
  readonly reference: string
  /** Null where the merchant never registers the order. */
  readonly terms: OrderTerms | null
  readonly payments: Readonly<Record<string, PaymentOutcome>>
  readonly subscriptions: Readonly<Record<string, SubscriptionOutcome>>
  readonly outcome: OrderOutcome
}

const NAMESPACE = 'stripe'
const ACCOUNT = 'default'

/** Tells everything that happens to one order and reckons how it ends under its policy. */
export function tellOrder(
  teller: Teller,
  reference: string,
  holder: string,
  script: OrderScript,
): OrderStory {
  const { due_minor, currency } = script
  const payments: Record<string, PaymentOutcome> = {}
  const subscription = {
    kind: 'subscription',
    namespace: NAMESPACE,
    account: ACCOUNT,
    id: `sub_${reference}`,
  } as const
  const by_subscription = script.kind === 'recurring' && script.recurring.named_by === 'subscription'
  const naming = {
    ...(by_subscription ? {} : { order: reference }),
    ...(script.kind === 'recurring' ? { subscription: subscription.id } : {}),
  }
  const ends: Happened[] = []
  const subject = (name: string): PaymentSubject => ({
    kind: 'payment',
    namespace: NAMESPACE,
    account: ACCOUNT,
    id: `pi_${reference}_${name}`,
  })
  const pay = (
    name: string,
    payment: PaymentScript,
    amount_minor = due_minor,
    paid_in = currency,
  ): Happened => {
    const story = { subject: subject(name), naming, amount_minor, currency: paid_in }
    const { outcome, happened } = tellPayment(teller, story, payment)
    payments[story.subject.id] = outcome
    ends.push(happened)
    return happened
  }
  script.abandoned.forEach((abandoned, index) => {
    const story = {
      subject: subject(`abandoned${index}`),
      naming: { order: reference },
      amount_minor: due_minor,
      currency,
    }
    payments[story.subject.id] = tellAbandoned(teller, story, abandoned)
  })
  const terms: OrderTerms = {
    amount_minor: script.kind === 'free' ? 0n : due_minor,
    currency,
    items: itemsOf(script.held ? holder : reference, script),
    ...(script.held ? { holder } : {}),
    ...(Object.keys(script.policy).length > 0 ? { policy: script.policy } : {}),
    ...(script.kind === 'recurring' ? { recurring: recurringOf(script.recurring, script.policy) } : {}),
    ...(script.kind === 'wrong_account' ? { account: 'another' } : {}),
    ...(script.kind === 'late' && script.by_terms ? { expires_at: teller.later() } : {}),
  }
  const { credits, policy, decided } = script
  const story = { reference, terms: script.kind === 'unregistered' ? null : terms, payments }
  if (script.kind === 'recurring') {
    const told = tellRecurring(teller, subscription, reference, script, pay)
    const undecided =
      credits === null ? told.outcome : endOfPurchases(told.outcome, credits, ends, due_minor, policy)
    const bought = Math.max(1, ends.length)
    const kept = { ...undecided, access: 'granted', credits: bought * (credits ?? 0) } as const
    const could = { undecided, kept, answer: null }
    const outcome = decided === null ? undecided : tellDecision(teller, reference, decided, could)
    return { ...story, subscriptions: { [subscription.id]: told.subscription }, outcome }
  }
  const told = tellPayments(teller, reference, script, pay, subject, payments)
  const undecided = credits === null ? told : endOfPurchase(told, credits, ends, terms.amount_minor, policy)
  const kept = { ...undecided, access: 'granted', credits: credits ?? 0 } as const
  const could = { undecided, kept, answer: answerOf(script, undecided, (name) => subject(name).id) }
  // Of an order that nobody registered there is nothing to decide.
  const outcome =
    decided === null || story.terms === null ? undecided : tellDecision(teller, reference, decided, could)
  return { ...story, subscriptions: {}, outcome }
}

/** What a person would say to how the order ended, where that asks for an answer. */
function answerOf(
  script: OrderScript,
  undecided: OrderOutcome,
  idOf: (name: string) => string,
): Answer | null {
  const { due_minor, currency, credits } = script
  const settled = { ...undecided, status: 'paid', access: 'granted', credits: credits ?? 0 } as const
  const accepted = (name: string): Answer => ({
    says: { decision: 'accept_payment', payment: idOf(name) },
    end: settled,
  })
  switch (script.kind) {
    case 'short': {
      const amount_minor = due_minor - due_minor / 2n
      return { says: { decision: 'write_off', amount_minor, currency }, end: settled }
    }
    case 'nearly':
      return accepted('nearly')
    case 'wrong_currency':
      return accepted('foreign')
    case 'wrong_account':
      return { ...accepted('stray'), end: { ...settled, paid_minor: due_minor, net_minor: due_minor } }
    case 'late':
      return script.how === 'canceled' ? { says: { decision: 'reopen' }, end: settled } : accepted('late')
    case 'one': {
      const end = { ...undecided, status: 'awaiting_payment', access: 'none', credits: 0 } as const
      return { says: { decision: 'treat_as_surplus', payment: idOf('a') }, end }
    }
    default:
      return null
  }
}

function itemsOf(owner: string, { credits, items }: OrderScript): OrderTerms['items'] {
  if (credits !== null) return [{ item: `${owner}:credits`, quantity: credits, credits: true }]
  return Array.from({ length: items }, (_, index) => ({
    item: `${owner}:item${index}`,
    quantity: index + 1,
  }))
}

const NOTHING: OrderOutcome = {
  status: 'awaiting_payment',
  paid_minor: 0n,
  net_minor: 0n,
  surplus_minor: 0n,
  access: 'none',
  credits: 0,
}

function tellPayments(
  teller: Teller,
  reference: string,
  script: Exclude<OrderScript, { kind: 'recurring' }>,
  pay: (name: string, payment: PaymentScript, amount_minor?: bigint, paid_in?: string) => Happened,
  subject: (name: string) => PaymentSubject,
  payments: Record<string, PaymentOutcome>,
): OrderOutcome {
  const { due_minor: due, policy } = script
  const paid: OrderOutcome = {
    ...NOTHING,
    status: 'paid',
    paid_minor: due,
    net_minor: due,
    access: 'granted',
  }
  const order = { kind: 'order', reference } as const
  switch (script.kind) {
    case 'one': {
      const end = pay('a', script.payment)
      const net_minor = end.captured_minor - end.refunded_minor - end.lost_minor - end.reversed_minor
      return { ...paid, net_minor, status: statusOfOne(end), access: accessOfOne(end, policy) }
    }
    case 'several': {
      const ends = script.payments.map((payment, index) => pay(`p${index}`, payment))
      return { ...paid, ...statusOfSeveral(ends, due), access: accessOfSeveral(ends, policy) }
    }
    case 'short': {
      const part = due / 2n
      pay('short', script.payment, part)
      return endOfSum(part, due, policy)
    }
    case 'nearly':
      pay('nearly', script.payment, due - 3n)
      return endOfSum(due - 3n, due, policy)
    case 'parts':
      pay('part1', script.payment, due / 2n)
      pay('part2', script.payment, due - due / 2n)
      return paid
    case 'over':
      pay('over', script.payment, due + 7n)
      return endOfSum(due + 7n, due, policy)
    case 'wrong_currency':
      pay('foreign', script.payment, due, 'CHF')
      return NOTHING
    case 'wrong_account':
      pay('stray', script.payment)
      return NOTHING
    case 'unregistered':
      pay('early', script.payment)
      return { ...NOTHING, status: 'awaiting_terms' }
    case 'late':
      if (!script.by_terms) {
        teller.tell(orderClosed(order, { how: script.how, by: script.by, at: teller.later() }))
      }
      teller.later()
      pay('late', script.payment)
      if (policy.paid_after_close === 'reopen' && (script.by_terms || script.by !== 'person')) return paid
      return { ...NOTHING, status: 'on_hold', paid_minor: due, net_minor: due }
    case 'closed_after_payment':
      pay('timely', script.payment)
      teller.tell(orderClosed(order, { how: 'canceled', by: 'system', at: teller.later() }))
      return paid
    case 'unpaid':
      return NOTHING
    case 'free': {
      const free = subject('free')
      const content = {
        milestone: 'succeeded',
        amount_minor: 0n,
        currency: script.currency,
        order: reference,
      } as const
      teller.tell(paymentMilestone(free, { ...content, moved_at: teller.later() }))
      payments[free.id] = { ...NO_MONEY, status: 'succeeded' }
      return { ...paid, paid_minor: 0n, net_minor: 0n }
    }
  }
}
