import type { Fact } from '../facts/fact.ts'
import { type PolicyOptions, pinnedPolicy } from '../rules/policy.ts'
import { Statements } from './statement.ts'

/**
 * Statements about an order, its terms with the policy that holds for it: what was pinned when the order was registered
 * first, or else what the installation's options say now. So registering the same order again, after the options changed,
 * tells nothing new.
 */
export function pinPolicy(
  statements: Statements,
  stored: readonly Fact[],
  policy: PolicyOptions,
): Statements {
  const known = stored.find((fact) => fact.kind === 'order_terms')
  const pinned = new Statements()
  let changed = false
  for (const { fact, sources } of statements.all()) {
    let told = fact
    if (fact.kind === 'order_terms') {
      const holds = known ? known.content.pinned : pinnedPolicy(policy, fact.content.currency)
      if (holds !== undefined) {
        told = { ...fact, content: { ...fact.content, pinned: holds } }
        changed = true
      }
    }
    for (const source of sources) pinned.add(told, source)
  }
  return changed ? pinned : statements
}
