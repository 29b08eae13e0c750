/**
 * What a merchant may decide about the meaning of money. The defaults are in `DEFAULT_POLICY`; an order pins the
 * policy that holds when its terms are registered. Issue by issue, more options are added here and read by the rules.
 */
export interface Policy {
  /** A refund gave everything back. */
  readonly full_refund: 'revoke' | 'keep'
  /** A refund gave a part back. */
  readonly partial_refund: 'keep' | 'revoke'
  /** A chargeback opened and its money was withdrawn. */
  readonly dispute_opened: 'suspend' | 'keep' | 'revoke'
  /** A chargeback was decided against us. */
  readonly dispute_lost: 'revoke' | 'keep'
  /** A bank took the money back after success. */
  readonly late_reversal: 'suspend' | 'revoke' | 'keep'
  /** How long money for an order that nobody registered may wait before a person is told, milliseconds. */
  readonly unknown_order_alert_after_ms: number
}

export const DEFAULT_POLICY: Policy = {
  full_refund: 'revoke',
  partial_refund: 'keep',
  dispute_opened: 'suspend',
  dispute_lost: 'revoke',
  late_reversal: 'suspend',
  unknown_order_alert_after_ms: 600_000,
}
