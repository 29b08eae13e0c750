import type { Collection } from './derive-collection.ts'
import type { DerivedDispute } from './derive-dispute.ts'
import type { RefundState } from './payment-state.ts'

/**
 * What went back of a payment, or may, finer than its sums: what policies ask about. Null for a payment of which nothing
 * of the kind is known, and that is nearly all of them.
 */
export interface Aftermath {
  /** Disputed amounts of open early warnings, and of open inquiries: nothing has moved yet. */
  readonly early_warning_minor: bigint
  readonly inquiry_minor: bigint
  /** What was withheld by disputes that are decided for us. */
  readonly won_minor: bigint
  /** Of what is lost, the part that disputes decided in part took. */
  readonly partly_lost_minor: bigint
  /** Of what is refunded, the part that prevented a dispute. */
  readonly prevented_minor: bigint
  /** Of what is refunded, the part that was started outside, in the provider's dashboard. */
  readonly external_minor: bigint
  /** What refunds had given back and came to us again: failed, cancelled or reversed after success. */
  readonly returned_minor: bigint
  /** When a bank first took money back, by the provider's clock; null where it did not, or nobody tells. */
  readonly reversed_at: string | null
}

export const NO_AFTERMATH: Aftermath = {
  early_warning_minor: 0n,
  inquiry_minor: 0n,
  won_minor: 0n,
  partly_lost_minor: 0n,
  prevented_minor: 0n,
  external_minor: 0n,
  returned_minor: 0n,
  reversed_at: null,
}

export type AftermathAmount = Exclude<keyof Aftermath, 'reversed_at'>

export const AFTERMATH_AMOUNTS = Object.keys(NO_AFTERMATH).filter(
  (name) => name !== 'reversed_at',
) as AftermathAmount[]

/**
 * @param lost_minor what disputes took for good, after what a reversal tells too was taken off
 */
export function aftermathOf(
  { captured_minor, reversed_at }: Pick<Collection, 'captured_minor' | 'reversed_at'>,
  refunds: readonly RefundState[],
  disputes: readonly DerivedDispute[],
  lost_minor: bigint,
): Aftermath | null {
  if (refunds.length === 0 && disputes.length === 0 && reversed_at === null) return null
  const of_disputes = (field: 'warned_minor' | 'won_minor', stage?: 'early_warning' | 'inquiry') =>
    disputes
      .filter((dispute) => stage === undefined || dispute.state.stage === stage)
      .reduce((sum, dispute) => sum + dispute[field], 0n)
  const of_refunds = (counts: (refund: RefundState) => boolean) =>
    refunds
      .filter((refund) => !refund.releases_authorization && counts(refund))
      .reduce((sum, refund) => sum + (refund.amount_minor ?? 0n), 0n)
  const succeeded = (refund: RefundState, origin: RefundState['origin']) =>
    refund.status === 'succeeded' && refund.origin === origin
  const partly_lost = disputes.reduce(
    (sum, { partial, lost_minor }) => (partial ? sum + lost_minor : sum),
    0n,
  )
  const aftermath: Aftermath = {
    early_warning_minor: least(of_disputes('warned_minor', 'early_warning'), captured_minor),
    inquiry_minor: least(of_disputes('warned_minor', 'inquiry'), captured_minor),
    won_minor: least(of_disputes('won_minor'), captured_minor),
    partly_lost_minor: least(partly_lost, lost_minor),
    prevented_minor:
      of_refunds((refund) => succeeded(refund, 'dispute_prevention')) + unrefunded(refunds, disputes),
    external_minor: of_refunds((refund) => succeeded(refund, 'external')),
    returned_minor: of_refunds(
      ({ ever_succeeded, status }) =>
        ever_succeeded && (status === 'failed' || status === 'canceled' || status === 'reversed'),
    ),
    reversed_at,
  }
  const empty = reversed_at === null && AFTERMATH_AMOUNTS.every((name) => aftermath[name] === 0n)
  return empty ? null : aftermath
}

/**
 * What prevented disputes took and no refund explains. A provider tells prevention as a refund, as a movement of the
 * dispute's money, or as both; told as both it is counted once.
 */
export function unrefunded(refunds: readonly RefundState[], disputes: readonly DerivedDispute[]): bigint {
  const taken = disputes.reduce((sum, dispute) => sum + dispute.prevented_minor, 0n)
  if (taken === 0n) return 0n
  const refunded = refunds
    .filter((refund) => refund.status === 'succeeded' && refund.origin === 'dispute_prevention')
    .reduce((sum, refund) => sum + (refund.amount_minor ?? 0n), 0n)
  return taken > refunded ? taken - refunded : 0n
}

/** In proportion, rounded up: for a payment that counts as more or less than it brought. */
export function scaledAftermath(
  aftermath: Aftermath | null,
  scaled: (amount: bigint) => bigint,
): Aftermath | null {
  if (aftermath === null) return null
  const amounts = AFTERMATH_AMOUNTS.map((name) => [name, scaled(aftermath[name])] as const)
  return { ...aftermath, ...Object.fromEntries(amounts) }
}

/** The stored form, names in one order and amounts as decimal text, so that equal ones have equal text. */
export function encodeAftermath(aftermath: Aftermath | null): string | null {
  if (aftermath === null) return null
  const fields = (Object.keys(NO_AFTERMATH) as (keyof Aftermath)[]).flatMap((name) => {
    const value = aftermath[name]
    return value === null || value === 0n ? [] : [[name, String(value)] as const]
  })
  return JSON.stringify(Object.fromEntries(fields))
}

/** Reads what `encodeAftermath` wrote, as a JSON column gives it. */
export function decodeAftermath(stored: object | null): Aftermath | null {
  if (stored === null) return null
  const fields = stored as Readonly<Record<string, string>>
  const amounts = AFTERMATH_AMOUNTS.map((name) => [name, BigInt(fields[name] ?? 0)] as const)
  return { ...NO_AFTERMATH, ...Object.fromEntries(amounts), reversed_at: fields.reversed_at ?? null }
}

function least(a: bigint, b: bigint): bigint {
  return a < b ? a : b
}
