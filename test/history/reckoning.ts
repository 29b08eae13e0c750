import type { Figures, OrderOutcome } from './history.ts'

/**
 * How orders end under the default policy, reckoned from what really happened to each payment. Written apart from the
 * rules on purpose, and only for the shapes that the histories have.
 */

/** One payment of exactly the price. */
export function accessOfOne(end: Figures): OrderOutcome['access'] {
  const back = end.refunded_minor + end.lost_minor + end.reversed_minor
  if (end.reversed_minor > 0n) return 'suspended'
  if (back >= end.captured_minor) return 'revoked'
  if (end.disputed_minor > 0n) return 'suspended'
  return 'granted'
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
export function accessOfSeveral(ends: readonly Figures[]): OrderOutcome['access'] {
  const fates = fatesOf(ends)
  if (fates.includes('intact')) return 'granted'
  if (fates.includes('disputed')) return 'suspended'
  if (fates.includes('lost')) return 'revoked'
  return fates.includes('reversed') ? 'suspended' : 'revoked'
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
