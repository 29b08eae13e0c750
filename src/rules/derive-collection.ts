import type { PaymentMilestone, PaymentMilestoneReached } from '../facts/payment.ts'
import type { Subject } from '../facts/subject.ts'
import { subjectKey } from '../facts/subject.ts'
import type { Conflict } from './conflict.ts'
import { earliest } from './instant.ts'
import { PAYMENT_RANK, UNORDERED_PAYMENT_PAIRS } from './rank.ts'
import { told } from './told.ts'
import type { StatementOf } from './unite.ts'

/** The money side of a payment before anything goes back: what was held, collected, and taken back by a bank. */
export interface Collection {
  readonly milestone: PaymentMilestone | null
  readonly currency: string | null
  readonly authorized_minor: bigint
  readonly captured_minor: bigint
  readonly reversed_minor: bigint
  readonly moved_at: string | null
  /** When a bank first took money back; null where none did, or nobody tells. */
  readonly reversed_at: string | null
  /** Money was collected, but no fact tells how much. */
  readonly amount_unknown: boolean
  readonly conflicts: readonly Conflict[]
}

type Milestones = ReadonlyMap<PaymentMilestone, readonly PaymentMilestoneReached[]>

/** Statements about the payment as a whole, one group per subject that tells them, and about each attempt in it. */
interface Telling {
  /** The payment's own object; a stand-in's cancellation is not the payment's. */
  readonly own: Milestones
  readonly wholes: readonly Milestones[]
  readonly attempts: ReadonlyMap<string, Milestones>
}

const MONEY_MILESTONES: readonly PaymentMilestone[] = ['authorized', 'succeeded', 'reversed']

/** Folds every milestone of a payment, of its attempts and of the stand-ins that tell of the same money. */
export function deriveCollection(
  statements: readonly StatementOf<'payment_milestone'>[],
  canonical: Subject | null,
): Collection {
  const telling = groupStatements(statements, canonical)
  const contents = statements.map((statement) => statement.content)
  const currencies = told(contents.filter(isMoney), 'currency')
  const captured = agreedSum(telling, 'succeeded', capturedOf)
  const reversed = agreedSum(telling, 'reversed', (object) => reversedOf(object) ?? capturedOf(object))
  const captured_minor = captured.amount_minor ?? reversed.amount_minor ?? 0n
  const reversed_minor = reversed.known ? (reversed.amount_minor ?? captured_minor) : 0n
  const conflicts = [...captured.conflicts, ...reversed.conflicts, ...rankConflicts(telling)]
  if (currencies.values.length > 1) {
    conflicts.push({ cause: 'currency', detail: `the money is told in ${currencies.values.join(' and ')}` })
  }
  return {
    milestone: milestoneOf(telling, reversed.known && reversed_minor >= captured_minor),
    currency: currencies.value ?? told(contents, 'currency').value,
    authorized_minor: authorizedSum(telling),
    captured_minor,
    reversed_minor,
    moved_at: firstMoved(contents, 'succeeded'),
    reversed_at: firstMoved(contents, 'reversed'),
    amount_unknown: captured.known && captured.amount_minor === null,
    conflicts,
  }
}

function firstMoved(
  contents: readonly PaymentMilestoneReached[],
  milestone: PaymentMilestone,
): string | null {
  return earliest(contents.filter((content) => content.milestone === milestone).map((c) => c.moved_at))
}

function isMoney(content: PaymentMilestoneReached): boolean {
  return MONEY_MILESTONES.includes(content.milestone)
}

function groupStatements(
  statements: readonly StatementOf<'payment_milestone'>[],
  canonical: Subject | null,
): Telling {
  const wholes = new Map<string, Map<PaymentMilestone, PaymentMilestoneReached[]>>()
  const attempts = new Map<string, Map<PaymentMilestone, PaymentMilestoneReached[]>>()
  for (const { subject, content } of statements) {
    const [groups, name] =
      content.attempt === undefined ? [wholes, subjectKey(subject)] : [attempts, content.attempt]
    const object = groups.get(name) ?? new Map<PaymentMilestone, PaymentMilestoneReached[]>()
    groups.set(name, object)
    const reached = object.get(content.milestone)
    if (reached === undefined) object.set(content.milestone, [content])
    else reached.push(content)
  }
  const own = (canonical && wholes.get(subjectKey(canonical))) ?? new Map()
  return { own, wholes: [...wholes.values()], attempts }
}

function capturedOf(object: Milestones): bigint | null {
  return told(object.get('succeeded') ?? [], 'amount_minor').value ?? reversedOf(object)
}

// A reversal says by itself that the money had been collected, so its amount stands in for a success not yet told.
function reversedOf(object: Milestones): bigint | null {
  return told(object.get('reversed') ?? [], 'amount_minor').value
}

interface Sum {
  /** Some fact says that the milestone was reached. */
  readonly known: boolean
  /** Null while no fact tells an amount. */
  readonly amount_minor: bigint | null
  readonly conflicts: readonly Conflict[]
}

/**
 * What the payment as a whole says it collected (or lost) and what its attempts add up to are two tellings of one
 * amount, so they must agree. The whole may come without attempts, and attempts may come without amounts.
 */
function agreedSum(
  telling: Telling,
  milestone: 'succeeded' | 'reversed',
  amountOf: (object: Milestones) => bigint | null,
): Sum {
  const reached = (object: Milestones) =>
    object.has(milestone) ||
    (milestone === 'succeeded' && object.has('reversed') && reversedOf(object) !== null)
  const conflicts: Conflict[] = []
  const wholes = [...new Set(telling.wholes.filter((object) => object.has(milestone)).map(amountOf))]
    .filter((amount) => amount !== null)
    .sort((a, b) => (a < b ? -1 : 1))
  if (wholes.length > 1) {
    conflicts.push({
      cause: `payment/${milestone}`,
      detail: `amount_minor is told as ${wholes.join(' and ')}`,
    })
  }
  let sum: bigint | null = null
  let complete = true
  let attempts = 0
  for (const [attempt, object] of telling.attempts) {
    if (!reached(object)) continue
    attempts += 1
    const told_amounts = told(object.get(milestone) ?? [], 'amount_minor').values
    if (told_amounts.length > 1) {
      const detail = `amount_minor is told as ${told_amounts.join(' and ')}`
      conflicts.push({ cause: `attempt/${attempt}/${milestone}`, detail })
    }
    const amount = amountOf(object)
    if (amount === null) complete = false
    else sum = (sum ?? 0n) + amount
  }
  const whole = wholes[0] ?? null
  if (whole !== null && sum !== null && (complete ? sum !== whole : sum > whole)) {
    const detail = `amount_minor is told as ${whole} for the payment and adds up to ${sum} over its attempts`
    conflicts.push({ cause: `payment/${milestone}`, detail })
  }
  const known = attempts > 0 || telling.wholes.some((object) => object.has(milestone))
  return { known, amount_minor: whole ?? sum, conflicts }
}

const UNDER_WAY: readonly PaymentMilestone[] = ['requires_action', 'pending', 'authorized']
const WITHOUT_MONEY: readonly PaymentMilestone[] = ['failed', 'canceled', 'expired']

function authorizedSum(telling: Telling): bigint {
  const held = (object: Milestones) => told(object.get('authorized') ?? [], 'amount_minor').value
  const whole = telling.wholes.map(held).find((amount) => amount !== null)
  if (whole !== undefined && whole !== null) return whole
  let sum = 0n
  for (const object of telling.attempts.values()) {
    const over = WITHOUT_MONEY.includes(topOf(object)) && !object.has('succeeded')
    if (!over) sum += held(object) ?? 0n
  }
  return sum
}

function topOf(object: Milestones): PaymentMilestone {
  return highest(object.keys()) ?? 'created'
}

/**
 * The farthest that any part has come: one attempt that succeeded makes the payment succeed, whatever failed beside
 * it, and an attempt under way outlives the failure of an earlier one. A reversal of a part leaves the payment
 * succeeded; only when all is taken back is it reversed.
 */
function milestoneOf(telling: Telling, all_reversed: boolean): PaymentMilestone | null {
  if (all_reversed) return 'reversed'
  const attempts = [...telling.attempts.values()].map(topOf)
  const under_way = attempts.filter((top) => UNDER_WAY.includes(top))
  const outlived = (top: PaymentMilestone) => top === 'failed' && under_way.length > 0
  const tops = [...telling.wholes.map(topOf), ...attempts].filter((top) => !outlived(top))
  return highest(tops.map((top) => (top === 'reversed' ? 'succeeded' : top)))
}

function highest(milestones: Iterable<PaymentMilestone>): PaymentMilestone | null {
  let best: PaymentMilestone | null = null
  for (const milestone of milestones) {
    const lead = best === null ? 1 : PAYMENT_RANK[milestone] - PAYMENT_RANK[best]
    if (lead > 0 || (lead === 0 && milestone < best!)) best = milestone
  }
  return best
}

/** Unordered pairs, on each object and between the payment's own object and its attempts. */
function rankConflicts(telling: Telling): Conflict[] {
  const conflicts: Conflict[] = []
  const attempts = [...telling.attempts.values()]
  for (const [lower, upper] of UNORDERED_PAYMENT_PAIRS) {
    const detail = `it is told as both ${lower} and ${upper}, and either may be the later one`
    const stands = (object: Milestones) => object.has(upper) && topOf(object) === upper
    for (const [attempt, object] of telling.attempts) {
      if (object.has(lower) && stands(object)) conflicts.push({ cause: `attempt/${attempt}`, detail })
    }
    for (const object of telling.wholes) {
      const in_itself = object.has(lower) && stands(object)
      const by_attempt = object === telling.own && topOf(object) === lower && attempts.some(stands)
      if (in_itself || by_attempt) conflicts.push({ cause: 'payment', detail })
    }
  }
  return conflicts
}
