import * as fc from 'fast-check'
import {
  type DisputeStage,
  type DisputeStatus,
  disputeFunds,
  disputeStatus,
} from '../../src/facts/dispute.ts'
import type { PaymentSubject } from '../../src/facts/subject.ts'
import type { Teller } from './teller.ts'

/** How a dispute goes, from its first notice to its end, by name. */
export type DisputeCourse =
  | 'warning_open'
  | 'inquiry_open'
  | 'inquiry_closed'
  | 'open'
  | 'won'
  | 'lost'
  | 'accepted'
  | 'partly_won'
  | 'won_then_lost'
  | 'lost_then_won'
  | 'second_stage_open'
  | 'second_stage_lost'

export interface DisputeScript {
  readonly course: DisputeCourse
  /** A warning and an inquiry come before the chargeback. */
  readonly warned: boolean
  /** The provider tells the money movements apart from the verdict. */
  readonly funds_told: boolean
}

export const disputeScript: fc.Arbitrary<DisputeScript> = fc.record({
  course: fc.constantFrom<DisputeCourse>(
    'warning_open',
    'inquiry_open',
    'inquiry_closed',
    'open',
    'won',
    'lost',
    'accepted',
    'partly_won',
    'won_then_lost',
    'lost_then_won',
    'second_stage_open',
    'second_stage_lost',
  ),
  warned: fc.boolean(),
  funds_told: fc.boolean(),
})

type Step = readonly [DisputeStage, DisputeStatus, 'withdrawn' | 'reinstated' | 'part' | null]

const OPENED: readonly Step[] = [
  ['chargeback', 'needs_response', 'withdrawn'],
  ['chargeback', 'under_review', null],
]

const STEPS: Readonly<Record<DisputeCourse, readonly Step[]>> = {
  warning_open: [['early_warning', 'needs_response', null]],
  inquiry_open: [['inquiry', 'needs_response', null]],
  inquiry_closed: [
    ['inquiry', 'needs_response', null],
    ['inquiry', 'withdrawn', null],
  ],
  open: OPENED,
  won: [...OPENED, ['chargeback', 'won', 'reinstated']],
  lost: [...OPENED, ['chargeback', 'lost', null]],
  accepted: [
    ['chargeback', 'needs_response', 'withdrawn'],
    ['chargeback', 'accepted', null],
  ],
  partly_won: [...OPENED, ['chargeback', 'partially_won', 'part']],
  won_then_lost: [...OPENED, ['chargeback', 'won', 'reinstated'], ['chargeback', 'lost', 'withdrawn']],
  lost_then_won: [...OPENED, ['chargeback', 'lost', null], ['chargeback', 'won', 'reinstated']],
  second_stage_open: [
    ...OPENED,
    ['chargeback', 'won', 'reinstated'],
    ['second_chargeback', 'needs_response', 'withdrawn'],
  ],
  second_stage_lost: [
    ...OPENED,
    ['chargeback', 'won', 'reinstated'],
    ['second_chargeback', 'needs_response', 'withdrawn'],
    ['second_chargeback', 'lost', null],
  ],
}

const WITHHOLDING: readonly DisputeCourse[] = ['open', 'second_stage_open']
const WINNING: readonly DisputeCourse[] = ['won', 'lost_then_won']
const LOSING: readonly DisputeCourse[] = ['lost', 'accepted', 'won_then_lost', 'second_stage_lost']

export interface DisputeEnd {
  readonly disputed_minor: bigint
  readonly lost_minor: bigint
  readonly won_minor: bigint
  readonly partly_lost: boolean
  readonly asked: 'early_warning' | 'inquiry' | null
}

/** Tells a dispute over this amount and reckons what it withholds, loses or leaves. */
export function tellDispute(
  teller: Teller,
  subject: PaymentSubject,
  dispute: string,
  money: { readonly amount_minor: bigint; readonly currency: string },
  script: DisputeScript,
): DisputeEnd {
  const part_minor = money.amount_minor / 2n
  const warnings: readonly Step[] = script.warned
    ? [
        ['early_warning', 'needs_response', null],
        ['inquiry', 'needs_response', null],
      ]
    : []
  for (const [stage, status, movement] of [...warnings, ...STEPS[script.course]]) {
    const at = teller.later()
    teller.tell(
      disputeStatus(subject, { dispute, stage, status, at, ...money, respond_by: '2025-06-01T00:00:00Z' }),
    )
    const tells_funds = script.funds_told || script.course === 'partly_won'
    if (movement === null || !tells_funds) continue
    const amount_minor = movement === 'part' ? part_minor : money.amount_minor
    if (amount_minor === 0n) continue
    const direction = movement === 'withdrawn' ? 'withdrawn' : 'reinstated'
    const transaction = `txn_${dispute}_${at}`
    teller.tell(
      disputeFunds(subject, {
        dispute,
        direction,
        amount_minor,
        currency: money.currency,
        transaction,
        moved_at: at,
      }),
    )
  }
  return {
    disputed_minor: WITHHOLDING.includes(script.course) ? money.amount_minor : 0n,
    lost_minor: LOSING.includes(script.course)
      ? money.amount_minor
      : script.course === 'partly_won'
        ? money.amount_minor - part_minor
        : 0n,
    won_minor: WINNING.includes(script.course) ? money.amount_minor : 0n,
    partly_lost: script.course === 'partly_won',
    asked: askedAtTheEnd(script),
  }
}

function askedAtTheEnd({ course, warned }: DisputeScript): DisputeEnd['asked'] {
  if (course === 'inquiry_open') return 'inquiry'
  if (course !== 'warning_open') return null
  return warned ? 'inquiry' : 'early_warning'
}
