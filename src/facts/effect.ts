/** Rows of the outbox: what is to be done outside this database. */

/** Order is kept inside one lane of one subject; a bounced receipt does not hold back a revoke. */
export type Lane = 'access' | 'messages' | 'money' | 'alerts'

/** "Set item to this state, revision n." Waiting ones of one item coalesce to the newest; receivers ignore lower revisions. */
export interface LevelEffectDue {
  readonly type: 'level'
  readonly topic: 'entitlement.changed' | 'right.changed'
  readonly item: string
  readonly lane: Lane
}

/** Something that is done once per cause: a receipt, a refund, an alert. */
export interface OneShotEffectDue {
  readonly type: 'one_shot'
  readonly topic: 'receipt.due' | 'refund.due' | 'exception.opened'
  readonly item: string
  /** What makes it due: the order line, the refund, the exception; never the event that happened to arrive. */
  readonly cause: string
  readonly lane: Lane
  readonly payload: Readonly<Record<string, unknown>>
  readonly delay_ms: number
}

export type EffectDue = LevelEffectDue | OneShotEffectDue
export type Topic = EffectDue['topic']
