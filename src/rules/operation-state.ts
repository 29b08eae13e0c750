/** How far a charge or refund that we ask a provider for has come. */
export type OperationState =
  /** Row and key are stored; nothing was sent under the present attempt, or it waits for a person. */
  | 'planned'
  /** A request is being sent. Found so after its worker is gone, nobody knows whether it arrived. */
  | 'in_flight'
  /** The provider took it on; how the refund or payment itself goes on is told by its facts. */
  | 'succeeded'
  /** A definitive no: nothing happened under this attempt, and nothing will. */
  | 'failed_definitive'
  /** Nobody knows whether it happened. Ends only by evidence, or by a person. */
  | 'unknown'
  /** A person gave it up, with a reason. */
  | 'abandoned'
  /** Not needed any more when it was about to be sent. Nothing was sent. */
  | 'superseded'

export type OperationKind = 'refund' | 'charge'

/** What can happen to an operation. */
export type OperationEvent =
  /** The request is about to be sent; committed before it is. */
  | 'send'
  /** It was not sent after all, and none was under this attempt. */
  | 'hold_back'
  /** It was not sent after all, but an earlier one of this attempt was. */
  | 'hold_back_repeat'
  | 'accept'
  | 'decline'
  /** Time limit, connection, 5xx, a refused key, a worker that is gone. */
  | 'lose_answer'
  /** A webhook or look-up tells of what the provider made under one of its keys. */
  | 'told_done'
  /** The same, and that it failed at the provider. */
  | 'told_failed'
  /** The provider's complete list does not hold it, after its lag was waited out. A new attempt follows. */
  | 'proved_absent'
  | 'drop'
  /** A person's words. */
  | 'say_succeeded'
  | 'say_failed'
  | 'retry'
  | 'abandon'

const AFTER_EVIDENCE = { accept: 'succeeded', told_done: 'succeeded' } as const

const NEXT: Readonly<Record<OperationState, Partial<Record<OperationEvent, OperationState>>>> = {
  planned: {
    ...AFTER_EVIDENCE,
    send: 'in_flight',
    drop: 'superseded',
    abandon: 'abandoned',
    // An earlier attempt, told of late.
    told_failed: 'planned',
  },
  in_flight: {
    ...AFTER_EVIDENCE,
    hold_back: 'planned',
    hold_back_repeat: 'unknown',
    decline: 'failed_definitive',
    lose_answer: 'unknown',
    told_failed: 'failed_definitive',
  },
  unknown: {
    ...AFTER_EVIDENCE,
    send: 'in_flight',
    decline: 'failed_definitive',
    told_failed: 'failed_definitive',
    proved_absent: 'planned',
    say_succeeded: 'succeeded',
    say_failed: 'failed_definitive',
    abandon: 'abandoned',
  },
  // What a provider shows to have happened outweighs every no, also a person's.
  failed_definitive: { ...AFTER_EVIDENCE, told_failed: 'failed_definitive', retry: 'planned' },
  abandoned: { ...AFTER_EVIDENCE, told_failed: 'failed_definitive' },
  superseded: { ...AFTER_EVIDENCE, told_failed: 'superseded', retry: 'planned' },
  succeeded: { ...AFTER_EVIDENCE, told_failed: 'succeeded' },
}

/** The state after an event; null where it cannot happen in this state. */
export function nextOperationState(state: OperationState, event: OperationEvent): OperationState | null {
  return NEXT[state][event] ?? null
}

/** The states that an event can be taken in, for conditions on a row. */
export function statesTaking(event: OperationEvent): OperationState[] {
  return (Object.keys(NEXT) as OperationState[]).filter((state) => NEXT[state][event] !== undefined)
}

/** Its outcome is not known yet: no second charge of the order, and the money stays reserved. */
export function isOpen(state: OperationState): boolean {
  return state === 'planned' || state === 'in_flight' || state === 'unknown'
}
