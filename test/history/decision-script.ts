import * as fc from 'fast-check'
import { type Decision, decision } from '../../src/facts/decision.ts'
import type { OrderOutcome } from './history.ts'
import type { Teller } from './teller.ts'

/**
 * What a person decides once all has happened. All decisions are firm: whether what they saw has changed depends on the
 * order of arrival on the way, and what they say does not.
 */
export interface DecisionScript {
  readonly says: 'keep_access' | 'keep_access_long' | 'keep_access_shortly' | 'answer'
  readonly withdrawn: boolean
}

export const decisionScript: fc.Arbitrary<DecisionScript | null> = fc.option(
  fc.record({
    says: fc.constantFrom(
      'keep_access' as const,
      'keep_access_long' as const,
      'keep_access_shortly' as const,
      'answer' as const,
      'answer' as const,
    ),
    withdrawn: fc.constantFrom(false, false, true),
  }),
  // One order in four.
  { freq: 3 },
)

/** What an order asks a person, and how it ends once they answered. */
export interface Answer {
  readonly says: Pick<Decision, 'decision' | 'payment' | 'amount_minor' | 'currency'>
  readonly end: OrderOutcome
}

/** Tells what is decided, and how the order ends. */
export function tellDecision(
  teller: Teller,
  reference: string,
  script: DecisionScript,
  ends: { readonly undecided: OrderOutcome; readonly kept: OrderOutcome; readonly answer: Answer | null },
): OrderOutcome {
  const { undecided, kept, answer } = ends
  const told = { keep_access: {}, keep_access_long: { until: '2099-01-01T00:00:00Z' } }
  const end = (): OrderOutcome => {
    const id = `dec_${reference}`
    switch (script.says) {
      case 'keep_access':
      case 'keep_access_long':
        decide(teller, reference, { id, decision: 'keep_access', ...told[script.says] })
        return kept
      case 'keep_access_shortly':
        decide(teller, reference, { id, decision: 'keep_access', until: teller.now })
        return undecided
      case 'answer':
        if (answer === null) return undecided
        decide(teller, reference, { id, ...answer.says })
        return answer.end
    }
  }
  const decided = end()
  if (!script.withdrawn || (script.says === 'answer' && answer === null)) return decided
  const supersedes = `dec_${reference}`
  decide(teller, reference, { id: `dec_${reference}_withdrawn`, decision: 'withdraw', supersedes })
  return undecided
}

function decide(
  teller: Teller,
  reference: string,
  said: Pick<Decision, 'id' | 'decision'> & Partial<Decision>,
): void {
  const by = { actor: 'ops@example.test', reason: 'seen', based_on: 'what was there', firm: true }
  teller.tell(decision({ kind: 'order', reference }, { ...by, at: teller.later(), ...said }))
}
