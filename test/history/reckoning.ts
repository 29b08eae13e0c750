import type { PolicyOverrides } from '../../src/rules/policy.ts'
import type { Figures, OrderOutcome } from './history.ts'

/**
 * How orders end under their policies, reckoned from what really happened to each payment. Written apart from the
 * rules on purpose, and only for the shapes that the histories have.
 */

/** What happened to a payment's money, finer than the sums that it ends with. All refunds are made outside. */
export interface Happened extends Figures {
  /** Refunds of so much had succeeded and failed later. */
  readonly returned_minor: bigint
  /** Disputes about so much were won. */
  readonly won_minor: bigint
  readonly partly_lost: boolean
  /** What is only asked about, without money, at the end. */
  readonly asked: 'early_warning' | 'inquiry' | null
}

type Access = 'granted' | 'suspended' | 'revoked'

const MEANING: Readonly<Record<string, Access>> = {
  keep: 'granted',
  suspend: 'suspended',
  review: 'suspended',
  revoke: 'revoked',
}

/** What the order says of an option, or what it is for an order that says nothing. */
function answer(policy: PolicyOverrides, option: string, usually: string): Access {
  return MEANING[String(policy[option] ?? usually)]!
}

function strictest(answers: readonly Access[]): Access {
  if (answers.includes('revoked')) return 'revoked'
  return answers.includes('suspended') ? 'suspended' : 'granted'
}

function afterReversal(policy: PolicyOverrides): Access {
  // A grace that is told is never over in these histories.
  return policy.late_reversal_grace_ms === undefined ? answer(policy, 'late_reversal', 'suspend') : 'granted'
}

function afterPart(policy: PolicyOverrides, gone_minor: bigint, price_minor: bigint): Access {
  const { partial_refund: said = 'keep' } = policy
  if (typeof said !== 'number') return MEANING[String(said)]!
  return gone_minor * 10_000n >= BigInt(said) * price_minor ? 'revoked' : 'granted'
}

/** One payment of exactly the price. */
export function accessOfOne(end: Happened, policy: PolicyOverrides): Access {
  const gone_minor = end.refunded_minor + end.lost_minor
  const nothing_left = gone_minor + end.reversed_minor >= end.captured_minor
  const part = () => afterPart(policy, gone_minor, end.captured_minor)
  const answers: Access[] = []
  if (end.refunded_minor > 0n) {
    if (policy.external_refund === 'review') answers.push('suspended')
    else answers.push(nothing_left ? answer(policy, 'full_refund', 'revoke') : part())
  }
  if (end.lost_minor > 0n) {
    if (end.partly_lost && policy.dispute_partial === 'review') answers.push('suspended')
    else answers.push(nothing_left ? answer(policy, 'dispute_lost', 'revoke') : part())
  }
  if (end.disputed_minor > 0n) answers.push(answer(policy, 'dispute_opened', 'suspend'))
  if (end.reversed_minor > 0n) answers.push(afterReversal(policy))
  if (end.refund_pending_minor > 0n) answers.push(answer(policy, 'refund_pending', 'keep'))
  if (end.asked !== null) answers.push(answer(policy, end.asked, 'keep'))
  if (end.returned_minor > 0n) answers.push(answer(policy, 'refund_failed', 'keep'))
  if (end.won_minor > 0n && policy.dispute_opened !== 'keep') {
    answers.push(answer(policy, 'dispute_won', 'keep'))
  }
  return strictest(answers)
}

export function statusOfOne(end: Figures): OrderOutcome['status'] {
  if (end.reversed_minor > 0n) return 'awaiting_payment'
  if (end.lost_minor > 0n) return 'charged_back'
  if (end.refunded_minor === 0n) return 'paid'
  return end.refunded_minor >= end.captured_minor ? 'refunded' : 'partially_refunded'
}

type Fate = 'intact' | 'refunded' | 'reversed' | 'lost' | 'disputed'

/** Several payments of exactly the price, each of which kept all its money or none. */
function fatesOf(ends: readonly Figures[]): Fate[] {
  return ends.map((end) => {
    if (end.disputed_minor > 0n) return 'disputed'
    if (end.lost_minor > 0n) return 'lost'
    if (end.reversed_minor > 0n) return 'reversed'
    return end.refunded_minor > 0n ? 'refunded' : 'intact'
  })
}

/** Any payment that is whole pays the order. Otherwise all but one were surplus: the one that still may come back first. */
export function accessOfSeveral(ends: readonly Happened[], policy: PolicyOverrides): Access {
  const fates = fatesOf(ends)
  return strictest([takenFromSeveral(fates, policy), ...askedOfSeveral(ends, fates, policy)])
}

function takenFromSeveral(fates: readonly Fate[], policy: PolicyOverrides): Access {
  if (fates.includes('intact')) return 'granted'
  if (fates.includes('disputed')) return answer(policy, 'dispute_opened', 'suspend')
  if (fates.includes('lost')) return answer(policy, 'dispute_lost', 'revoke')
  if (fates.includes('reversed')) return afterReversal(policy)
  return policy.external_refund === 'review' ? 'suspended' : answer(policy, 'full_refund', 'revoke')
}

/** What took nothing matters where no whole payment would be left without those that it concerns. */
function askedOfSeveral(
  ends: readonly Happened[],
  fates: readonly Fate[],
  policy: PolicyOverrides,
): Access[] {
  const intact = fates.filter((fate) => fate === 'intact').length
  const when = (concerned: (end: Happened) => boolean, option: string): Access => {
    const count = ends.filter(concerned).length
    return count > 0 && intact - count < 1 ? answer(policy, option, 'keep') : 'granted'
  }
  return [
    when((end) => end.asked === 'early_warning', 'early_warning'),
    when((end) => end.asked === 'inquiry', 'inquiry'),
    when((end) => end.returned_minor > 0n, 'refund_failed'),
    policy.dispute_opened === 'keep' ? 'granted' : when((end) => end.won_minor > 0n, 'dispute_won'),
  ]
}

export function statusOfSeveral(
  ends: readonly Figures[],
  due_minor: bigint,
): Pick<OrderOutcome, 'status' | 'paid_minor' | 'net_minor' | 'surplus_minor'> {
  const fates = fatesOf(ends)
  const intact = BigInt(fates.filter((fate) => fate === 'intact').length)
  const disputed = BigInt(fates.filter((fate) => fate === 'disputed').length)
  const surplus_minor = intact > 1n ? (intact - 1n) * due_minor : 0n
  return {
    status: severalStatus(fates, surplus_minor),
    paid_minor: BigInt(ends.length) * due_minor,
    net_minor: (intact + disputed) * due_minor,
    surplus_minor,
  }
}

function severalStatus(fates: readonly Fate[], surplus_minor: bigint): OrderOutcome['status'] {
  if (surplus_minor > 0n) return 'overpaid'
  if (fates.includes('intact') || fates.includes('disputed')) return 'paid'
  if (fates.includes('lost')) return 'charged_back'
  return fates.includes('reversed') ? 'awaiting_payment' : 'refunded'
}

/** So much came, all of it stays, and it is not exactly the price. */
export function endOfSum(came_minor: bigint, due_minor: bigint, policy: PolicyOverrides): OrderOutcome {
  const tolerated_minor = BigInt(policy.tolerance_minor ?? 0n)
  const sums = { paid_minor: came_minor, net_minor: came_minor, surplus_minor: 0n, credits: 0 }
  if (due_minor - came_minor > tolerated_minor) {
    const access = policy.partial_payments === 'grant' ? 'granted' : 'none'
    return { ...sums, status: 'underpaid', access }
  }
  const surplus_minor = came_minor - due_minor
  return surplus_minor > tolerated_minor
    ? { ...sums, status: 'overpaid', surplus_minor, access: 'granted' }
    : { ...sums, status: 'paid', access: 'granted' }
}

/** Of so many credits for the price, those that what is kept of it still buys. */
function creditsLeft(
  quantity: number,
  ends: readonly Happened[],
  enough_minor: bigint,
  policy: PolicyOverrides,
) {
  const kept_minor = ends.reduce((sum, end) => {
    const withheld_minor = policy.dispute_opened === 'keep' ? 0n : end.disputed_minor
    return (
      sum + end.captured_minor - end.refunded_minor - end.lost_minor - end.reversed_minor - withheld_minor
    )
  }, 0n)
  if (kept_minor >= enough_minor) return quantity
  return Number((BigInt(quantity) * kept_minor) / enough_minor)
}

/** An order of credits gives as long as one is left, whatever an order of a right would give. */
function endWithCredits(end: OrderOutcome, credits: number): OrderOutcome {
  if (credits > 0) return { ...end, access: 'granted', credits }
  return end.access === 'granted' ? { ...end, access: 'revoked' } : end
}

/** Credits are counted once the price is complete. A tolerance is only drawn where nothing goes back. */
export function endOfPurchase(
  end: OrderOutcome,
  quantity: number,
  ends: readonly Happened[],
  due_minor: bigint,
  policy: PolicyOverrides,
): OrderOutcome {
  if (end.access === 'none' || end.status === 'underpaid') return { ...end, access: 'none' }
  const enough_minor = due_minor - BigInt(policy.tolerance_minor ?? 0n)
  return endWithCredits(end, creditsLeft(quantity, ends, enough_minor, policy))
}

/** Each period buys its own credits, and they stay when the subscription is over. */
export function endOfPurchases(
  end: OrderOutcome,
  quantity: number,
  ends: readonly Happened[],
  due_minor: bigint,
  policy: PolicyOverrides,
): OrderOutcome {
  const last = ends.at(-1)
  if (last === undefined) return { ...end, access: 'none' }
  const credits = ends.reduce((sum, one) => sum + creditsLeft(quantity, [one], due_minor, policy), 0)
  return endWithCredits({ ...end, access: accessOfOne(last, policy) }, credits)
}
