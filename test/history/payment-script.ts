import * as fc from 'fast-check'
import {
  type PaymentMilestone,
  type PaymentMilestoneReached,
  paymentLink,
  paymentMilestone,
} from '../../src/facts/payment.ts'
import { refundMilestone, refundTotal } from '../../src/facts/refund.ts'
import type { PaymentSubject } from '../../src/facts/subject.ts'
import type { PaymentStatus } from '../../src/rules/payment-state.ts'
import { type DisputeScript, disputeScript, tellDispute } from './dispute-script.ts'
import { type Figures, NO_MONEY, type PaymentOutcome } from './history.ts'
import type { Happened } from './reckoning.ts'
import type { Teller } from './teller.ts'

/** How a try to pay goes. The money side of what follows a success is its aftermath. */
export interface PaymentScript {
  readonly failures: number
  /** The provider names each attempt; otherwise milestones are of the payment as a whole. */
  readonly attempts_named: boolean
  /** With named attempts: the payment as a whole is reported too. */
  readonly whole_too: boolean
  /** A checkout session tells of the same money and is linked to the payment. */
  readonly session: boolean
  readonly aftermath: Aftermath
}

export type Aftermath =
  | { readonly kind: 'none' }
  | { readonly kind: 'refunds'; readonly refunds: readonly RefundScript[] }
  | { readonly kind: 'dispute'; readonly dispute: DisputeScript; readonly refunded_percent: number }
  | { readonly kind: 'reversal'; readonly told_as_dispute_too: boolean }

export interface RefundScript {
  /** Of what is left at that time. */
  readonly percent: number
  readonly course: 'succeeded' | 'pending' | 'failed_later' | 'failed' | 'canceled'
}

const refundCourse = fc.constantFrom<RefundScript['course']>(
  'succeeded',
  'succeeded',
  'pending',
  'failed_later',
  'failed',
  'canceled',
)

const refunds = fc.array(fc.record({ percent: fc.constantFrom(10, 33, 50, 100), course: refundCourse }), {
  minLength: 1,
  maxLength: 3,
})

const nothing = fc.constant<Aftermath>({ kind: 'none' })
const reversal = fc.record({ kind: fc.constant('reversal' as const), told_as_dispute_too: fc.boolean() })

/** Whatever may happen to one payment's money. */
export const anyAftermath: fc.Arbitrary<Aftermath> = fc.oneof(
  nothing,
  fc.record({ kind: fc.constant('refunds' as const), refunds }),
  fc.record({
    kind: fc.constant('dispute' as const),
    dispute: disputeScript,
    refunded_percent: fc.constantFrom(0, 40),
  }),
  reversal,
)

const whole_refund = { percent: 100, course: 'succeeded' } as const
const failing_refund = { percent: 100, course: 'failed_later' } as const

/** Aftermaths that leave all of a payment's money or none of it, so that several payments stay easy to reckon. */
export const wholeAftermath: fc.Arbitrary<Aftermath> = fc.oneof(
  nothing,
  fc.constantFrom<Aftermath>(
    { kind: 'refunds', refunds: [whole_refund] },
    { kind: 'refunds', refunds: [failing_refund] },
  ),
  fc.record({
    kind: fc.constant('dispute' as const),
    dispute: disputeScript.filter((script) => script.course !== 'partly_won'),
    refunded_percent: fc.constant(0),
  }),
  reversal,
)

export function paymentScript(aftermath: fc.Arbitrary<Aftermath>): fc.Arbitrary<PaymentScript> {
  return fc.record({
    failures: fc.nat({ max: 2 }),
    attempts_named: fc.boolean(),
    whole_too: fc.boolean(),
    session: fc.boolean(),
    aftermath,
  })
}

/** A try to pay that ends without money. */
export interface AbandonedScript {
  readonly ending: 'requires_action' | 'pending' | 'authorized' | 'failed' | 'canceled' | 'expired'
  readonly failures: number
  readonly attempts_named: boolean
}

export const abandonedScript: fc.Arbitrary<AbandonedScript> = fc.record({
  ending: fc.constantFrom<AbandonedScript['ending']>(
    'requires_action',
    'pending',
    'authorized',
    'failed',
    'canceled',
    'expired',
  ),
  failures: fc.nat({ max: 1 }),
  attempts_named: fc.boolean(),
})

export interface PaymentStory {
  readonly subject: PaymentSubject
  /** What its messages name. */
  readonly naming: { readonly order?: string; readonly subscription?: string }
  readonly amount_minor: bigint
  readonly currency: string
}

/** Tells a payment that succeeds and what comes after, and reckons how it ends. */
export function tellPayment(
  teller: Teller,
  story: PaymentStory,
  script: PaymentScript,
): { outcome: PaymentOutcome; happened: Happened } {
  const { subject, amount_minor, currency } = story
  const milestone = reporter(teller, story, script.attempts_named)
  teller.tell(paymentMilestone(subject, { milestone: 'created', amount_minor, currency, ...story.naming }))
  for (let failure = 1; failure <= script.failures; failure += 1) milestone('failed', failure)
  milestone('pending', script.failures + 1)
  milestone('succeeded', script.failures + 1)
  const moved_at = teller.now
  const whole = { milestone: 'succeeded', amount_minor, currency, ...story.naming, moved_at } as const
  if (script.attempts_named && script.whole_too) teller.tell(paymentMilestone(subject, whole))
  if (script.session) {
    const session = { ...subject, id: `${subject.id}_session` }
    teller.tell(
      paymentMilestone(session, { ...whole, moved_at: undefined }),
      paymentLink(session, subject.id),
    )
  }
  const attempt = script.attempts_named ? attemptId(subject, script.failures + 1) : undefined
  const happened = tellAftermath(teller, story, script.aftermath, attempt)
  const status = happened.reversed_minor > 0n ? 'reversed' : 'succeeded'
  return { outcome: { ...figuresOf(happened), status }, happened }
}

/** Tells a payment that never collects anything; a released authorisation may look like a refund. */
export function tellAbandoned(teller: Teller, story: PaymentStory, script: AbandonedScript): PaymentOutcome {
  const milestone = reporter(teller, story, script.attempts_named)
  // Without names, a failure and a later try that is still under way cannot be told apart.
  const failures = script.attempts_named ? script.failures : 0
  for (let failure = 1; failure <= failures; failure += 1) milestone('failed', failure)
  milestone(script.ending, failures + 1)
  if (script.ending === 'canceled') {
    const { subject, amount_minor, currency } = story
    const release = {
      refund: `re_${subject.id}`,
      milestone: 'succeeded',
      releases_authorization: true,
    } as const
    teller.tell(refundMilestone(subject, { ...release, amount_minor, currency }))
  }
  return { ...NO_MONEY, status: script.ending satisfies PaymentStatus }
}

function figuresOf(happened: Happened): Figures {
  const names = Object.keys(NO_MONEY) as (keyof Figures)[]
  return Object.fromEntries(names.map((name) => [name, happened[name]] as const)) as unknown as Figures
}

function attemptId(subject: PaymentSubject, number: number): string {
  return `ch_${subject.id}_${number}`
}

function reporter(teller: Teller, story: PaymentStory, attempts_named: boolean) {
  return (milestone: PaymentMilestone, number: number): void => {
    const { subject, amount_minor, currency, naming } = story
    const attempt = attempts_named ? { attempt: attemptId(subject, number) } : {}
    const content: PaymentMilestoneReached = { milestone, ...attempt, amount_minor, currency, ...naming }
    const moved_at = teller.later()
    teller.tell(paymentMilestone(subject, milestone === 'succeeded' ? { ...content, moved_at } : content))
  }
}

function tellAftermath(
  teller: Teller,
  story: PaymentStory,
  aftermath: Aftermath,
  attempt: string | undefined,
): Happened {
  const money = { amount_minor: story.amount_minor, currency: story.currency }
  const collected: Happened = {
    ...NO_MONEY,
    captured_minor: money.amount_minor,
    returned_minor: 0n,
    won_minor: 0n,
    partly_lost: false,
    asked: null,
  }
  const dispute = `du_${story.subject.id}`
  switch (aftermath.kind) {
    case 'none':
      return collected
    case 'refunds':
      return { ...collected, ...tellRefunds(teller, story, aftermath.refunds) }
    case 'dispute': {
      const before: RefundScript[] =
        aftermath.refunded_percent > 0 ? [{ percent: aftermath.refunded_percent, course: 'succeeded' }] : []
      const refunded = tellRefunds(teller, story, before)
      const amount_minor = money.amount_minor - refunded.refunded_minor
      return {
        ...collected,
        ...refunded,
        ...tellDispute(teller, story.subject, dispute, { ...money, amount_minor }, aftermath.dispute),
      }
    }
    case 'reversal': {
      const named = attempt === undefined ? {} : { attempt }
      const moved_at = teller.later(24 * 60)
      teller.tell(paymentMilestone(story.subject, { milestone: 'reversed', ...named, ...money, moved_at }))
      if (aftermath.told_as_dispute_too) {
        tellDispute(teller, story.subject, dispute, money, {
          course: 'lost',
          warned: false,
          funds_told: true,
        })
      }
      return { ...collected, reversed_minor: money.amount_minor }
    }
  }
}

function tellRefunds(
  teller: Teller,
  { subject, amount_minor, currency }: PaymentStory,
  scripts: readonly RefundScript[],
): { refunded_minor: bigint; refund_pending_minor: bigint; returned_minor: bigint } {
  let refunded_minor = 0n
  let returned_minor = 0n
  let refund_pending_minor = 0n
  scripts.forEach((script, index) => {
    const left = amount_minor - refunded_minor - refund_pending_minor
    const own_minor = (left * BigInt(script.percent)) / 100n
    if (own_minor === 0n) return
    const refund = `re_${subject.id}_${index + 1}`
    for (const milestone of REFUND_COURSES[script.course]) {
      teller.later()
      teller.tell(
        refundMilestone(subject, {
          refund,
          milestone,
          amount_minor: own_minor,
          currency,
          origin: 'external',
        }),
      )
      if (milestone === 'succeeded') {
        teller.tell(refundTotal(subject, { total_minor: refunded_minor + own_minor, currency }))
      }
    }
    if (script.course === 'succeeded') refunded_minor += own_minor
    if (script.course === 'pending') refund_pending_minor += own_minor
    if (script.course === 'failed_later') returned_minor += own_minor
  })
  return { refunded_minor, refund_pending_minor, returned_minor }
}

const REFUND_COURSES = {
  succeeded: ['pending', 'succeeded'],
  pending: ['requested', 'pending'],
  failed_later: ['pending', 'succeeded', 'failed'],
  failed: ['pending', 'failed'],
  canceled: ['requested', 'canceled'],
} as const
