import type { FactOf } from './fact.ts'
import type { Subject } from './subject.ts'

/**
 * What a person decided, as a statement about facts and never as "set status to". The frame is here; each kind that
 * the rules act on is added to `DecisionKind` together with the rule that reads it.
 */
export interface Decision {
  readonly id: string
  readonly decision: DecisionKind
  readonly actor: string
  readonly reason: string
  readonly at: string
  /** Digest of the facts that the person saw. */
  readonly based_on: string
  /** The decision that this one takes back. */
  readonly supersedes?: string | undefined
}

export type DecisionKind = 'accept_mismatch' | 'write_off' | 'withdraw'

export function decision(subject: Subject, content: Decision): FactOf<'decision'> {
  return { subject, key: `decision/${content.id}`, kind: 'decision', content }
}
