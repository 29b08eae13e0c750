/** The right that an order or a period gives. */
export type EntitlementState = 'none' | 'granted' | 'suspended' | 'revoked' | 'expired'

/** What the rules want an item's right to be. `held` means: leave it as it is, the facts contradict each other. */
export interface EntitlementTarget {
  readonly item: string
  readonly quantity: number
  readonly state: EntitlementState | 'held'
}
