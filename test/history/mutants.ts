import type { Fact, FactOf } from '../../src/facts/fact.ts'
import type { Message } from './history.ts'

/**
 * Known wrong ways to remember what arrived, each seen in public payment code. A mutant turns the messages, in their order
 * of arrival, into the facts that such code would act on. The properties must fail for every one of them; if they do
 * not, they prove nothing.
 */
export type Mutant = (arrived: readonly Message[]) => Fact[]

export const MUTANTS: Readonly<Record<string, Mutant>> = {
  'the last arrival wins': (arrived) => keepOnePerObject(arrived, () => true),
  'the newest label wins, and the first one told in a second': (arrived) =>
    keepOnePerObject(arrived, (candidate, held) => candidate.at > held.at),
  'the newest label wins, and the last one told in a second': (arrived) =>
    keepOnePerObject(arrived, (candidate, held) => candidate.at >= held.at),
  'a running total is added as a step': (arrived) =>
    facts(arrived)
      .map(totalAsStep)
      .filter((fact) => fact !== null),
  'the first telling of a statement hides richer ones': firstTelling,
  'a refund before its payment is dropped': withoutEarlyRefunds,
  'every delivery adds its amount': countedPerDelivery,
  'a failed refund stays refunded': (arrived) =>
    facts(arrived).filter((fact) => fact.kind !== 'refund_milestone' || fact.content.milestone !== 'failed'),
  'an attempt is the payment': (arrived) => facts(arrived).map(withoutAttempt),
  'a session is money of its own': (arrived) => facts(arrived).filter((fact) => fact.kind !== 'payment_link'),
  'the policy of the day is asked and not that of the order': (arrived) => facts(arrived).map(withoutPolicy),
}

function facts(arrived: readonly Message[]): Fact[] {
  return arrived.flatMap((message) => message.facts)
}

interface Told {
  readonly fact: Fact
  readonly at: string
}

/** One status column per payment, refund and dispute, overwritten as the rule says. */
function keepOnePerObject(
  arrived: readonly Message[],
  replaces: (candidate: Told, held: Told) => boolean,
): Fact[] {
  const columns = new Map<string, Told>()
  for (const { facts, at } of arrived) {
    for (const fact of facts) {
      const column = columnOf(fact)
      const held = columns.get(column)
      if (held === undefined || replaces({ fact, at }, held)) columns.set(column, { fact, at })
    }
  }
  return [...columns.values()].map(({ fact }) => fact)
}

function columnOf(fact: Fact): string {
  const subject = JSON.stringify(fact.subject)
  switch (fact.kind) {
    case 'payment_milestone':
      return `${subject} payment`
    case 'refund_milestone':
      return `${subject} refund ${fact.content.refund}`
    case 'dispute_status':
      return `${subject} dispute ${fact.content.dispute}`
    case 'subscription_status':
      return subject
    default:
      return `${subject} ${fact.key}`
  }
}

function totalAsStep(fact: Fact): Fact | null {
  if (fact.kind === 'refund_milestone') return null
  if (fact.kind !== 'refund_total') return fact
  const refund = `total ${fact.content.total_minor}`
  const content = { refund, milestone: 'succeeded', amount_minor: fact.content.total_minor } as const
  return { subject: fact.subject, key: `refund/${refund}/succeeded`, kind: 'refund_milestone', content }
}

function firstTelling(arrived: readonly Message[]): Fact[] {
  const seen = new Map<string, Fact>()
  for (const fact of facts(arrived)) {
    const lock = `${JSON.stringify(fact.subject)} ${fact.key}`
    if (!seen.has(lock)) seen.set(lock, fact)
  }
  return [...seen.values()]
}

function withoutEarlyRefunds(arrived: readonly Message[]): Fact[] {
  const paid = new Set<string>()
  return facts(arrived).filter((fact) => {
    const subject = JSON.stringify(fact.subject)
    if (fact.kind === 'payment_milestone' && fact.content.milestone === 'succeeded') paid.add(subject)
    return fact.kind !== 'refund_milestone' || paid.has(subject)
  })
}

function countedPerDelivery(arrived: readonly Message[]): Fact[] {
  return facts(arrived).map((fact, index) => {
    if (fact.kind !== 'payment_milestone' || fact.content.milestone !== 'succeeded') return fact
    const attempt = `delivery ${index}`
    const counted: FactOf<'payment_milestone'> = {
      ...fact,
      key: `attempt/${attempt}/succeeded`,
      content: { ...fact.content, attempt },
    }
    return counted
  })
}

function withoutPolicy(fact: Fact): Fact {
  if (fact.kind !== 'order_terms') return fact
  const { policy: _, ...content } = fact.content
  return { ...fact, content }
}

function withoutAttempt(fact: Fact): Fact {
  if (fact.kind !== 'payment_milestone') return fact
  const { attempt: _, ...content } = fact.content
  const failed = content.milestone === 'failed'
  // Such code has one status and lets a failure end it.
  const milestone = failed ? 'reversed' : content.milestone
  return { ...fact, key: `payment/${milestone}`, content: { ...content, milestone } }
}
