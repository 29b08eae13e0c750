import type { DisputeFunds, DisputeStage, DisputeStatusReached } from '../facts/dispute.ts'
import type { Conflict } from './conflict.ts'
import { compareNewestFirst, instantOf } from './instant.ts'
import type { DisputeState } from './payment-state.ts'
import {
  DISPUTE_MEANING,
  DISPUTE_STAGE_RANK,
  DISPUTE_STATUS_RANK,
  type DisputeMeaning,
  FIRST_STAGE_WITH_MONEY,
} from './rank.ts'

/** One dispute and what it does to the payment's money, all in the payment's currency. */
export interface DerivedDispute {
  readonly state: DisputeState
  /** Withheld while nobody has decided. */
  readonly disputed_minor: bigint
  /** Gone for good, as far as is known. */
  readonly lost_minor: bigint
  /** Asked about before any money moved: an early warning or inquiry that is open. */
  readonly warned_minor: bigint
  /** Withheld at some time, and decided for us. */
  readonly won_minor: bigint
  /** Taken by a dispute that a refund was to prevent, as far as its movements tell. */
  readonly prevented_minor: bigint
  /** Decided in part. */
  readonly partial: boolean
  /** A partial verdict whose part nobody has told. */
  readonly part_unknown: boolean
  readonly conflicts: readonly Conflict[]
}

/**
 * One dispute from its verdicts and its money movements, which are told apart from each other: the verdict says what
 * a withdrawal means, the movements say how much it was. Without movements, a stage that takes money takes the
 * disputed amount.
 * @param currency the payment's own; movements in another one (a settlement account's) only show that money moved
 * @param captured_minor stands for the disputed amount where no fact tells it in the payment's currency
 */
export function deriveDispute(
  dispute: string,
  statuses: readonly DisputeStatusReached[],
  funds: readonly DisputeFunds[],
  currency: string | null,
  captured_minor: bigint,
): DerivedDispute {
  const { leading, agreed } = leadingStatuses(statuses)
  const latest = leading[0] ?? null
  const own_currency = currency ?? latest?.currency ?? funds[0]?.currency ?? null
  const amount = newestTold(statuses, 'amount_minor')
  const amount_currency = newestTold(statuses, 'currency')
  const told_in_own = amount_currency === null || amount_currency === own_currency
  const whole_minor = (told_in_own ? amount : null) ?? captured_minor
  const movements = sumMovements(funds, own_currency, whole_minor)
  const state: DisputeState = {
    dispute,
    stage: latest?.stage ?? 'chargeback',
    status: latest === null ? 'unknown' : agreed ? latest.status : 'conflicted',
    amount_minor: amount,
    currency: amount_currency ?? own_currency,
    withdrawn_minor: movements.withdrawn_minor,
    reinstated_minor: movements.reinstated_minor,
    respond_by: leading.find((content) => content.respond_by !== undefined)?.respond_by ?? null,
  }
  const meaning = latest === null ? 'open' : DISPUTE_MEANING[latest.status]
  return {
    state,
    ...moneyEffect(meaning, state.stage, movements, whole_minor),
    ...releasedMoney(meaning, state, movements, whole_minor),
    partial: meaning === 'partial',
    conflicts: agreed ? [] : [{ cause: `dispute/${dispute}`, detail: contradiction(leading) }],
  }
}

/**
 * The statements that count: of the highest stage, decided before undecided, and of those the newest by the provider's
 * time. They agree when they mean the same for the money.
 */
function leadingStatuses(statuses: readonly DisputeStatusReached[]): {
  leading: DisputeStatusReached[]
  agreed: boolean
} {
  const highest = Math.max(...statuses.map((content) => DISPUTE_STAGE_RANK[content.stage]))
  const of_stage = statuses.filter((content) => DISPUTE_STAGE_RANK[content.stage] === highest)
  const decided = of_stage.filter((content) => DISPUTE_MEANING[content.status] !== 'open')
  const candidates = decided.length > 0 ? decided : of_stage
  const ordered = [...candidates].sort(newestThenStrongest)
  const leading = ordered.filter((content) => instantOf(content.at) === instantOf(ordered[0]!.at))
  return { leading, agreed: new Set(leading.map((content) => DISPUTE_MEANING[content.status])).size <= 1 }
}

function newestThenStrongest(a: DisputeStatusReached, b: DisputeStatusReached): number {
  return compareNewestFirst(a.at, b.at) || DISPUTE_STATUS_RANK[b.status] - DISPUTE_STATUS_RANK[a.status]
}

function contradiction(leading: readonly DisputeStatusReached[]): string {
  return `at ${leading[0]?.at} it is told as ${leading.map((content) => content.status).join(' and ')}`
}

function newestTold<F extends 'amount_minor' | 'currency'>(
  statuses: readonly DisputeStatusReached[],
  field: F,
): NonNullable<DisputeStatusReached[F]> | null {
  const [newest] = statuses
    .filter((content) => content[field] !== undefined)
    .sort((a, b) => DISPUTE_STAGE_RANK[b.stage] - DISPUTE_STAGE_RANK[a.stage] || newestThenStrongest(a, b))
  return newest?.[field] ?? null
}

interface Movements {
  readonly withdrawn_minor: bigint
  readonly reinstated_minor: bigint
  readonly withdrawal_known: boolean
}

/**
 * Adds up what moved in the payment's currency. Where the provider tells movements only in its settlement currency,
 * each direction stands for the whole disputed amount.
 */
function sumMovements(
  funds: readonly DisputeFunds[],
  currency: string | null,
  whole_minor: bigint,
): Movements {
  const sum = (direction: DisputeFunds['direction']): bigint => {
    const moved = funds.filter((content) => content.direction === direction)
    const own = moved.filter((content) => content.currency === currency)
    if (own.length > 0) return own.reduce((total, content) => total + content.amount_minor, 0n)
    return moved.length > 0 ? whole_minor : 0n
  }
  return {
    withdrawn_minor: sum('withdrawn'),
    reinstated_minor: sum('reinstated'),
    withdrawal_known: funds.some((content) => content.direction === 'withdrawn'),
  }
}

/**
 * | verdict  | money known to have moved       | nothing known to have moved                        |
 * |----------|---------------------------------|----------------------------------------------------|
 * | open     | withheld: withdrawn - reinstated | withheld: the disputed amount; before a chargeback: 0 |
 * | lost     | lost: withdrawn - reinstated    | lost: the disputed amount; before a chargeback: 0  |
 * | partial  | lost: withdrawn - reinstated    | nothing, and a person is asked which part          |
 * | released | nothing                         | nothing                                            |
 */
function moneyEffect(
  meaning: DisputeMeaning,
  stage: DisputeStage,
  movements: Movements,
  whole_minor: bigint,
): { disputed_minor: bigint; lost_minor: bigint; part_unknown: boolean } {
  const takes_money = DISPUTE_STAGE_RANK[stage] >= FIRST_STAGE_WITH_MONEY
  const assumed = takes_money && meaning !== 'partial' ? whole_minor : 0n
  const taken =
    (movements.withdrawal_known ? movements.withdrawn_minor : assumed) - movements.reinstated_minor
  const net = taken > 0n ? taken : 0n
  return {
    disputed_minor: meaning === 'open' ? net : 0n,
    lost_minor: meaning === 'lost' || meaning === 'partial' ? net : 0n,
    part_unknown: meaning === 'partial' && !movements.withdrawal_known,
  }
}

/** What a dispute that takes nothing (any more) is about: policies may ask for it. */
function releasedMoney(
  meaning: DisputeMeaning,
  { stage, status }: DisputeState,
  { withdrawn_minor, reinstated_minor, withdrawal_known }: Movements,
  whole_minor: bigint,
): { warned_minor: bigint; won_minor: bigint; prevented_minor: bigint } {
  const takes_money = DISPUTE_STAGE_RANK[stage] >= FIRST_STAGE_WITH_MONEY || withdrawal_known
  const kept = withdrawn_minor - reinstated_minor
  const prevented = meaning === 'released' && status === 'prevented'
  const won = meaning === 'released' && !prevented && takes_money
  return {
    warned_minor: meaning === 'open' && !takes_money ? whole_minor : 0n,
    won_minor: won ? (withdrawal_known ? withdrawn_minor : whole_minor) : 0n,
    prevented_minor: prevented && kept > 0n ? kept : 0n,
  }
}
