import type { DisputeStatus } from '../facts/dispute.ts'
import type { PaymentStatus, RefundStatus } from './payment-state.ts'
import { DISPUTE_MEANING } from './rank.ts'

export type ReconciledKind = 'payments' | 'refunds' | 'disputes'

/** How the two sides can differ about one object. */
export type BreakClass =
  /** The provider has it, we do not. */
  | 'missing_internal'
  /** We have it, and the provider's complete list does not. */
  | 'missing_external'
  | 'amount_mismatch'
  | 'currency_mismatch'
  | 'status_mismatch'
  /** One side is only slower; carries a time after which that explains nothing any more. */
  | 'timing_difference'
  /** The provider lists one id twice, with different contents or on two lines of a file. */
  | 'duplicate_external'
  /** We hold one payment under two ids. */
  | 'duplicate_internal'
  /** Money went back of which we do not even know the payment. */
  | 'unexplained_refund'
  /** The fee or the exchange that the provider states accounts for all of it. */
  | 'fee_or_fx_difference'
  /** Nothing can be said: not comparable, or outside what was listed. */
  | 'unverifiable'

export type ReconciliationClass =
  | 'matched'
  | 'matched_within_tolerance'
  /** Only the provider has it, and it carries none of our references. */
  | 'not_ours'
  | BreakClass

/** What one side says of an object. Null is no information. */
export interface Side {
  /** In our words: a status of the payment, the refund or the dispute. */
  readonly status: string | null
  /** What moved, minor units of `currency`. */
  readonly amount_minor: bigint | null
  readonly currency: string | null
}

export interface TheirSide extends Side {
  /** What the provider kept of it, where its file says so; minor units of `currency`. */
  readonly fee_minor: bigint | null
  /** What it was before an exchange, where its file says so. */
  readonly original: { readonly amount_minor: bigint; readonly currency: string } | null
  /** True when its payment is known to us; always so for a payment itself. */
  readonly payment_known: boolean
  /** The adapter read it and found nothing in it that concerns us. */
  readonly foreign: boolean
}

export interface OurSide extends Side {
  /** When our state last changed, Unix milliseconds. */
  readonly changed_at_ms: number
}

export interface ComparisonBasis {
  readonly now_ms: number
  /** How long after a change the provider may still show the former state, milliseconds. */
  readonly lag_ms: number
  /** By how much amounts may differ, minor units. */
  readonly tolerance_minor: bigint
  /** What the provider says of it has been settled already; what differs now, differs. */
  readonly settled: boolean
}

export interface Judgement {
  readonly class: ReconciliationClass
  /** The provider knows more: what it says has to be settled like a message of its own, and compared again. */
  readonly settles: boolean
  /** Until when a difference in timing explains it, Unix milliseconds; null otherwise. */
  readonly expires_at_ms: number | null
}

/** Compares what the provider says of one object with what we know of it; `ours` is null when we know nothing. */
export function compareItem(
  kind: ReconciledKind,
  theirs: TheirSide,
  ours: OurSide | null,
  basis: ComparisonBasis,
): Judgement {
  const settles = ours === null && !basis.settled
  if (ours === null && theirs.foreign)
    return judged(theirs.amount_minor === null ? 'unverifiable' : 'not_ours')
  if (kind === 'refunds' && !theirs.payment_known) return judged('unexplained_refund', { settles })
  if (ours === null) return judged('missing_internal', { settles })
  const ahead = whoIsAhead(kind, theirs.status, ours.status)
  if (ahead === 'theirs' && !basis.settled) return judged('status_mismatch', { settles: true })
  if (ahead !== null) {
    const expires_at_ms = ours.changed_at_ms + basis.lag_ms
    return expires_at_ms > basis.now_ms
      ? judged('timing_difference', { expires_at_ms })
      : judged('status_mismatch')
  }
  // While nothing has moved, amounts are what is asked for or held, and may still change.
  if (ours.status !== null && !hasMoved(kind, ours.status)) return judged('matched')
  return compareMoney(theirs, ours, basis)
}

function compareMoney(
  theirs: TheirSide,
  ours: OurSide,
  { tolerance_minor, settled }: ComparisonBasis,
): Judgement {
  if (theirs.amount_minor === null) return judged(theirs.status === null ? 'unverifiable' : 'matched')
  if (ours.amount_minor === null || ours.currency === null)
    return judged('amount_mismatch', { settles: !settled })
  if (theirs.currency !== null && theirs.currency !== ours.currency) {
    const { original } = theirs
    const exchanged = original?.currency === ours.currency && original.amount_minor === ours.amount_minor
    return judged(exchanged ? 'fee_or_fx_difference' : 'currency_mismatch')
  }
  const apart_minor = ours.amount_minor - theirs.amount_minor
  if (apart_minor === 0n) return judged('matched')
  if (apart_minor === theirs.fee_minor) return judged('fee_or_fx_difference')
  const within = (apart_minor < 0n ? -apart_minor : apart_minor) <= tolerance_minor
  return judged(within ? 'matched_within_tolerance' : 'amount_mismatch')
}

/** What we know of an object that the provider did not list. */
export interface Absence {
  /** A complete list covers the time at which its money moved. */
  readonly covered: boolean
  /** When its money moved, Unix milliseconds; null when nobody knows. */
  readonly moved_at_ms: number | null
  /** When the list was read, Unix milliseconds. */
  readonly listed_at_ms: number
  readonly lag_ms: number
  /** The list is by the time at which money moves; otherwise an object may stand in another window. */
  readonly listed_by_moved: boolean
  /** What the provider said when it was asked about this very object; null when it was not, or gave no answer. */
  readonly asked: 'found' | 'not_found' | null
  /** A payment of the same order, amount and currency was listed. */
  readonly twin_listed: boolean
}

/** Judges what we know and the provider did not list. Absence means something only inside what was listed to its end. */
export function judgeAbsence(absence: Absence): Judgement {
  const { covered, moved_at_ms, listed_at_ms, lag_ms, asked } = absence
  if (asked === 'found') return judged('matched')
  if (!covered || moved_at_ms === null) {
    if (!covered || asked === null) return judged('unverifiable')
  } else if (moved_at_ms + lag_ms > listed_at_ms) {
    return judged('timing_difference', { expires_at_ms: moved_at_ms + 2 * lag_ms })
  }
  if (asked === null && !absence.listed_by_moved) return judged('unverifiable')
  return judged(absence.twin_listed ? 'duplicate_internal' : 'missing_external')
}

function judged(
  found: ReconciliationClass,
  { settles = false, expires_at_ms = null }: { settles?: boolean; expires_at_ms?: number | null } = {},
): Judgement {
  return { class: found, settles, expires_at_ms }
}

/** True for what is a difference between two sides that speak of one object. */
export function isBreak(found: ReconciliationClass): found is BreakClass {
  return found !== 'matched' && found !== 'matched_within_tolerance' && found !== 'not_ours'
}

/** Differences that a person has to explain. The others explain themselves, or may yet. */
export const ALARMING: ReadonlySet<BreakClass> = new Set<BreakClass>([
  'missing_internal',
  'missing_external',
  'amount_mismatch',
  'currency_mismatch',
  'status_mismatch',
  'duplicate_external',
  'duplicate_internal',
  'unexplained_refund',
])

type Standing = 'nothing' | 'under_way' | 'ended' | 'moved' | 'back' | 'contradictory'

const PAYMENT_STANDING: Readonly<Record<PaymentStatus, Standing>> = {
  unknown: 'nothing',
  created: 'under_way',
  requires_action: 'under_way',
  pending: 'under_way',
  authorized: 'under_way',
  failed: 'ended',
  canceled: 'ended',
  expired: 'ended',
  succeeded: 'moved',
  reversed: 'back',
  conflicted: 'contradictory',
  linked: 'nothing',
}

const REFUND_STANDING: Readonly<Record<RefundStatus, Standing>> = {
  unknown: 'nothing',
  requested: 'under_way',
  pending: 'under_way',
  requires_action: 'under_way',
  succeeded: 'moved',
  failed: 'back',
  canceled: 'back',
  reversed: 'back',
  conflicted: 'contradictory',
}

const ORDER: Readonly<Record<Standing, number>> = {
  nothing: 0,
  under_way: 1,
  ended: 2,
  moved: 3,
  back: 4,
  contradictory: 5,
}

function standingOf(kind: 'payments' | 'refunds', status: string): Standing {
  const table: Readonly<Record<string, Standing>> = kind === 'payments' ? PAYMENT_STANDING : REFUND_STANDING
  return Object.hasOwn(table, status) ? table[status]! : 'nothing'
}

/** Which side knows a later state; null when both stand alike or one says nothing. */
function whoIsAhead(
  kind: ReconciledKind,
  theirs: string | null,
  ours: string | null,
): 'theirs' | 'ours' | null {
  if (theirs === null || ours === null || theirs === ours) return null
  if (kind === 'disputes') {
    // There is a way back between verdicts; the provider's time inside its statement decides.
    return meaningOf(theirs) === meaningOf(ours) ? null : 'theirs'
  }
  const [their_standing, our_standing] = [standingOf(kind, theirs), standingOf(kind, ours)]
  if (their_standing === our_standing || their_standing === 'contradictory') return null
  // A payment that the bank took back stays a success, or is a failure, in some providers' lists.
  if (
    kind === 'payments' &&
    our_standing === 'back' &&
    (their_standing === 'moved' || their_standing === 'ended')
  )
    return null
  return ORDER[their_standing] > ORDER[our_standing] ? 'theirs' : 'ours'
}

function meaningOf(status: string): string {
  return Object.hasOwn(DISPUTE_MEANING, status) ? DISPUTE_MEANING[status as DisputeStatus] : status
}

function hasMoved(kind: ReconciledKind, status: string): boolean {
  if (kind === 'disputes') return true
  const standing = standingOf(kind, status)
  return standing === 'moved' || standing === 'back'
}
