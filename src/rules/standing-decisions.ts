import type { Decision } from '../facts/decision.ts'
import { compareInstants, compareText } from './instant.ts'

/** Decisions that no other one takes back, oldest first; `withdraw` says nothing beyond taking one back. */
export function standingDecisions(decisions: readonly Decision[]): Decision[] {
  const superseded = new Set(decisions.map((decision) => decision.supersedes))
  return decisions
    .filter((decision) => !superseded.has(decision.id) && decision.decision !== 'withdraw')
    .sort((a, b) => compareInstants(a.at, b.at) || compareText(a.id, b.id))
}
