import type { DisputeStage, DisputeStatus } from '../../facts/dispute.ts'
import { disputeFunds, disputeStatus } from '../../facts/dispute.ts'
import type { Fact } from '../../facts/fact.ts'
import type { PaymentSubject } from '../../facts/subject.ts'
import { listIn, recordIn, textIn } from '../field.ts'
import { Unreadable } from '../unreadable.ts'
import { moneyIn, type PaypalMoney } from './amount.ts'
import {
  checkPayee,
  type PaypalSetup,
  paymentSubject,
  type Reading,
  requiredId,
  timeIn,
} from './paypal-object.ts'

const STAGES: ReadonlyMap<string, DisputeStage> = new Map([
  ['INQUIRY', 'inquiry'],
  ['CHARGEBACK', 'chargeback'],
  ['PRE_ARBITRATION', 'pre_arbitration'],
  ['ARBITRATION', 'arbitration'],
])

const OPEN_STATUSES: ReadonlyMap<string, DisputeStatus> = new Map([
  ['OPEN', 'needs_response'],
  ['WAITING_FOR_SELLER_RESPONSE', 'needs_response'],
  ['WAITING_FOR_BUYER_RESPONSE', 'under_review'],
  ['UNDER_REVIEW', 'under_review'],
  ['OTHER', 'under_review'],
])

/** PayPal explains none of these; the others say too little by themselves. */
const OUTCOMES: ReadonlyMap<string, DisputeStatus> = new Map([
  ['RESOLVED_SELLER_FAVOUR', 'won'],
  ['CANCELED_BY_BUYER', 'won'],
  ['RESOLVED_BUYER_FAVOUR', 'lost'],
])

/** `GET /v1/customer/disputes/{id}`: the verdict, and the money that moved, which decides where the verdict is unclear. */
export function readDispute(setup: PaypalSetup, dispute: unknown): Reading {
  const subject = disputedPayment(setup, dispute)
  const id = requiredId(dispute, 'dispute_id')
  const stage = stageOf(dispute)
  const at = timeIn(dispute, 'update_time') ?? timeIn(dispute, 'create_time')
  if (at === undefined) throw new Unreadable('update_time is missing')
  const movements = stage === 'inquiry' ? [] : readMovements(dispute)
  const status = statusOf(dispute, stage, movements)
  const verdict = disputeStatus(subject, {
    dispute: id,
    stage,
    status,
    at,
    ...amountOf(dispute, status),
    respond_by: timeIn(dispute, 'seller_response_due_date'),
    reason: textIn(dispute, 'reason'),
  })
  const funds: readonly Fact[] = movements.map(({ direction, money, transaction, moved_at }) =>
    disputeFunds(subject, {
      dispute: id,
      direction,
      ...money,
      transaction: `${id}/${transaction}`,
      moved_at,
    }),
  )
  return { facts: [verdict, ...funds], lookups: [{ object: 'payment', id: subject.id }] }
}

/** True when this dispute explains that money was taken back: before a chargeback none moves. */
export function takesMoney(dispute: unknown): boolean {
  const stage = textIn(dispute, 'dispute_life_cycle_stage')
  return stage !== undefined && stage !== 'INQUIRY'
}

function disputedPayment(setup: PaypalSetup, dispute: unknown): PaymentSubject {
  const [transaction, ...others] = listIn(dispute, 'disputed_transactions')
  if (others.length > 0) throw new Unreadable('it disputes several payments at once')
  checkPayee(setup, textIn(transaction, 'seller', 'merchant_id'))
  return paymentSubject(setup.account, requiredId(transaction, 'seller_transaction_id'))
}

function stageOf(dispute: unknown): DisputeStage {
  if (textIn(dispute, 'dispute_channel') === 'ALERT') return 'early_warning'
  const stage = STAGES.get(textIn(dispute, 'dispute_life_cycle_stage') ?? '')
  if (stage === undefined) throw new Unreadable('dispute_life_cycle_stage is not one that we know')
  return stage
}

function statusOf(dispute: unknown, stage: DisputeStage, movements: readonly Movement[]): DisputeStatus {
  const status = textIn(dispute, 'status') ?? ''
  const open = OPEN_STATUSES.get(status)
  if (open !== undefined) return open
  if (status !== 'RESOLVED') throw new Unreadable('status is not a dispute status that we know')
  const told = OUTCOMES.get(textIn(dispute, 'dispute_outcome', 'outcome_code') ?? '')
  const decided = told ?? byMoney(dispute, movements)
  return decided === 'won' && stage === 'inquiry' ? 'withdrawn' : decided
}

/** Where the outcome does not tell, who has the money does; where neither does, nothing is decided for us. */
function byMoney(dispute: unknown, movements: readonly Movement[]): DisputeStatus {
  if (movements.length > 0) {
    const net = movements.reduce(
      (sum, { direction, money }) => sum + (direction === 'withdrawn' ? 1n : -1n) * money.amount_minor,
      0n,
    )
    return net > 0n ? 'lost' : 'won'
  }
  const refunded = refundedBy(dispute)
  return refunded === undefined ? 'under_review' : refunded.amount_minor > 0n ? 'lost' : 'won'
}

/** What is at stake; of a lost dispute what the buyer was given, which may be less. */
function amountOf(dispute: unknown, status: DisputeStatus): Partial<PaypalMoney> {
  const refunded = status === 'lost' ? refundedBy(dispute) : undefined
  if (refunded !== undefined && refunded.amount_minor > 0n) return refunded
  return recordIn(dispute, 'dispute_amount') === undefined ? {} : moneyIn(dispute, 'dispute_amount')
}

function refundedBy(dispute: unknown): PaypalMoney | undefined {
  const path = ['dispute_outcome', 'amount_refunded']
  return recordIn(dispute, ...path) === undefined ? undefined : moneyIn(dispute, ...path)
}

interface Movement {
  readonly direction: 'withdrawn' | 'reinstated'
  readonly money: PaypalMoney
  /** Stands in for an id, which movements do not have. */
  readonly transaction: string
  readonly moved_at: string | undefined
}

/** Movements of our own money, without fees, which are no part of the payment. */
function readMovements(dispute: unknown): readonly Movement[] {
  const seen = new Map<string, number>()
  return listIn(dispute, 'money_movements').flatMap((movement) => {
    if (textIn(movement, 'affected_party') !== 'SELLER') return []
    if (/FEE$/.test(textIn(movement, 'reason') ?? '')) return []
    const type = textIn(movement, 'type')
    if (type !== 'DEBIT' && type !== 'CREDIT') throw new Unreadable('money_movements has an unknown type')
    const money = moneyIn(movement, 'amount')
    const moved_at = timeIn(movement, 'initiated_time')
    const name = `${type}/${moved_at ?? '-'}/${money.amount_minor}`
    const times = (seen.get(name) ?? 0) + 1
    seen.set(name, times)
    const direction = type === 'DEBIT' ? ('withdrawn' as const) : ('reinstated' as const)
    return [{ direction, money, transaction: `${name}/${times}`, moved_at }]
  })
}
