export interface RefundKey {
  readonly tenant: string
  readonly namespace: string
  readonly account: string
  readonly provider_refund_id: string
}

/** A string that is equal exactly for one refund. */
export function claimLock(key: RefundKey): string {
  return `${key.tenant}\n${key.namespace}\n${key.account}\n${key.provider_refund_id}`
}
