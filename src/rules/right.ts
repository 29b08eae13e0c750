import type { EntitlementState } from '../facts/entitlement.ts'

/** What one order gives a holder of one item. */
export interface RightSource {
  readonly state: EntitlementState
  readonly quantity: number
}

/** Of rights that are not there, the one that says most about why. */
const STRICTNESS: Readonly<Record<Exclude<EntitlementState, 'granted' | 'suspended'>, number>> = {
  none: 0,
  expired: 1,
  revoked: 2,
}

/**
 * What a holder has of an item, from all orders that give or gave it: as long as one grants, it is granted, and what
 * several grant adds up. So the end of one source never takes what another gives.
 */
export function foldRight(sources: readonly RightSource[]): RightSource {
  const granting = sources.filter(({ state }) => state === 'granted')
  if (granting.length > 0) {
    return { state: 'granted', quantity: granting.reduce((sum, { quantity }) => sum + quantity, 0) }
  }
  return { state: withoutGrant(sources.map(({ state }) => state)), quantity: 0 }
}

/** The best of rights none of which is granted: suspended ones may come back, the others are over. */
export function withoutGrant(states: readonly EntitlementState[]): EntitlementState {
  if (states.includes('suspended')) return 'suspended'
  return states.reduce<EntitlementState>(
    (strictest, state) => (strictnessOf(state) > strictnessOf(strictest) ? state : strictest),
    'none',
  )
}

function strictnessOf(state: EntitlementState): number {
  return state === 'granted' || state === 'suspended' ? -1 : STRICTNESS[state]
}
