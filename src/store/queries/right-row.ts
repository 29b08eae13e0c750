import type { EntitlementState } from '../../facts/entitlement.ts'

export interface RightKey {
  readonly tenant: string
  readonly holder: string
  readonly item: string
}

/** One row of `rights`: what a holder has of an item. */
export interface RightRow extends RightKey {
  readonly id: bigint
  readonly facts_rev: bigint
  readonly effect_seq: bigint
  readonly revision: bigint
  readonly quantity: bigint
  readonly state: EntitlementState
}

/** Columns in the order in which `RightRow` names them, for select lists. */
export const RIGHT_COLUMNS = 'id, facts_rev, effect_seq, revision, quantity, tenant, holder, item, state'

/** A string that is equal exactly for rights under one lock. */
export function rightLock(key: RightKey): string {
  return JSON.stringify([key.tenant, key.holder, key.item])
}
